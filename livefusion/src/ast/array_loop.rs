//! Loops over arrays in the graph: start, step and end.

use crate::ast::{Node, Value};
use crate::loc::Loc;
use loop_lang::types::Const;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Describes a loop whose state is a tuple of arrays and delayed scalars.
///
/// Its results are nodes without inputs. They have values once the loop has run, so plans do not
/// contain the loop.
pub struct ArrayLoop {
    /// The combinator's name in the user's program.
    pub name: &'static str,
    /// The call site.
    pub loc: Loc,
    /// The initial value of each state component.
    pub start: Vec<Arc<Node>>,
    /// The nodes that stand for the components within a step.
    pub inputs: Vec<Arc<Node>>,
    /// The next value of each component. A conditional loop also has its test's result as the last
    /// node.
    pub step: Vec<Arc<Node>>,
    /// The exit condition.
    pub ends: Ends,
    /// The sequence numbers before and after its step was traced. Computations outside the fused
    /// loops are numbered.
    pub traced: Range<u64>,
    /// The outer nodes that its steps need; they exist before the first step.
    pub captures: Vec<Arc<Node>>,
    /// The depth of the nest of loops that its steps run, including itself.
    pub depth: u32,
    /// The final state.
    pub ended: OnceLock<Vec<Value>>,
}

/// Describes the exit condition of a loop over arrays.
#[derive(Clone, Debug)]
pub enum Ends {
    /// Exits after a number of steps, a delayed `u64`.
    After(Arc<Node>),
    /// Exits when the last result of the step is false. This delayed `bool` is the test of the
    /// first step.
    Unless(Arc<Node>),
}

impl ArrayLoop {
    /// Lists the nodes needed at the start.
    ///
    /// They are the state, then the number of steps or the first test.
    pub fn begin(&self) -> impl Iterator<Item = &Arc<Node>> {
        let (Ends::After(first) | Ends::Unless(first)) = &self.ends;
        self.start.iter().chain([first])
    }

    /// Returns whether it takes at most one step.
    ///
    /// The test of its second step is false. Such a loop is a side of a choice. All work of the
    /// side belongs to the step.
    pub fn is_side(&self) -> bool {
        let test = match self.ends {
            Ends::After(_) => None,
            Ends::Unless(_) => self.step.last().and_then(|test| test.literal()),
        };
        matches!(test, Some(Value::Scalar(fields)) if fields.as_slice() == [Const::bool(false)])
    }

    /// Moves all nodes out.
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
