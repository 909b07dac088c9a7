//! External functions in the graph: functions that do not consist of combinators.

use crate::ast::{Builder, Node, Types, Value, show_types};
use crate::error::ErrorKind;
use crate::loc::Loc;
use std::fmt;
use std::panic::RefUnwindSafe;
use std::sync::{Arc, OnceLock};

/// Computes a result from whole arrays in memory, outside the fused loops.
///
/// It is called once per result. If several threads force the result at the same moment, each calls
/// it and the first result counts.
pub trait Function: Send + Sync + RefUnwindSafe {
    /// Computes the result for these inputs.
    ///
    /// The inputs are in memory, and the result must be as [declared](Gives). It may use `threads`
    /// threads.
    ///
    /// Errors: a description of the fault in the inputs.
    fn call(&self, inputs: &[Value], threads: usize) -> Result<Value, ErrorKind>;

    /// Computes as [`call`](Function::call), on threads lent by the calling engine.
    #[doc(hidden)]
    fn call_on(&self, inputs: &[Value], threads: &dyn Threads) -> Result<Value, ErrorKind> {
        self.call(inputs, threads.count())
    }

    /// Returns the segmented version, for closures on segments.
    ///
    /// None if there is no such version.
    fn of_segments(&self) -> Option<OfSegments> {
        None
    }

    /// Explains in a few words why it is not fused.
    ///
    /// The words follow "since" in `explain()`.
    fn why(&self) -> &str {
        "it is a function of whole arrays"
    }

    /// Returns whether equal inputs always give equal bits.
    fn is_reproducible(&self) -> bool {
        true
    }
}

/// Provides threads that a function may use.
#[doc(hidden)]
pub trait Threads: Sync {
    /// Returns the number of threads, including the calling one.
    fn count(&self) -> usize;

    /// Runs the work on the calling thread and on helpers.
    ///
    /// A helper joins in if it arrives before the calling thread finishes. Returns when all of them
    /// have finished.
    fn together(&self, work: &(dyn Fn() + Sync));

    /// Returns whether the result is no longer wanted.
    fn is_cancelled(&self) -> bool;
}

/// Describes the segmented version of a function.
///
/// It takes the segment lengths before its inputs. An array input becomes the elements of all
/// segments; a scalar input becomes one scalar per segment.
pub enum OfSegments {
    /// Another external function.
    Apart(Arc<dyn Function>),
    /// A combinator of the lengths and of the input with the result's length.
    Fused(fn(Builder, &Arc<Node>, &Arc<Node>) -> Arc<Node>),
}

/// Describes the result of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gives {
    /// The types of an element's fields.
    pub types: Types,
    /// Rank: an array (1) or a delayed scalar (0).
    pub rank: u8,
    /// The input that always has the result's length, if there is one.
    pub like: Option<usize>,
}

/// Describes a call of an external function.
///
/// Its result is a node without inputs, which has a value after the call.
pub struct External {
    /// The function's name in the user's program.
    pub name: &'static str,
    /// The call site.
    pub loc: Loc,
    /// The arguments.
    pub inputs: Vec<Arc<Node>>,
    /// The declared result.
    pub gives: Gives,
    /// The function.
    pub function: Arc<dyn Function>,
    /// A sequence number that identifies the nodes that existed before a step was traced.
    pub(crate) number: u64,
    /// The result of the call.
    pub(crate) ended: OnceLock<Vec<Value>>,
}

impl External {
    /// The mismatch between a call's result and its declaration, if any.
    pub(crate) fn unfit(&self, inputs: &[Value], got: &Value) -> Option<ErrorKind> {
        let (rank, types, lengths) = parts(got);
        let Gives {
            types: wanted,
            rank: of,
            like,
        } = &self.gives;
        if rank != *of || types != *wanted {
            let show = |types: &Types, rank| format!("{} of rank {rank}", show_types(types));
            return Some(ErrorKind::Malformed {
                expected: show(wanted, *of),
                got: show(&types, rank),
            });
        }
        let like = like.and_then(|k| parts(inputs.get(k)?).2.first().copied());
        let expected = like.or(lengths.first().copied())?;
        let got = *lengths.iter().find(|got| **got != expected)?;
        Some(ErrorKind::LengthMismatch { expected, got })
    }
}

/// The rank of a value, and the types and lengths of its fields.
fn parts(value: &Value) -> (u8, Types, Vec<u64>) {
    match value {
        Value::Scalar(fields) => (0, fields.iter().map(|c| c.ty).collect(), Vec::new()),
        Value::Array(fields) => (
            1,
            fields.iter().map(|b| b.ty()).collect(),
            fields.iter().map(|b| b.len() as u64).collect(),
        ),
    }
}

impl fmt::Debug for External {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.name, self.loc)
    }
}
