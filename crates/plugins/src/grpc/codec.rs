//! A codec of `tonic` for messages of `prost`.

use std::marker::PhantomData;

use prost::bytes::Buf as _;
use prost::{DecodeError, Message};
use tonic::Status;
use tonic::codec::{BufferSettings, Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

/// The initial size of the buffers of a call in bytes, and the step of their growth. Most messages
/// are small.
const BUFFER: usize = 8 * 1024;
/// The number of encoded bytes after which they are sent on.
const PASSED_ON: usize = 64 * 1024;

/// Encodes `Q` and decodes `R`. An answer that cannot be decoded is an error value, not a status,
/// which distinguishes it from an error of the plugin.
pub(crate) struct Messages<Q, R>(PhantomData<(Q, R)>);

impl<Q, R> Messages<Q, R> {
    pub(crate) fn new() -> Messages<Q, R> {
        Messages(PhantomData)
    }
}

impl<Q: Message + 'static, R: Message + Default + 'static> Codec for Messages<Q, R> {
    type Encode = Q;
    type Decode = Result<R, DecodeError>;
    type Encoder = Encode<Q>;
    type Decoder = Decode<R>;

    fn encoder(&mut self) -> Encode<Q> {
        Encode(PhantomData)
    }

    fn decoder(&mut self) -> Decode<R> {
        Decode(PhantomData)
    }
}

pub(crate) struct Encode<Q>(PhantomData<Q>);

impl<Q: Message> Encoder for Encode<Q> {
    type Item = Q;
    type Error = Status;

    fn encode(&mut self, message: Q, to: &mut EncodeBuf<'_>) -> Result<(), Status> {
        message
            .encode(to)
            .map_err(|error| Status::internal(error.to_string()))
    }

    fn buffer_settings(&self) -> BufferSettings {
        BufferSettings::new(BUFFER, PASSED_ON)
    }
}

pub(crate) struct Decode<R>(PhantomData<R>);

impl<R: Message + Default> Decoder for Decode<R> {
    type Item = Result<R, DecodeError>;
    type Error = Status;

    fn decode(
        &mut self,
        from: &mut DecodeBuf<'_>,
    ) -> Result<Option<Result<R, DecodeError>>, Status> {
        let decoded = R::decode(&mut *from);
        // What is left of a message that cannot be decoded is not the head of another one.
        from.advance(from.remaining());
        Ok(Some(decoded))
    }

    fn buffer_settings(&self) -> BufferSettings {
        BufferSettings::new(BUFFER, PASSED_ON)
    }
}
