//! Computations outside the fused loops: loops over arrays and external functions.
//!
//! Their results are in memory before their consumers are planned, so plans do not contain them.

use crate::ast::{ArrayLoop, External, Node};
use crate::loc::Loc;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::Value;

/// Tells whether a node waits for a computation outside the fused loops.
#[derive(Clone, Debug, Default)]
pub enum After {
    /// It waits for none.
    #[default]
    Nothing,
    /// A node that it is computed from waits for one.
    Sources,
    /// It is the result with this number of such a computation.
    Apart(ExternalPart, u32),
}

impl After {
    /// Returns whether the node waits for such a computation.
    pub fn waits(&self) -> bool {
        !matches!(self, After::Nothing)
    }
}

/// Refers to a computation outside the fused loops.
#[derive(Clone, Debug)]
pub enum ExternalPart {
    /// A loop over arrays: its results are the components of its last state.
    Loop(Arc<ArrayLoop>),
    /// A call of a function that does not consist of combinators.
    External(Arc<External>),
}

impl ExternalPart {
    /// Returns the combinator's name in the user's program.
    pub fn name(&self) -> &'static str {
        match self {
            ExternalPart::Loop(of) => of.name,
            ExternalPart::External(of) => of.name,
        }
    }

    /// Returns the call site.
    pub fn loc(&self) -> Loc {
        match self {
            ExternalPart::Loop(of) => of.loc,
            ExternalPart::External(of) => of.loc,
        }
    }

    /// Lists the nodes that are needed before the first step.
    pub fn begin(&self) -> Vec<&Arc<Node>> {
        match self {
            ExternalPart::Loop(of) => of.begin().collect(),
            ExternalPart::External(of) => of.inputs.iter().collect(),
        }
    }

    /// Lists the outer nodes that its steps need.
    pub fn captures(&self) -> &[Arc<Node>] {
        match self {
            ExternalPart::Loop(of) => &of.captures,
            ExternalPart::External(_) => &[],
        }
    }

    /// Lists all outer nodes that it needs.
    pub fn needs(&self) -> impl Iterator<Item = &Arc<Node>> {
        self.begin().into_iter().chain(self.captures())
    }

    /// Returns the sequence numbers before and after its trace.
    ///
    /// The end is the next number after tracing.
    pub fn traced(&self) -> Range<u64> {
        match self {
            ExternalPart::Loop(of) => of.traced.clone(),
            ExternalPart::External(of) => of.number..of.number,
        }
    }

    /// Returns the cell of its results, which is filled once it has run.
    pub fn ended(&self) -> &OnceLock<Vec<Value>> {
        match self {
            ExternalPart::Loop(of) => &of.ended,
            ExternalPart::External(of) => &of.ended,
        }
    }

    /// Returns an address that identifies it.
    pub fn address(&self) -> usize {
        match self {
            ExternalPart::Loop(of) => Arc::as_ptr(of).addr(),
            ExternalPart::External(of) => Arc::as_ptr(of).addr(),
        }
    }

    /// Moves its nodes out, if it is uniquely owned.
    pub(super) fn into_nodes(self, out: &mut impl Extend<Arc<Node>>) {
        match self {
            ExternalPart::Loop(of) => {
                if let Some(of) = Arc::into_inner(of) {
                    of.into_nodes(out);
                }
            }
            ExternalPart::External(of) => {
                if let Some(of) = Arc::into_inner(of) {
                    out.extend(of.inputs);
                }
            }
        }
    }
}

/// The next sequence number. Numbers identify the nodes that existed before a step was traced.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Returns the next sequence number and increments it.
pub(crate) fn next_number() -> u64 {
    NUMBER.fetch_add(1, Ordering::Relaxed)
}
