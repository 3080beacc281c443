//! What every provider must do.
