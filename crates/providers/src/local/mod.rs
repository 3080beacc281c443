//! The provider `local`.
