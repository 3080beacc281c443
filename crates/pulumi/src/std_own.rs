//! Functions of the package `std` that the provider `std` does not have, because the native language
//! has them under the same name or because they have no result.

use blueprint::Value;
use data_encoding::HEXLOWER;
use expr::Refusal;
use expr::codes::ARGUMENT_RANGE;
use md5::{Digest as _, Md5};
use sha1::Sha1;

/// The MD5 digest of a text.
pub(crate) fn md5(arguments: &[Value]) -> Result<Value, Refusal> {
    let text = arguments
        .first()
        .and_then(Value::as_text)
        .unwrap_or_default();
    Ok(HEXLOWER.encode(&Md5::digest(text)).into())
}

/// The SHA-1 digest of a text.
pub(crate) fn sha1(arguments: &[Value]) -> Result<Value, Refusal> {
    let text = arguments
        .first()
        .and_then(Value::as_text)
        .unwrap_or_default();
    Ok(HEXLOWER.encode(&Sha1::digest(text)).into())
}

/// Refuses: the package declares no keys to match, so there is no result.
pub(crate) fn match_keys(_arguments: &[Value]) -> Result<Value, Refusal> {
    Err(Refusal {
        code: &ARGUMENT_RANGE,
        message: "`matchkeys` of this package has no keys to match, so it has no result".into(),
        path: Vec::new(),
        inside: None,
        help: Some("use `std:zipmap` and `std:lookup`".into()),
        words: None,
    })
}
