//! The Loop language: what a fused cluster of array combinators becomes before it is machine code.
//!
//! A [`Loop`] is a set of labelled basic blocks with a rate tree beside them. The crate knows
//! no array API: loops can be built by hand, or parsed from their text form.
//!
//! | module | room for |
//! | --- | --- |
//! | [`types`], [`op`], [`eval`] | scalar types, operators, what they compute |
//! | [`math`] | the transcendental functions |
//! | [`ir`], [`entity`], [`alias_map`] | the data |
//! | [`gotos`] | control flow from the rate tree |
//! | [`print`](mod@print), [`parse`] | the text form |
//! | [`verify`](mod@verify) | what makes a loop well formed |
//! | [`dominators`] | which blocks lie on every path to a block |
//! | [`liveness`], [`levels`], [`state`] | what is live at a guard, and how a paused loop is laid out |
//! | [`steps`] | where each phase updates each group |
//! | [`chunkable`](mod@chunkable) | which loops run in chunks out of order |
//! | [`filled`](mod@filled) | which arrays a loop writes from end to end |
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
