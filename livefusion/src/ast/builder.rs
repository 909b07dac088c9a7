//! The untyped, checked builder.
/// Builds nodes.
pub struct Builder;
