//! Diagnostics that only programs of Pulumi YAML cause.

diag::codes! {
    UNKNOWN_NAME = Error "unknown-name": "no configuration, variable or resource has the name";
    ACCESS_SYNTAX = Error "access-syntax": "what is between `${` and `}` is no property access";
    KEY_CASING = Warning "key-casing": "a key is written with other capital letters than its name";
    KEY_NOT_TEXT = Error "key-not-text": "the key of a map is not text";
    MISPLACED_OPTION = Warning "misplaced-option": "an option stands beside `options`";
    DEPRECATED_SECTION = Warning "deprecated-section": "a section has a new name";
    DEPRECATED_FUNCTION = Warning "deprecated-function": "a function has a successor";
    FUNCTION_AS_DATA = Warning "function-as-data": "a map that looks like a call is data";
    PACKAGE_UNAVAILABLE = Error "package-unavailable": "the plugin of a package cannot be used";
    INVALID_TOKEN = Error "invalid-token": "the type or function token has no package";
    INVALID_VERSION = Error "invalid-version": "a text is no version of a plugin";
    LOCKED_VALUE = Error "locked-value": "an encrypted value of a stack cannot be decrypted";
    REQUIRED_VERSION = Error "required-version": "the program needs another version of Pulumi";
    PROVIDER_CONFLICT = Error "default-provider-conflict": "an option contradicts a default provider";
    NOT_A_RESOURCE = Error "not-a-resource": "an option needs a resource";
}
