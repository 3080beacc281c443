//! Diagnostic codes of the expression language and its functions.

diag::codes! {
    SUBSTITUTION_EMPTY = Error "substitution-empty": "`${}` with nothing in it";
    SUBSTITUTION_UNTERMINATED = Error "substitution-unterminated": "`${` without its `}`";
    SUBSTITUTION_IN_LITERAL = Warning "substitution-in-literal": "`${` in a string literal is text";
    UNEXPECTED_TOKEN = Error "unexpected-token": "an expression that does not follow the grammar";
    UNTERMINATED_STRING = Error "unterminated-string": "a string literal without an end";
    INVALID_LITERAL = Error "invalid-literal": "`-` alone, or a number that is too large";
    ACCESSOR_CHARSET = Note "accessor-charset": "an accessor that other tools may refuse";
    INTERPOLATED_COMPLEX = Error "interpolated-complex": "a list, map or function inside text";
    NAMED_ARGUMENT_IGNORED = Warning "named-argument-ignored": "a name that has no effect on an argument";
    FUNCTION_AS_VALUE = Error "function-as-value": "a function where data is needed";
    UNKNOWN_FUNCTION = Error "unknown-function": "no such function";
    ARGUMENT_COUNT = Error "argument-count": "too few or too many arguments";
    ARGUMENT_TYPE = Error "argument-type": "an argument of the wrong kind";
    ARGUMENT_RANGE = Error "argument-range": "an argument or a result out of bounds";
    ARGUMENT_FORMAT = Error "argument-format": "a text that is not in the required form";
    MIXED_LIST = Error "mixed-list": "items of different kinds in one list";
    INCOMPARABLE = Error "incomparable": "kinds that cannot be equal";
    MISSING_ATTRIBUTE = Error "missing-attribute": "`getattr` finds nothing";
    JSON_INVALID = Error "json-invalid": "the text is not the JSON that is needed";
    JSON_POINTER_MISSING = Error "json-pointer-missing": "a JSON pointer that leads nowhere";
    JSON_POINTER_SLASH = Warning "json-pointer-slash": "a JSON pointer without its leading `/`";
    CALLBACK_TYPE = Error "callback-type": "a function that does not fit the parameter";
    CALLBACK_RESULT = Error "callback-result": "a function that gave the wrong kind of value";
    NOT_UTF8 = Error "not-utf8": "bytes that are not text";
    NO_WORKING_DIRECTORY = Error "no-working-directory": "the caller sent no working directory";
    INDEX_OUT_OF_RANGE = Error "index-out-of-range": "no item at that position";
    WRONG_ACCESSOR = Error "wrong-accessor": "an accessor that does not fit the kind of value";
    UNKNOWN_FIELD = Error "unknown-field": "a path that leads nowhere";
    ABSENT_ELEMENT = Error "absent-element": "reads something that is not there";
    SOURCE_UNREADABLE = Error "source-unreadable": "a document or file that cannot be read";
    NUMBER_OUT_OF_RANGE = Error "number-out-of-range": "a number beyond 64 bits, or not finite";
    VALUE_TOO_LARGE = Error "value-too-large": "a value larger than a value may be";
    VALUES_TOO_LARGE = Error "values-too-large": "values that take too much together";
    TYPE_MISMATCH = Error "type-mismatch": "one kind of value where another is needed";
}
