//! The machine that code is made for, as a value.
