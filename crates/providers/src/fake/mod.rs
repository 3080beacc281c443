//! The provider `fake`.
