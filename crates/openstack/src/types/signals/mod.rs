//! Signals from guests: handles, to whose URLs guests write, and conditions, which wait for signals.
//!
//! A handle is an object of Swift with old versions, in a container of its own, and a temporary URL
//! for it: each write is a signal. A condition polls the object. Nothing listens, so a run that was
//! killed goes on where it was.
//!
//! `signal_object.rs` has the object, `received.rs` the meaning of signals, `handle.rs` and
//! `condition.rs` the types, `transport.rs` the ways of signals.

mod condition;
mod handle;
mod received;
mod signal_object;
mod transport;

use crate::managed::Handler;

pub(super) use self::signal_object::SignalObject;
pub(super) use self::transport::{NO_SIGNAL, TEMP_URL_SIGNAL, check_transport, need_object_store};

/// The types.
pub(super) static TYPES: &[&dyn Handler] = &[
    &handle::HEAT,
    &handle::HEAT_UPDATE,
    &handle::CLOUD_FORMATION,
    &handle::SWIFT,
    &condition::HEAT,
    &condition::CLOUD_FORMATION,
    &condition::SWIFT,
];
