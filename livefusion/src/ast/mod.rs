//! The shared AST: nodes, scalar bodies, and the untyped, checked builder under the typed API.

mod array_loop;
mod body;
mod builder;
mod check;
mod draft;
mod first;
pub(crate) mod lately;
mod node;
mod plain;
mod red_flat;
mod rewrite;
mod shape;
mod simplify;
mod term;

pub(crate) use body::show_types;
pub(crate) use check::fits;
pub(crate) use draft::show_node;
pub(crate) use first::{from_first, zeros};
pub(crate) use plain::{identities, plain};

pub use array_loop::{After, ArrayLoop, Ends};
pub use body::BodyBuilder;
pub use builder::{Builder, identity};
pub use node::{
    Custom, Fold, FoldStyle, Input, Inputs, Kind, Len, MERGE_CHECK, Node, Places, ScanKind,
};
pub use rewrite::Rewrite;
pub use shape::{Axis, Shape, flat_index};
pub use simplify::simplify;
pub use term::{
    Args, Body, Capture, Ensure, Parts, ScalarLoop, Term, TermData, TermId, Types, may_trap,
};

/// What closures on scalars are traced with: expressions whose types are known at run time only.
pub use crate::exp::trace::{Field, Fields, trace};
/// Operators, types and constants of scalars.
pub use loop_lang::{Const, Op, Ty};

pub use livefusion_backend::Buffer;
use smallvec::SmallVec;
use std::sync::Arc;

/// Results of a program.
pub type Values = SmallVec<[Value; 2]>;

/// A computed result.
#[derive(Debug, Clone)]
pub enum Value {
    /// A delayed scalar's fields.
    Scalar(SmallVec<[Const; 2]>),
    /// An array's fields, one buffer each, all of one length.
    Array(Vec<Arc<Buffer>>),
}
