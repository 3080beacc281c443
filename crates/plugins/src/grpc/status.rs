//! The status of a call that a plugin answered with an error, and the details of the status.

use std::fmt;

use prost::{DecodeError, Message};

/// The code of a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names of gRPC's own table")]
pub enum GrpcCode {
    Ok,
    Cancelled,
    Unknown,
    InvalidArgument,
    DeadlineExceeded,
    NotFound,
    AlreadyExists,
    PermissionDenied,
    ResourceExhausted,
    FailedPrecondition,
    Aborted,
    OutOfRange,
    Unimplemented,
    Internal,
    Unavailable,
    DataLoss,
    Unauthenticated,
}

impl From<tonic::Code> for GrpcCode {
    fn from(code: tonic::Code) -> GrpcCode {
        match code {
            tonic::Code::Ok => GrpcCode::Ok,
            tonic::Code::Cancelled => GrpcCode::Cancelled,
            tonic::Code::Unknown => GrpcCode::Unknown,
            tonic::Code::InvalidArgument => GrpcCode::InvalidArgument,
            tonic::Code::DeadlineExceeded => GrpcCode::DeadlineExceeded,
            tonic::Code::NotFound => GrpcCode::NotFound,
            tonic::Code::AlreadyExists => GrpcCode::AlreadyExists,
            tonic::Code::PermissionDenied => GrpcCode::PermissionDenied,
            tonic::Code::ResourceExhausted => GrpcCode::ResourceExhausted,
            tonic::Code::FailedPrecondition => GrpcCode::FailedPrecondition,
            tonic::Code::Aborted => GrpcCode::Aborted,
            tonic::Code::OutOfRange => GrpcCode::OutOfRange,
            tonic::Code::Unimplemented => GrpcCode::Unimplemented,
            tonic::Code::Internal => GrpcCode::Internal,
            tonic::Code::Unavailable => GrpcCode::Unavailable,
            tonic::Code::DataLoss => GrpcCode::DataLoss,
            tonic::Code::Unauthenticated => GrpcCode::Unauthenticated,
        }
    }
}

/// An error that a plugin answered. Its message and details come from the plugin: they may repeat
/// secrets.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct GrpcStatus {
    /// The code.
    pub code: GrpcCode,
    /// The message for people.
    pub message: String,
    /// An encoded message `google.rpc.Status`. Empty if there is none. [`GrpcStatus::details`]
    /// decodes it.
    pub raw_details: Vec<u8>,
}

/// Prints no details, because they have no readable form.
impl fmt::Debug for GrpcStatus {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            to,
            "{:?}: {} ({} bytes of details)",
            self.code,
            self.message,
            self.raw_details.len()
        )
    }
}

impl GrpcStatus {
    pub(crate) fn of(status: &tonic::Status) -> GrpcStatus {
        GrpcStatus {
            code: status.code().into(),
            message: status.message().to_owned(),
            raw_details: status.details().to_vec(),
        }
    }

    /// The details: messages with the names of their types. Empty if there are none.
    ///
    /// # Errors
    /// If the bytes are not a `google.rpc.Status`.
    pub fn details(&self) -> Result<Vec<Any>, DecodeError> {
        Ok(RichStatus::decode(self.raw_details.as_slice())?.details)
    }

    /// The first detail of a type, for example `pulumirpc.ErrorResourceInitFailed`. `None` if there
    /// is none, or if it cannot be decoded.
    pub fn detail<M: Message + Default>(&self, type_name: &str) -> Option<M> {
        let details = self.details().ok()?;
        let detail = details
            .iter()
            .find(|detail| detail.type_name() == type_name)?;
        M::decode(detail.value.as_slice()).ok()
    }
}

/// The message `google.rpc.Status`.
#[derive(Clone, PartialEq, prost::Message)]
struct RichStatus {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
    #[prost(message, repeated, tag = "3")]
    details: Vec<Any>,
}

/// The message `google.protobuf.Any`: an encoded message with the name of its type.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct Any {
    /// A URL that ends in a slash and the name of the type.
    #[prost(string, tag = "1")]
    pub type_url: String,
    /// The encoded message.
    #[prost(bytes = "vec", tag = "2")]
    pub value: Vec<u8>,
}

impl Any {
    /// The full name of the type: `google.rpc.BadRequest`.
    pub fn type_name(&self) -> &str {
        self.type_url.rsplit('/').next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(raw_details: Vec<u8>) -> GrpcStatus {
        GrpcStatus {
            code: GrpcCode::Unknown,
            message: "m".into(),
            raw_details,
        }
    }

    #[test]
    fn details_are_found_by_the_name_of_their_type() {
        let inner = Any {
            type_url: "x".into(),
            value: vec![1, 2],
        };
        let detail = |name: &str, value: Vec<u8>| Any {
            type_url: format!("type.googleapis.com/{name}"),
            value,
        };
        let details = vec![
            detail("a.B", Vec::new()),
            detail("c.D", inner.encode_to_vec()),
        ];
        let rich = RichStatus {
            code: 2,
            message: "m".into(),
            details,
        };
        let status = status(rich.encode_to_vec());
        assert_eq!(status.detail::<Any>("c.D"), Some(inner));
        assert_eq!(status.detail::<Any>("c.E"), None);
    }

    #[test]
    fn damaged_details_are_an_error_and_no_panic() {
        assert!(status(vec![0xff; 7]).details().is_err());
        assert_eq!(status(vec![0xff; 7]).detail::<Any>("c.D"), None);
        assert_eq!(status(Vec::new()).details(), Ok(Vec::new()));
    }
}
