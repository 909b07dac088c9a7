//! The one implementation of each transcendental function.
