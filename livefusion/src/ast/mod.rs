//! The shared AST: nodes, scalar bodies, and the untyped, checked builder.
//!
//! A front end with run-time types builds programs with this module alone. Each combinator is a
//! method of [`Builder`], which carries the combinator's name and call site. Most methods take the
//! same arguments as the typed ones. A closure on scalars is a [`Body`]; [`trace`] makes one from a
//! closure on [`Field`]s. [`force_nodes`](crate::runtime::force_nodes) computes results.
//!
//! ```
//! use livefusion::ast::{Builder, Const, Field, Fields, Len, Op, Ty, Value, trace};
//! use livefusion::runtime::force_nodes;
//! use livefusion::{Engine, Loc};
//! // `iota 4 | map x -> x * x | sum`
//! let at = |column| Loc::in_text("squares.txt", 1, column);
//! let numbers = Builder::at("iota", at(1)).iota(Len::Known(4));
//! let square = trace(&[Ty::U64], |x| Fields::from_elem(Field::op(Op::Mul, &[x[0], x[0]], at(22)), 1));
//! let squares = Builder::at("map", at(10)).map(&[numbers.clone()], square);
//! let total = Builder::at("sum", at(28)).sum(&squares);
//! let values = force_nodes(Engine::default_engine(), &[total])?;
//! assert!(matches!(&values[0], Value::Scalar(fields) if fields[..] == [Const::u64(14)]));
//! // `iota 4 | map x -> x < 2.5`: a mistake has a place, too.
//! let half = Field::literal(Const::f64(2.5));
//! let small = trace(&[Ty::U64], |x| Fields::from_elem(Field::op(Op::Lt, &[x[0], half], at(22)), 1));
//! let small = Builder::at("map", at(10)).map(&[numbers], small);
//! let error = force_nodes(Engine::default_engine(), &[small]).unwrap_err();
//! let expected = "`map` at squares.txt:1:22: expected operands that `lt` takes, got (u64, f64)";
//! assert_eq!(error.to_string(), expected);
//! # Ok::<(), livefusion::Error>(())
//! ```

mod apart;
mod array_loop;
mod body;
pub(crate) mod body_cache;
mod builder;
mod check;
mod counted;
mod draft;
mod external;
mod facts;
mod first;
mod nests;
mod node;
mod own_index;
mod plain;
mod red_flat;
mod rewrite;
mod roles;
mod shape;
mod simplify;
mod term;
mod turned;

pub(crate) use apart::next_number;
pub(crate) use body::show_types;
pub(crate) use body_cache::{OperandTerm, literal, operator};
pub(crate) use check::fits;
pub(crate) use draft::show_node;
pub(crate) use first::{from_first, zeros};
pub(crate) use nests::levels;
pub(crate) use own_index::is_length;
pub(crate) use plain::{Side, identities, is_exact, kept_side, plain};
pub(crate) use turned::{reversed, turned};

pub use apart::{After, ExternalPart};
pub use array_loop::{ArrayLoop, Ends};
pub use body::BodyBuilder;
pub use builder::{Builder, identity};
pub use external::{External, Function, Gives, OfSegments, Threads};
pub use facts::{AsLong, BySegments, Consumes, Effort, Facts, Makes, OnSide, Sequence};
pub use node::{
    Custom, ElementRows, Fold, FoldStyle, Input, Inputs, Kind, Late, Len, MERGE_CHECK, Node,
    Places, RowLevel, ScanKind, Sorted, StreamPart,
};
pub use rewrite::Rewrite;
pub use roles::BodyRole;
pub use shape::{Axis, Shape, flat_index};
pub use simplify::simplify;
use simplify::view;
pub use term::{Args, Assert, Body, Capture, Parts, ScalarLoop, Term, TermData, TermId, Types};
pub(crate) use term::{divides_all, may_trap};
pub use turned::Move;

/// Traces closures on scalars: expressions whose types are known at run time only.
pub use crate::exp::trace::{Field, Fields, trace};
/// Types and constants of scalars.
pub use loop_lang::{Const, Ty};

/// Names an operator of scalars.
///
/// It is an alias, since compiler messages would otherwise distinguish [`Exp`](crate::Exp) by its
/// variant.
pub type Op = loop_lang::Op;

pub use livefusion_backend::Buffer;
use smallvec::SmallVec;
use std::sync::Arc;

/// Holds the results of a program.
pub type Values = SmallVec<[Value; 2]>;

/// Holds a computed result.
#[derive(Debug, Clone)]
pub enum Value {
    /// A delayed scalar's fields.
    Scalar(SmallVec<[Const; 2]>),
    /// An array's fields, one buffer each, all of one length.
    Array(Vec<Arc<Buffer>>),
}
