//! Secrets are planted wherever a secret may stand, the binary does everything it can do with them, and everything that
//! it leaves behind is searched: what it says, its plans, its database with the log beside it, its temporary files.
//!
//! Not searched is what a document asks for: a file that is to hold the secret, the thing itself.

#![allow(clippy::unwrap_used, reason = "what fails here fails a test")]

mod everywhere;
mod examples;
mod hunt;
#[path = "../binary/machine.rs"]
mod machine;
#[path = "../binary/place.rs"]
mod place;
mod positions;
mod ways;
