//! What runs apart: loops over arrays, and functions of others. Its results are in memory before what is made of them is
//! planned, so plans know nothing of it.

use crate::ast::{ArrayLoop, External, Node};
use crate::loc::Loc;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::Value;

/// Whether something that runs apart has to end before a node can be computed.
#[derive(Clone, Debug, Default)]
pub enum After {
    /// Nothing.
    #[default]
    Nothing,
    /// What is among that which it is computed from.
    Sources,
    /// Something whose result of this number it is.
    Apart(Apart, u32),
}

impl After {
    /// Whether there is something of that kind.
    pub fn waits(&self) -> bool {
        !matches!(self, After::Nothing)
    }
}

/// Something that runs apart.
#[derive(Clone, Debug)]
pub enum Apart {
    /// A loop over arrays: its results are the components of its last state.
    Loop(Arc<ArrayLoop>),
    /// A call of a function that is not made of combinators.
    External(Arc<External>),
}

impl Apart {
    /// What the user called.
    pub fn name(&self) -> &'static str {
        match self {
            Apart::Loop(of) => of.name,
            Apart::External(of) => of.name,
        }
    }

    /// Where.
    pub fn loc(&self) -> Loc {
        match self {
            Apart::Loop(of) => of.loc,
            Apart::External(of) => of.loc,
        }
    }

    /// What it begins with.
    pub fn begin(&self) -> Vec<&Arc<Node>> {
        match self {
            Apart::Loop(of) => of.begin().collect(),
            Apart::External(of) => of.inputs.iter().collect(),
        }
    }

    /// What it needs from outside on its way.
    pub fn captures(&self) -> &[Arc<Node>] {
        match self {
            Apart::Loop(of) => &of.captures,
            Apart::External(_) => &[],
        }
    }

    /// The nodes outside of it that it needs.
    pub fn needs(&self) -> impl Iterator<Item = &Arc<Node>> {
        self.begin().into_iter().chain(self.captures())
    }

    /// The numbers that were next when it was begun, and when it had been traced.
    pub fn traced(&self) -> Range<u64> {
        match self {
            Apart::Loop(of) => of.traced.clone(),
            Apart::External(of) => of.number..of.number,
        }
    }

    /// Its results, once it has run.
    pub fn ended(&self) -> &OnceLock<Vec<Value>> {
        match self {
            Apart::Loop(of) => &of.ended,
            Apart::External(of) => &of.ended,
        }
    }

    /// What tells it from others.
    pub fn address(&self) -> usize {
        match self {
            Apart::Loop(of) => Arc::as_ptr(of).addr(),
            Apart::External(of) => Arc::as_ptr(of).addr(),
        }
    }

    /// The nodes that it refers to, for good, if nobody else refers to it.
    pub(super) fn into_nodes(self, out: &mut impl Extend<Arc<Node>>) {
        match self {
            Apart::Loop(of) => {
                if let Some(of) = Arc::into_inner(of) {
                    of.into_nodes(out);
                }
            }
            Apart::External(of) => {
                if let Some(of) = Arc::into_inner(of) {
                    out.extend(of.inputs);
                }
            }
        }
    }
}

/// Numbers tell what was there before a step was traced.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// The next number.
pub(crate) fn next_number() -> u64 {
    NUMBER.fetch_add(1, Ordering::Relaxed)
}
