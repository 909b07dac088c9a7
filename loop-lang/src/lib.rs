//! The Loop language: fused clusters of array combinators before machine code.
//!
//! A [`Loop`] is a set of labelled basic blocks with a rate tree. The crate depends on no array
//! API: loops can be built by hand, or parsed from their text form.
//!
//! | module | contents |
//! | --- | --- |
//! | [`types`], [`op`], [`eval`] | scalar types, operators and their semantics |
//! | [`math`] | transcendental functions |
//! | [`ir`], [`entity`], [`alias_map`] | data types |
//! | [`gotos`] | control flow from the rate tree |
//! | [`print`](mod@print), [`parse`] | text form |
//! | [`verify`](mod@verify) | well-formedness |
//! | [`dominators`] | dominators of blocks |
//! | [`liveness`], [`levels`], [`state`] | live variables at guards, and the layout of a paused loop |
//! | [`steps`] | the rates at which each phase updates each group |
//! | [`chunkable`](mod@chunkable) | loops that run in chunks out of order |
//! | [`filled`](mod@filled) | arrays that a loop writes completely |
//! | [`passes`] | optimisations, and the summary form |

pub mod alias_map;
pub mod chunkable;
pub mod dominators;
pub mod entity;
pub mod eval;
pub mod filled;
pub mod gotos;
pub mod ir;
pub mod levels;
mod literal;
pub mod liveness;
pub mod math;
pub mod op;
#[cfg(feature = "text")]
pub mod parse;
pub mod passes;
pub mod print;
pub mod state;
pub mod steps;
pub mod types;
pub mod verify;
pub mod walk;
mod words;

pub use ir::Loop;
pub use op::Op;
pub use types::{Const, Ty};
