//! State in one SQLite file.
