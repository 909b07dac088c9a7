//! Carried groups: loop-carried values, and how their updates may be reordered.

use super::{Atom, FnId, RateId, Var};
use crate::op::Op;

/// Describes variables that are carried and updated together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// Its variables, each declared by a `carry` statement.
    pub vars: Vec<Var>,
    /// The rate that starts it in its `nest` (or in `init`, for roots).
    pub owner: RateId,
    /// The rate that updates it. In a loop of several phases, other phases may also update it, each
    /// at one rate of its own. Sequential groups may also be updated below `step`.
    pub step: RateId,
    /// Starting values, the same atoms as in its `carry` statements.
    pub start: Vec<Atom>,
    /// The identity of `combine`: literals or parameters. Combining with it changes no bit. It may
    /// be empty if there is no `combine`.
    pub identity: Vec<Atom>,
    /// The next values: assigned values, or the results of its `scan`.
    pub next: Vec<Atom>,
    /// The combine of two parts; without one the loop is sequential.
    pub combine: Option<Combine>,
    /// 0 if its updates depend on no other group's value, otherwise one more than the highest level
    /// of those groups.
    pub level: u32,
    /// Whether it is in a strongly connected component of groups, or its value controls its own
    /// update. Chunk sums of such groups are unknown; they are computed in order, together with the
    /// chunks' positions. See [`crate::levels`].
    pub cycle: bool,
    /// The allowed reassociation of its updates.
    pub order: Order,
}

/// Describes the order of a group's updates.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Order {
    /// Elements go to L lanes by the counter of the step rate's nearest loop rate, modulo L (a
    /// power of two). Within the loop, its variables refer to the element's lane.
    Lanes(u32),
    /// Left to right in one lane, in runs of a fixed number of steps. The number is a power of two,
    /// at most [`CHUNK`](super::CHUNK). After each run, its result is combined with those of the
    /// chunk's earlier runs. Runs are independent.
    Runs(u32),
    /// Updated by `scan` statements. A fixed tree scans blocks of L elements (a power of two; by
    /// the same counter); blocks follow left to right. L = 1 is plain left to right. It is required
    /// if elements may be skipped, or another phase continues the group. [`crate::state`] has the
    /// algorithm.
    Prefix(u32),
    /// Any order gives the same bits.
    Exact,
    /// Left to right only.
    Sequential,
}

impl Order {
    /// Returns the number of lanes that are combined by halves.
    ///
    /// Runs have two: the chunk's earlier runs, and the current run with its updates.
    pub fn lanes(self) -> Option<u32> {
        match self {
            Order::Lanes(l) => Some(l),
            Order::Runs(_) => Some(2),
            Order::Prefix(_) | Order::Exact | Order::Sequential => None,
        }
    }

    /// Tells whether a group has a part local to the chunk.
    pub fn is_local(self) -> bool {
        !matches!(self, Order::Exact | Order::Sequential)
    }
}

/// Describes how two values of a group combine, the left one earlier.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Combine {
    /// A binary operator, for groups of one variable.
    Op(Op),
    /// A function of left values, then right values.
    Fn(FnId),
}
