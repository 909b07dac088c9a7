//! Loop order: numbers the loops, and finds their outputs and the reasons for these.

use super::bound::LARGE;
use super::budget::BUDGET;
use super::build::Built;
use super::loops::{Member, OpenLoops};
use super::problem::{Partition, Problem, WRITE};
use super::reason::Reason;
use super::{Clustering, Crossing, PlannedLoop, Recomputed};
use crate::ast::Kind;
use crate::fusion::demand::Demand;
use crate::fusion::rates::{ClassId, Rates};
use crate::sharing::{FieldRef, Graph, NodeId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Numbers the loops of a partition in an executable order.
///
/// Among the loops that can run next, the one with the first item goes first. None if the loops
/// depend on each other in a cycle.
pub fn order(problem: &Problem, partition: &Partition) -> Option<Partition> {
    let (loop_of, count) = (&partition.loop_of, partition.count());
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut waits = vec![0; count];
    let mut first = vec![usize::MAX; count];
    for (member, l) in partition.members() {
        if let Member::Original(i) = member {
            first[l] = first[l].min(i);
        }
        let links = problem.item(member).links.iter();
        for link in links.filter(|k| loop_of[k.from] != l) {
            users[loop_of[link.from]].push(l);
            waits[l] += 1;
        }
    }
    let used = (0..count).filter(|l| first[*l] != usize::MAX);
    let mut ready: BinaryHeap<_> = used
        .clone()
        .filter(|l| waits[*l] == 0)
        .map(|l| Reverse((first[l], l)))
        .collect();
    let (mut rank, mut next) = (vec![usize::MAX; count], 0);
    while let Some(Reverse((_, l))) = ready.pop() {
        rank[l] = next;
        next += 1;
        for user in &users[l] {
            waits[*user] -= 1;
            if waits[*user] == 0 {
                ready.push(Reverse((first[*user], *user)));
            }
        }
    }
    let mut copies: Vec<(usize, usize)> = Vec::with_capacity(partition.copies.len());
    copies.extend(partition.copies.iter().map(|(i, l)| (*i, rank[*l])));
    copies.sort_unstable();
    (next == used.count()).then(|| Partition {
        loop_of: loop_of.iter().map(|l| rank[*l]).collect(),
        copies,
    })
}

/// Returns the loop of each node.
pub fn loop_of_nodes(built: &Built, partition: &Partition) -> Vec<Option<usize>> {
    let item_of = built.item_of.iter();
    item_of
        .map(|item| item.map(|i| partition.loop_of[i]))
        .collect()
}

/// Returns the loops with their nodes, in dependency order.
pub fn loops(built: &Built, partition: &Partition) -> Vec<PlannedLoop> {
    let filled = OpenLoops::filled(&built.problem, partition);
    let root = |l| filled.as_ref()?.root(l).map(|c| built.classes[c]);
    let recomputed = recomputed(&built.problem, partition).into_iter();
    let loops = recomputed.enumerate().map(|(l, recomputed)| PlannedLoop {
        root: root(l),
        recomputed,
        ..PlannedLoop::default()
    });
    let mut loops: Vec<PlannedLoop> = loops.collect();
    for (n, item) in built.item_of.iter().enumerate() {
        for l in item.iter().flat_map(|i| partition.loops_of(*i)) {
            loops[l].nodes.push(NodeId(n as u32));
            if item.is_some_and(|i| partition.loop_of[i] != l) {
                loops[l].copies.push(NodeId(n as u32));
            }
        }
    }
    loops
}

/// The cost of each loop's copies, and the alternative cost of reading their results.
fn recomputed(problem: &Problem, partition: &Partition) -> Vec<Option<Recomputed>> {
    let mut found: Vec<Option<Recomputed>> = vec![None; partition.count()];
    if partition.copies.is_empty() {
        return found;
    }
    // Columns used by each loop's items, columns used only by its copies, and columns in memory.
    let mut used: FxHashSet<(usize, usize)> = FxHashSet::default();
    for (item, l) in problem.items.iter().zip(&partition.loop_of) {
        used.extend(item.uses.iter().map(|f| (*l, *f)));
    }
    let is_made = |l: usize, f: usize| {
        let maker = problem.fields[f].maker;
        maker.is_some_and(|m| partition.loops_of(m).any(|at| at == l))
    };
    let remat: FxHashSet<(usize, usize)> = partition
        .copies
        .iter()
        .flat_map(|(i, l)| problem.item(Member::Copy(*i)).uses.iter().map(|f| (*l, *f)))
        .filter(|(l, f)| !used.contains(&(*l, *f)) && !is_made(*l, *f))
        .collect();
    let read = used.iter().chain(&remat).filter(|(l, f)| !is_made(*l, *f));
    let stored = (0..problem.fields.len()).filter(|f| problem.fields[*f].stored);
    let written: FxHashSet<usize> = read.map(|(_, f)| *f).chain(stored).collect();
    for (i, l) in &partition.copies {
        let cost = found[*l].get_or_insert_default();
        cost.bytes = cost
            .bytes
            .saturating_add(problem.remat_price(*i).unwrap_or(0));
    }
    for (f, field) in problem.fields.iter().enumerate() {
        for (_, l) in field.maker.iter().flat_map(|m| partition.copies_of(*m)) {
            if let Some(cost) = found[*l].as_mut().filter(|_| used.contains(&(*l, f))) {
                let times = 1 + if written.contains(&f) { 0 } else { WRITE };
                cost.kept = cost.kept.saturating_add(field.bytes.saturating_mul(times));
            }
        }
    }
    for (l, f) in remat {
        if let Some(cost) = &mut found[l] {
            cost.bytes = cost.bytes.saturating_add(problem.fields[f].bytes);
        }
    }
    found
}

/// Finds each loop's outputs for later loops, random access and the user.
///
/// Returns the columns that are written to memory.
pub fn find_outputs(
    graph: &Graph,
    rates: &Rates,
    demand: &Demand,
    loop_of: &[Option<usize>],
    loops: &mut [PlannedLoop],
) -> FxHashSet<FieldRef> {
    let mut wanted: FxHashSet<FieldRef> = FxHashSet::default();
    let in_no_loop = demand.uses.iter().zip(loop_of).filter(|(_, l)| l.is_none());
    wanted.extend(in_no_loop.flat_map(|(needs, _)| needs));
    for (at, planned) in loops.iter().enumerate() {
        let uses = planned.nodes.iter().flat_map(|n| &demand.uses[n.index()]);
        wanted.extend(uses.filter(|f| !computes(loop_of, (at, planned), f.0)));
    }
    wanted.extend(deciding(rates, loop_of, loops));
    for r in &graph.roots {
        wanted.extend(graph.fields(*r));
    }
    let mut wanted: Vec<FieldRef> = wanted.into_iter().collect();
    wanted.sort_unstable();
    let mut stored = FxHashSet::default();
    for f in wanted {
        let Some(l) = loop_of[f.0.index()] else {
            continue;
        };
        if graph.node(f.0).rank == 0 {
            loops[l].scalars.push(f);
        } else {
            loops[l].arrays.push(f);
            stored.insert(f);
        }
    }
    stored
}

/// Finds the zips of each loop that later loops consume.
///
/// A loop consumes a zip directly, through an alias of its fields, or through an inlined function
/// of its elements.
pub fn find_zips(graph: &Graph, loop_of: &[Option<usize>], loops: &mut [PlannedLoop]) {
    let mut found: FxHashSet<NodeId> = FxHashSet::default();
    for (at, planned) in loops.iter().enumerate() {
        let (mut seen, mut stack) = (FxHashSet::default(), planned.nodes.clone());
        while let Some(n) = stack.pop() {
            let node = &graph.nodes[n.index()];
            let here = loop_of[n.index()].is_none() || computes(loop_of, (at, planned), n);
            if node.leaf || !seen.insert(n) {
                continue;
            }
            if here {
                stack.extend(node.inputs.iter().chain(node.captures.iter().flatten()));
                stack.extend(node.length);
            } else if let Kind::Zip = node.node.kind {
                found.insert(n);
            }
        }
    }
    let mut found: Vec<NodeId> = found.into_iter().collect();
    found.sort_unstable();
    for zip in found {
        if let Some(l) = loop_of[zip.index()] {
            loops[l].zips.push(zip);
        }
    }
}

/// Returns whether a loop computes a node.
fn computes(loop_of: &[Option<usize>], (at, planned): (usize, &PlannedLoop), n: NodeId) -> bool {
    loop_of[n.index()] == Some(at) || planned.copies.binary_search(&n).is_ok()
}

/// The lengths and tags that loops read from earlier loops because they run over segments or
/// filtered elements. These reads do not depend on the demand for the columns.
fn deciding(rates: &Rates, loop_of: &[Option<usize>], loops: &[PlannedLoop]) -> Vec<FieldRef> {
    let mut used = Vec::new();
    for (at, planned) in loops.iter().enumerate() {
        let mut seen: FxHashSet<ClassId> = planned.root.into_iter().collect();
        for node in &planned.nodes {
            let mut class = rates.runs_at(*node);
            while let Some(c) = class.filter(|c| seen.insert(*c)) {
                let by = rates.kind(c).decided_by();
                used.extend(by.filter(|f| !computes(loop_of, (at, planned), f.0)));
                class = rates.parent(c);
            }
        }
    }
    used
}

/// Explains why each column crosses from one loop to another.
pub fn crossings(built: &Built, partition: &Partition, clustering: Clustering) -> Vec<Crossing> {
    let mut later: FxHashMap<usize, Vec<Option<usize>>> = FxHashMap::default();
    let mut out = Vec::new();
    let mut weights = vec![0u32; partition.count()];
    for (member, l) in partition.members() {
        weights[l] = weights[l].saturating_add(built.problem.item(member).weight);
    }
    let loop_of = &partition.loop_of;
    for (to, from) in &built.uses {
        let item = |n: NodeId| built.item_of[n.index()];
        let (Some(user), Some(maker)) = (item(*to), item(from.0)) else {
            continue;
        };
        let makes = |l: usize| partition.loops_of(maker).any(|m| m == l);
        if partition.loops_of(user).all(makes) {
            continue;
        }
        if makes(loop_of[user]) {
            out.push(Crossing {
                from: *from,
                to: *to,
                reason: Reason::Rematerialised,
                between: None,
            });
            continue;
        }
        let mut links = built.problem.items[user].links.iter();
        let direct = links.find(|k| k.from == maker).and_then(|k| k.prevents);
        let mut crossing = Crossing {
            from: *from,
            to: *to,
            reason: direct.unwrap_or_else(|| {
                let together = [user, maker].map(|i| weights[loop_of[i]]);
                by_choice(clustering, together)
            }),
            between: None,
        };
        if direct.is_none() && clustering != Clustering::Unfused {
            let later = later.entry(maker);
            let later = later.or_insert_with(|| blocked(&built.problem, maker));
            if let Some(between) = user.checked_sub(maker).and_then(|k| *later.get(k)?) {
                crossing.reason = Reason::Between;
                crossing.between = Some(built.nodes[between]);
            }
        }
        out.push(crossing);
    }
    out
}

/// The reason that two loops of these weights are separate, if only the strategy keeps them apart.
fn by_choice(clustering: Clustering, [a, b]: [u32; 2]) -> Reason {
    match clustering {
        Clustering::Unfused => Reason::Unfused,
        _ if a.saturating_add(b) > BUDGET => Reason::Budget,
        Clustering::Greedy => Reason::Greedy,
        Clustering::Optimal { .. } => Reason::Cheaper,
    }
}

/// For each item from the maker on: the operand that keeps it out of the maker's loop, because it
/// is complete only after that loop. Empty for very large problems.
fn blocked(problem: &Problem, maker: usize) -> Vec<Option<usize>> {
    if problem.items.len() > LARGE {
        return Vec::new();
    }
    let mut reached: Vec<Option<Option<usize>>> = vec![Some(None)];
    for item in &problem.items[maker + 1..] {
        let ways = item.links.iter().filter_map(|k| {
            let before = (*reached.get(k.from.checked_sub(maker)?)?)?;
            Some(before.or(k.prevents.map(|_| k.from)))
        });
        let way = ways.reduce(Option::or);
        reached.push(way);
    }
    reached.into_iter().map(Option::flatten).collect()
}
