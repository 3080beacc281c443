//! The provider `http`.
