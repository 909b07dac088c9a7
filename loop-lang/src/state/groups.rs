//! Operations on the words of carried groups, as defined by the parent module.

use super::{Layout, local_words};
use crate::eval::combine;
use crate::ir::{Atom, Group, GroupId, Loop, Order};

/// Offsets in the local part of a `Prefix` group's variable.
const CURRENT: usize = 0;
const RUNNING: usize = 1;
const LAST: usize = 2;
const TREE: usize = 3;

/// A group with its location.
struct GroupSite<'a> {
    program: &'a Loop,
    layout: &'a Layout,
    id: GroupId,
    group: &'a Group,
}

impl<'a> GroupSite<'a> {
    fn of(program: &'a Loop, layout: &'a Layout, id: GroupId) -> GroupSite<'a> {
        GroupSite {
            program,
            layout,
            id,
            group: &program.groups[id.index()],
        }
    }

    /// Returns the prefix. A group dropped by a pass is not carried and has no prefix: it reads as
    /// zero.
    fn prefix(&self, words: &[u64]) -> Vec<u64> {
        let word = |v| self.layout.word(v).map_or(0, |w| words[w]);
        self.group.vars.iter().map(|v| word(*v)).collect()
    }

    fn set_prefix(&self, words: &mut [u64], values: &[u64]) {
        for (v, x) in self.group.vars.iter().zip(values) {
            if let Some(w) = self.layout.word(*v) {
                words[w] = *x;
            }
        }
    }

    /// Returns the words at an offset of each variable's local part.
    fn local(&self, words: &[u64], offset: usize) -> Vec<u64> {
        let word = |i| words[self.layout.local(self.id, self.group, i) + offset];
        (0..self.group.vars.len()).map(word).collect()
    }

    fn set_local(&self, words: &mut [u64], offset: usize, values: &[u64]) {
        for (i, x) in values.iter().enumerate() {
            words[self.layout.local(self.id, self.group, i) + offset] = *x;
        }
    }

    fn join(&self, left: &[u64], right: &[u64]) -> Vec<u64> {
        combine(self.program, self.group, left, right)
    }
}

/// Starts a group with the prefix `values` and the identity as local part.
///
/// `identity` gives the values of the group's identity atoms, which are constants or parameters.
pub fn start_group(
    program: &Loop,
    layout: &Layout,
    words: &mut [u64],
    id: GroupId,
    values: &[u64],
    identity: &dyn Fn(Atom) -> u64,
) {
    let site = GroupSite::of(program, layout, id);
    site.set_prefix(words, values);
    if let Order::Prefix(_) = site.group.order {
        site.set_local(words, CURRENT, values);
    }
    reset_local(program, layout, words, id, identity);
}

/// Resets a group's local part to the identity.
///
/// The current value of a `Prefix` group stays.
pub fn reset_local(
    program: &Loop,
    layout: &Layout,
    words: &mut [u64],
    id: GroupId,
    identity: &dyn Fn(Atom) -> u64,
) {
    let site = GroupSite::of(program, layout, id);
    let order = site.group.order;
    let offset = match order {
        Order::Prefix(_) => RUNNING,
        Order::Lanes(_) | Order::Runs(_) | Order::Exact | Order::Sequential => 0,
    };
    for (i, atom) in site.group.identity.iter().enumerate() {
        let first = layout.local(id, site.group, i);
        words[first + offset..first + local_words(order)].fill(identity(*atom));
    }
}

/// Returns a group's value as after its loop.
///
/// It is the prefix combined with the local part.
pub fn group_total(program: &Loop, layout: &Layout, words: &[u64], id: GroupId) -> Vec<u64> {
    let site = GroupSite::of(program, layout, id);
    let prefix = site.prefix(words);
    match site.group.order {
        Order::Exact | Order::Sequential => prefix,
        Order::Prefix(_) => site.join(&prefix, &site.local(words, LAST)),
        Order::Lanes(_) | Order::Runs(_) => {
            let lanes = 0..local_words(site.group.order);
            let mut lanes: Vec<Vec<u64>> = lanes.map(|j| site.local(words, j)).collect();
            while lanes.len() > 1 {
                let upper = lanes.split_off(lanes.len() / 2);
                for (lane, right) in lanes.iter_mut().zip(&upper) {
                    *lane = site.join(lane, right);
                }
            }
            lanes
                .first()
                .map_or_else(|| prefix.clone(), |lane| site.join(&prefix, lane))
        }
    }
}

/// Ends a run and combines it with the chunk's earlier runs.
pub fn join_run(
    program: &Loop,
    layout: &Layout,
    words: &mut [u64],
    id: GroupId,
    identity: &dyn Fn(Atom) -> u64,
) {
    let site = GroupSite::of(program, layout, id);
    let joined = site.join(&site.local(words, 0), &site.local(words, 1));
    let nothing: Vec<u64> = site.group.identity.iter().map(|a| identity(*a)).collect();
    site.set_local(words, 0, &joined);
    site.set_local(words, 1, &nothing);
}

/// Ends a chunk and combines the local part into the prefix.
pub fn join_chunk(
    program: &Loop,
    layout: &Layout,
    words: &mut [u64],
    id: GroupId,
    identity: &dyn Fn(Atom) -> u64,
) {
    let total = group_total(program, layout, words, id);
    GroupSite::of(program, layout, id).set_prefix(words, &total);
    reset_local(program, layout, words, id, identity);
}

/// Scans an element into a `Prefix` group and returns the inclusive values.
///
/// `counter` is the element's number in its loop. The current value does not change: it takes these
/// values at the next guard.
pub fn scan_step(
    program: &Loop,
    layout: &Layout,
    words: &mut [u64],
    id: GroupId,
    counter: u64,
    element: &[u64],
) -> Vec<u64> {
    let site = GroupSite::of(program, layout, id);
    let Order::Prefix(width) = site.group.order else {
        debug_assert!(false, "only `Prefix` groups are scanned");
        return element.to_vec();
    };
    let position = counter & u64::from(width - 1);
    let mut run = element.to_vec();
    for k in 0..width.trailing_zeros() as usize {
        if position >> k & 1 == 1 {
            run = site.join(&site.local(words, TREE + k), &run);
        } else {
            site.set_local(words, TREE + k, &run);
        }
    }
    let last = site.join(&site.local(words, RUNNING), &run);
    site.set_local(words, LAST, &last);
    if position == u64::from(width - 1) {
        site.set_local(words, RUNNING, &last);
    }
    site.join(&site.prefix(words), &last)
}
