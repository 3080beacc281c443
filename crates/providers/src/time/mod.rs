//! The provider `time`.
