//! Lanes and blocks: the local parts of carried groups, in the frame's words.

use crate::code::{GroupCode, Join, JoinOp, Reg};
use crate::machine::Machine;
use smallvec::SmallVec;

/// Holds a value for each variable of a group.
pub type Values = SmallVec<[u64; 4]>;

/// Offsets in the local part of a `Prefix` group.
const TOTAL: u32 = 1;
const LAST: u32 = 2;
const TREE: u32 = 3;

impl<'a> Machine<'a, '_> {
    /// Joins two values, `left` first.
    pub(crate) fn join(&mut self, join: &'a Join, left: &[u64], right: &[u64]) -> Values {
        match join {
            Join::Op(op) => left
                .iter()
                .zip(right)
                .map(|(l, r)| op.eval(*l, *r))
                .collect(),
            Join::Function { function, params } => {
                let (entry, results) = &self.code.functions[*function as usize];
                for (r, x) in params.iter().zip(left.iter().chain(right)) {
                    self.set(*r, *x);
                }
                // Functions are straight-line code with regions: they stop only at their end.
                self.exec(*entry);
                results.iter().map(|r| self.get(*r)).collect()
            }
        }
    }

    fn group(&self, group: u32) -> Option<&'a GroupCode> {
        self.code.groups[group as usize].as_ref()
    }

    /// Returns the words at an offset of each variable's local part.
    fn locals(&self, g: &GroupCode, offset: u32) -> Values {
        g.local
            .iter()
            .map(|l| self.frame.words[(l + offset) as usize])
            .collect()
    }

    fn set_locals(&mut self, g: &GroupCode, offset: u32, values: &[u64]) {
        for (l, x) in g.local.iter().zip(values) {
            self.frame.words[(l + offset) as usize] = *x;
        }
    }

    fn prefix(&self, g: &GroupCode) -> Values {
        g.words
            .iter()
            .map(|w| self.frame.words[*w as usize])
            .collect()
    }

    /// Starts a variable: its prefix is `value`, its local part the identity.
    pub(crate) fn start(&mut self, group: u32, var: usize, value: u64) {
        let Some(g) = self.group(group) else { return };
        self.frame.words[g.words[var] as usize] = value;
        self.clear_local(g, var);
    }

    /// Sets a variable's local part to the identity. A `Prefix` group's current value stays.
    fn clear_local(&mut self, g: &GroupCode, var: usize) {
        let identity = self.get(g.identity[var]);
        let (first, words) = match g.lanes {
            true => (g.local[var], g.width),
            false => (
                g.local[var] + TOTAL,
                TREE - TOTAL + g.width.trailing_zeros(),
            ),
        };
        self.frame.words[first as usize..(first + words) as usize].fill(identity);
    }

    /// Returns the group's value after its loop: the prefix joined with the local part.
    pub(crate) fn total(&mut self, group: u32) -> Values {
        let Some(g) = self.group(group) else {
            return Values::new();
        };
        let local = if g.lanes {
            self.lanes_joined(g)
        } else {
            self.locals(g, LAST)
        };
        let prefix = self.prefix(g);
        self.join(&g.join, &prefix, &local)
    }

    /// Joins the lanes by halves: lane i with lane i + width/2, until one is left.
    fn lanes_joined(&mut self, g: &'a GroupCode) -> Values {
        let mut lanes: Vec<Values> = (0..g.width).map(|k| self.locals(g, k)).collect();
        while lanes.len() > 1 {
            let upper = lanes.split_off(lanes.len() / 2);
            for (lane, right) in lanes.iter_mut().zip(upper) {
                *lane = self.join(&g.join, lane, &right);
            }
        }
        lanes.pop().unwrap_or_default()
    }

    /// Joins a finished run onto the earlier runs of the chunk.
    pub(crate) fn join_run(&mut self, group: u32) {
        let Some(g) = self.group(group) else { return };
        if g.run.is_none_or(|steps| !self.steps.is_multiple_of(steps)) {
            return;
        }
        let joined = self.lanes_joined(g);
        let nothing: Values = g.identity.iter().map(|r| self.get(*r)).collect();
        self.set_locals(g, 0, &joined);
        self.set_locals(g, 1, &nothing);
    }

    /// Joins the local part into the prefix at the end of a chunk.
    pub(crate) fn join_locals(&mut self, group: u32) {
        let Some(g) = self.group(group) else { return };
        let total = self.total(group);
        for (i, (w, x)) in g.words.iter().zip(total).enumerate() {
            self.frame.words[*w as usize] = x;
            self.clear_local(g, i);
        }
    }

    /// Returns the next values of a `Prefix` group by register: the last inclusive ones.
    pub(crate) fn prefix_values(&mut self, group: u32) -> Vec<(Reg, u64)> {
        let Some(g) = self.group(group) else {
            return Vec::new();
        };
        g.vars.iter().copied().zip(self.total(group)).collect()
    }

    /// Joins an element, at `position` of its loop, onto a `Prefix` group. Returns the inclusive
    /// values.
    ///
    /// A block is scanned by a tree of log2(width) entries. Entry k holds the join of the 2^k
    /// elements (or fewer) before the current run of that size.
    pub(crate) fn scan(&mut self, group: u32, position: u64, mut run: Values) -> Values {
        let Some(g) = self.group(group) else {
            return run;
        };
        let place = position as u32 & (g.width - 1);
        if let (Join::Op(op), [x]) = (&g.join, &run[..]) {
            return Values::from_slice(&[self.scan_one(g, *op, place, *x)]);
        }
        for k in 0..g.width.trailing_zeros() {
            if place >> k & 1 == 0 {
                self.set_locals(g, TREE + k, &run);
            } else {
                let left = self.locals(g, TREE + k);
                run = self.join(&g.join, &left, &run);
            }
        }
        let total = self.locals(g, TOTAL);
        let local = self.join(&g.join, &total, &run);
        self.set_locals(g, LAST, &local);
        if place == g.width - 1 {
            self.set_locals(g, TOTAL, &local);
        }
        let prefix = self.prefix(g);
        self.join(&g.join, &prefix, &local)
    }

    /// Does `scan` for a group of one variable with an operator, the most common case.
    fn scan_one(&mut self, g: &GroupCode, op: JoinOp, place: u32, mut run: u64) -> u64 {
        let words = &mut self.frame.words[..];
        let prefix = words[g.words[0] as usize];
        let local = &mut words[g.local[0] as usize..];
        for (k, entry) in local[TREE as usize..].iter_mut().enumerate() {
            if 1 << k >= g.width {
                break;
            }
            if place >> k & 1 == 0 {
                *entry = run;
            } else {
                run = op.eval(*entry, run);
            }
        }
        let last = op.eval(local[TOTAL as usize], run);
        local[LAST as usize] = last;
        if place == g.width - 1 {
            local[TOTAL as usize] = last;
        }
        op.eval(prefix, last)
    }
}
