//! The diagnostics about the shape of a document.

diag::codes! {
    WRONG_SHAPE = Error "wrong-shape": "a list, map or scalar stands where another is needed";
    UNKNOWN_KEY = Error "unknown-key": "the section has no such key";
    DUPLICATE_KEY = Error "duplicate-key": "a key is written twice";
    MISSING_FIELD = Error "missing-field": "a required key is absent or empty";
    NULL_IGNORED = Warning "null-ignored": "null is taken as not written";
    UNSUPPORTED_YAML = Error "unsupported-yaml": "an anchor, alias, merge key or tag";
    LEADING_ZERO = Warning "leading-zero": "an integer would lose its leading zeros";
    SUBSTITUTION_IN_KEY = Error "substitution-in-key": "`${` in a mapping key";
    MISSING_VERSION = Error "missing-version": "the document does not say its version";
    UNSUPPORTED_VERSION = Error "unsupported-version": "the document says a version that is not known";
    NEWER_THAN_VERSION = Note "newer-than-version": "a feature of a later version than the document says";
    NOTHING_DECLARED = Error "nothing-declared": "the document declares neither a resource nor an include";
    INVALID_NAME = Error "invalid-name": "a name has characters that names may not have";
    NAME_NEEDS_BRACKETS = Warning "name-needs-brackets": "a name that can only be reached with brackets";
    RESERVED_NAME = Warning "reserved-name": "a resource is named like a keyword";
    SUBSTITUTION_NOT_ALLOWED = Error "substitution-not-allowed": "this position takes no substitution";
    STATE_ALIAS = Warning "state-alias": "`.state` is read as `.spec`";
    UNKNOWN_TYPE = Error "unknown-type": "there is no such value type";
    ALLOWED_VALUES_ON_BOOLEAN = Error "allowed-values-on-boolean": "a list of allowed values for a boolean";
    UNPARSABLE_VALUE = Error "unparsable-value": "a text does not parse as the declared type";
    VALUE_NOT_ALLOWED = Error "value-not-allowed": "a value is not among the allowed ones";
    INVALID_CONDITION = Error "invalid-condition": "a condition is malformed";
    CONDITION_CONSTANT = Warning "condition-constant": "a condition is a literal";
    LABEL_NOT_STRING = Error "label-not-string": "a label or selector value is not text";
    UNKNOWN_ANNOTATION = Warning "unknown-annotation": "an annotation without effect";
    INVALID_ANNOTATION = Error "invalid-annotation": "an annotation has the wrong kind or value, or is missing";
    UNKNOWN_OPERATOR = Error "unknown-operator": "there is no such filter operator";
    MISSING_VARIABLE = Error "missing-variable": "required input not given";
    UNDECLARED_VARIABLE = Error "undeclared-variable": "undeclared input";
    NAME_COLLISION = Error "name-collision": "produced name already taken";
    UNKNOWN_VARIABLE = Error "unknown-variable": "no such variable";
    UNKNOWN_RESOURCE = Error "unknown-resource": "no such resource";
    UNKNOWN_SPEC_FIELD = Error "unknown-spec-field": "the key is not in the type's schema";
    MISSING_SPEC_FIELD = Error "missing-spec-field": "a required field is absent";
    VALUE_CONSTRAINT = Error "value-constraint": "a value outside its limits, or not of its pattern";
    SELF_REFERENCE = Error "self-reference": "an element needs itself";
    CYCLE = Error "cycle": "elements need each other";
    UNKNOWN_RESOURCE_TYPE = Error "unknown-resource-type": "the provider has no such type of resource";
    EACH_NOT_STATIC = Error "each-not-static": "the list of `each` is not known before the deployment";
    IMMUTABLE_CHANGED = Error "immutable-changed": "something that may not change would get another value";
    INVALID_DELETION_POLICY = Error "invalid-deletion-policy": "no such deletion policy, or not for this type";
    SECRET_EXPOSED = Error "secret-exposed": "a secret stands where it would show";
    UNSUPPORTED_FEATURE = Error "unsupported-feature": "needs a part of cyan that is not built yet";
}
