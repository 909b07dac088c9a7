//! Functions that are not made of combinators, as the graph knows them: what they are called with, and what they give.

use crate::ast::{Builder, Node, Types, Value, show_types};
use crate::error::ErrorKind;
use crate::loc::Loc;
use std::fmt;
use std::panic::RefUnwindSafe;
use std::sync::{Arc, OnceLock};

/// A function of whole arrays that is not made of combinators: it is called once for its result, with its inputs in memory.
/// (Where several threads force that at the same moment each calls it, and what came first counts.)
pub trait Function: Send + Sync + RefUnwindSafe {
    /// What it gives for these inputs, whose elements are here, as it was [declared](Gives). It may use so many threads.
    ///
    /// Errors: what is wrong with the inputs.
    fn call(&self, inputs: &[Value], threads: usize) -> Result<Value, ErrorKind>;

    /// As [`call`](Function::call), on threads that are lent to it: those of the engine that calls it.
    #[doc(hidden)]
    fn call_on(&self, inputs: &[Value], threads: &dyn Threads) -> Result<Value, ErrorKind> {
        self.call(inputs, threads.count())
    }

    /// What does the same for each of some segments, if there is anything, for closures on segments.
    fn of_segments(&self) -> Option<OfSegments> {
        None
    }

    /// Why it is no loop of ours, in a few words that follow "since": `explain()` shows it.
    fn why(&self) -> &str {
        "it is a function of whole arrays"
    }

    /// Whether it gives the same bits whenever it is called with the same ones.
    fn is_reproducible(&self) -> bool {
        true
    }
}

/// Threads that a function may use.
#[doc(hidden)]
pub trait Threads: Sync {
    /// How many, the calling one included.
    fn count(&self) -> usize;

    /// Does the work on the calling thread, and on each other one that comes before the calling one has done it; comes back when all
    /// of them have.
    fn together(&self, work: &(dyn Fn() + Sync));

    /// Whether nobody looks at the result any more.
    fn is_cancelled(&self) -> bool;
}

/// What does the same as a function for each of some segments. Before its inputs it is given the lengths of the segments; in place
/// of an array the elements of all segments, in place of a scalar one for each.
pub enum OfSegments {
    /// A function that runs apart as well.
    Apart(Arc<dyn Function>),
    /// A combinator, of lengths and of the input that is as long.
    Fused(fn(Builder, &Arc<Node>, &Arc<Node>) -> Arc<Node>),
}

/// What a function gives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gives {
    /// The types of an element's fields.
    pub types: Types,
    /// Rank: an array (1) or a delayed scalar (0).
    pub rank: u8,
    /// The input that is as long, if one is for sure.
    pub like: Option<usize>,
}

/// A call of such a function. Its result is a node without inputs, which has its value once it was called.
pub struct External {
    /// What the user called.
    pub name: &'static str,
    /// Where.
    pub loc: Loc,
    /// What it is called with.
    pub inputs: Vec<Arc<Node>>,
    /// What it gives.
    pub gives: Gives,
    /// The function.
    pub function: Arc<dyn Function>,
    /// A number that tells what was there before a step was traced.
    pub(crate) number: u64,
    /// What it gave.
    pub(crate) ended: OnceLock<Vec<Value>>,
}

impl External {
    /// What is wrong with what a call gave, if anything is.
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

/// The rank of a value, the types of its fields, and their lengths.
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
