//! Diagnostics that only templates of Heat cause.

diag::codes! {
    AMBIGUOUS_VERSION = Error "ambiguous-version": "two keys say the version of the template";
    UNKNOWN_SECTION = Error "unknown-section": "the document has no such section";
    YAML_KEYWORD_NAME = Warning "yaml-keyword-name": "YAML 1.1 reads a name as something else";
    REMOVED_FUNCTION = Error "removed-function": "the version no longer has the function";
    FUNCTION_NOT_HERE = Error "function-not-here": "the function cannot be called in this place";
    MISSPELT_FUNCTION = Warning "misspelt-function": "a key resembles the name of a function, and is data";
    GET_ATTR_TEXT = Warning "get-attr-text": "text where `get_attr` takes a list";
    UNKNOWN_CONDITION = Error "unknown-condition": "no such condition";
    CONDITION_CYCLE = Error "condition-cycle": "conditions depend on each other";
    GROUPED_TWICE = Error "grouped-twice": "a parameter stands in two groups";
    YAQL_LEXICAL = Error "yaql-lexical": "a character that begins nothing in yaql";
    YAQL_SYNTAX = Error "yaql-syntax": "a yaql expression that does not follow the grammar";
    YAQL_UNKNOWN_FUNCTION = Error "yaql-unknown-function": "yaql has no such function";
    YAQL_NO_MATCH = Error "yaql-no-match": "a yaql function does not take these arguments";
    YAQL_LIMIT = Error "yaql-limit": "a yaql expression goes beyond its limits";
    YAQL_FAILED = Error "yaql-failed": "a yaql expression gives no value";
    NOT_IMPLEMENTED = Warning "not-implemented": "a property that does nothing";
    DEPRECATED = Warning "deprecated": "a property or type that should not be used any more";
    FACADE_MISMATCH = Error "facade-mismatch": "a template does not fit the type that it stands for";
    TOO_LARGE = Warning "too-large": "more text than Heat takes";
}
