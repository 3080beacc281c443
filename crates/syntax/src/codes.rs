//! Diagnostic codes for errors of the text itself.

diag::codes! {
    INVALID_SYNTAX = Error "invalid-syntax": "the text is not well-formed YAML or JSON";
    JSON_EXTRA_SYNTAX = Warning "json-extra-syntax": "a comment or a trailing comma in a `.json` file";
    MULTIPLE_DOCUMENTS = Error "multiple-documents": "a second YAML document in one file";
    DOCUMENT_TOO_LARGE = Error "document-too-large": "more text or more nodes than a document may have";
    SPLIT_SUBSTITUTION = Error "split-substitution": "YAML cuts a plain scalar inside `${`";
}
