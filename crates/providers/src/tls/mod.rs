//! The provider `tls`.
