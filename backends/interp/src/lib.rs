//! The interpreter backend.
