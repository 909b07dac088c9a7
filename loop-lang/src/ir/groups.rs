//! Carried groups: what goes from one iteration to the next, and how it may be reordered.

use super::{Atom, FnId, RateId, Var};
use crate::op::Op;

/// A carried group: variables that live from one iteration to the next and are updated together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// Its variables, each declared by a `carry` statement.
    pub vars: Vec<Var>,
    /// The rate whose `nest` (or `init`, for roots) starts it.
    pub owner: RateId,
    /// The rate at which it is updated. In a loop of several phases other phases may update it as well,
    /// each at one rate of its own; sequential groups may also be updated below `step`.
    pub step: RateId,
    /// Starting values, the same atoms as in its `carry` statements.
    pub start: Vec<Atom>,
    /// Identity of `combine`: literals or parameters. Exact: joining it changes no bit. May be left out
    /// (empty) where there is no `combine`.
    pub identity: Vec<Atom>,
    /// The values that it takes next: what its assignments assign, or the results of its `scan`.
    pub next: Vec<Atom>,
    /// How two parts are joined; none makes the loop sequential.
    pub combine: Option<Combine>,
    /// 0 if its updates depend on no other group's value, else one more than the highest of those.
    pub level: u32,
    /// Whether it may depend on others of its level that do as well, or its value decide whether it is updated: no
    /// chunk's sum tells such a group, and all are found in order, with the places of chunks. See
    /// [`crate::levels`].
    pub circle: bool,
    /// How its updates may be reassociated.
    pub order: Order,
}

/// How a group's updates are ordered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Order {
    /// Elements are dealt to L lanes by the counter of the step rate's nearest loop rate, modulo L
    /// (a power of two). Within the loop its variables mean the element's lane.
    Lanes(u32),
    /// One lane, left to right, in runs of as many steps (a power of two, at most [`CHUNK`](super::CHUNK)): after each run
    /// what it came to is joined onto what the chunk's earlier runs did. Runs do not wait for each other.
    Runs(u32),
    /// Updated by `scan` statements: blocks of L elements (a power of two; by the same counter) are
    /// scanned by a fixed tree, blocks follow left to right. L = 1 is plain left to right, and is
    /// needed where elements may be skipped or another phase goes on with the group.
    /// [`crate::state`] has the algorithm.
    Prefix(u32),
    /// Any order gives the same bits.
    Exact,
    /// Left to right only.
    Sequential,
}

impl Order {
    /// The lanes of a local part that are joined by halves. Runs have two: what the chunk's runs before
    /// came to, and the run under way, in which updates go on.
    pub fn lanes(self) -> Option<u32> {
        match self {
            Order::Lanes(l) => Some(l),
            Order::Runs(_) => Some(2),
            Order::Prefix(_) | Order::Exact | Order::Sequential => None,
        }
    }

    /// Whether a group has a part that belongs to the chunk alone.
    pub fn is_local(self) -> bool {
        !matches!(self, Order::Exact | Order::Sequential)
    }
}

/// How two values of a group are joined, the left one earlier.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Combine {
    /// A binary operator; for groups of one variable.
    Op(Op),
    /// A function of left values, then right values.
    Fn(FnId),
}
