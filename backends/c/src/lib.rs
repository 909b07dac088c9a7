//! The C backend.
