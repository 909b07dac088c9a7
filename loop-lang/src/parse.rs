//! The text form: parser.
