//! What a controller does for one object: a state machine that asks and is answered
//! (decisions/cartographer#reconcile).
//!
//! The machine has no connection and no clock. The controller carries out its requests, gives it
//! the answers, and writes what it ends with.

mod requests;

pub use requests::{
    AccountName, Answer, Call, FoundObject, Identity, ObjectName, Outcome, OwnerEvent, Platform,
    Refusal, RefusalReason, Request, RequestId, Retry, Watches,
};
