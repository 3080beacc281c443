//! Diagnostic codes of sessions, and the codes of the phases that sessions and front ends also
//! report.

pub use ::plan::codes::{
    IMPORT_FAILED, INPUT_CHANGED, PLAN_STALE, PRECONDITION_FAILED, PROTECTED, RESTRICTED_ACTION,
    ROLLBACK_INCOMPLETE, UNKNOWN_ADDRESS,
};
pub use dialect::codes::{
    MISSING_VARIABLE, NAME_COLLISION, UNDECLARED_VARIABLE, UNSUPPORTED_FEATURE,
};
pub use evaluate::codes::NO_PROVIDER;
pub use run::codes::SECRETS_NEED_KEY;

diag::codes! {
    UNKNOWN_INSTANCE = Error "unknown-instance": "no such instance";
    INSTANCE_DOCUMENT_DIFFERS = Error "instance-document-differs": "the name belongs to another document";
    EMPTY_INPUT_FILE = Warning "empty-input-file": "a file of inputs sets nothing";
    INVALID_DEPLOYMENT = Error "invalid-deployment": "a deployment of Pulumi breaks its own rules";
    NOT_RENDERED = Error "not-rendered": "an object cannot be written as a manifest";
    DOCUMENT_MOVED = Error "document-moved": "the document of an instance is gone";
}
