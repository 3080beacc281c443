//! The provider `random`.
