//! Diagnostics that only objects of Cartographer cause.

diag::codes! {
    UNKNOWN_KIND = Error "unknown-carto-kind": "a kind that Cartographer does not have";
    CHAIN_SELECTOR = Error "chain-selector": "a selector of a chain or of an option is not valid";
    FIELD_REQUIREMENT = Error "field-requirement": "a requirement on a field of an owner is not valid";
    CHAIN_PARAM = Error "chain-param": "a param of a chain has not exactly one of `value` and `default`";
    CHAIN_RESOURCE = Error "chain-resource": "a resource of a chain or one of its inputs is not valid";
    TEMPLATE_OPTIONS = Error "template-options": "the options of a resource are not valid";
    TEMPLATE_CONTENT = Error "template-content": "a template does not say what to stamp";
    TEMPLATE_RULES = Error "template-rules": "a rule of a template about its objects is not valid";
    CHAIN_LINT = Warning "chain-lint": "the original controller does something else here";
    NO_CHAIN = Error "no-chain": "no chain matches an owner";
    SEVERAL_CHAINS = Error "several-chains": "several chains match an owner equally well";
    NO_OPTION = Error "no-option": "not exactly one option of a resource matches an owner";
    UNKNOWN_TEMPLATE = Error "unknown-template": "a chain names a template that is not there";
    STAMP_FAILED = Error "stamp-failed": "a template cannot be stamped for an owner";
    TEMPLATE_PATH = Error "template-path": "a path or a tag of a template leads nowhere";
    CHAIN_HINT = Warning "chain-hint": "a name that nothing in the document declares";
    UNUSED_PART = Note "unused-part": "a template or a param that nothing in the document uses";
    RUNNABLE_NOT_RUN = Warning "runnable-not-run": "a runnable is not run";
}
