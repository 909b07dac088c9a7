//! The text form: printer.
