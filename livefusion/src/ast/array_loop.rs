//! Loops over arrays, as the graph knows them: where they start, what a step makes, and when they end.

use crate::ast::{Node, Value};
use crate::loc::Loc;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A loop whose state is a tuple of arrays and delayed scalars. Its results are nodes without inputs, which have their
/// values once it has run: plans know nothing of it.
pub struct ArrayLoop {
    /// What the user called.
    pub name: &'static str,
    /// Where.
    pub loc: Loc,
    /// What each component of the state starts as.
    pub start: Vec<Arc<Node>>,
    /// What stands for the components in a step.
    pub inputs: Vec<Arc<Node>>,
    /// What a step makes of each component; of a loop that goes on while something holds, then whether that holds.
    pub step: Vec<Arc<Node>>,
    /// When it ends.
    pub ends: Ends,
    /// What runs apart is numbered: this is the number when its step was to be traced, and when it had been.
    pub traced: Range<u64>,
    /// What its steps need from outside, and what is there before the first.
    pub captures: Vec<Arc<Node>>,
    /// The state that it has ended with.
    pub ended: OnceLock<Vec<Value>>,
}

/// When a loop over arrays ends.
#[derive(Clone, Debug)]
pub enum Ends {
    /// After so many steps, a delayed `u64`.
    After(Arc<Node>),
    /// When what the step says last does not hold. At the start this delayed `bool` says it.
    Unless(Arc<Node>),
}

impl ArrayLoop {
    /// Where it begins: the state, then how often it goes on, or whether it does.
    pub fn begin(&self) -> impl Iterator<Item = &Arc<Node>> {
        let (Ends::After(first) | Ends::Unless(first)) = &self.ends;
        self.start.iter().chain([first])
    }

    /// The nodes that it refers to, for good.
    pub(super) fn into_nodes(self, out: &mut impl Extend<Arc<Node>>) {
        let (Ends::After(first) | Ends::Unless(first)) = self.ends;
        out.extend(self.start);
        out.extend(self.inputs);
        out.extend(self.step);
        out.extend(self.captures);
        out.extend([first]);
    }
}

impl fmt::Debug for ArrayLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.name, self.loc)
    }
}
