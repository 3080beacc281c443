//! The provider `std`.
