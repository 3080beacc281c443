//! State in the process alone.
