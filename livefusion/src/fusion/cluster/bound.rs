//! What no partition can go below.

use super::bits::Bits;
use super::problem::{Cost, Field, Problem, WRITE};
use rustc_hash::FxHashSet;

/// Problems with more items than this are not searched, and their bounds are rough.
pub const LARGE: usize = 1024;

/// What every partition of a problem costs at least.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// In all.
    pub cost: Cost,
    /// Per field: the loops that read it from memory.
    pub reads: Vec<usize>,
    /// Per field: whether it is written.
    pub written: Vec<bool>,
    /// Per item: what has to be paid because later loops need its arrays, to keep one or to compute it again.
    pub owed: Vec<u64>,
    /// Per class that is a root: the loops in its tree.
    pub loops: Vec<usize>,
}

/// Bounds from what must come strictly before what: each of a chain of items that do is in a loop of its
/// own, and so is each tree of classes.
pub fn bounds(problem: &Problem) -> Bounds {
    let before = (problem.items.len() <= LARGE).then(|| strictly_before(problem));
    let before = before.as_ref();
    let trees = problem.trees();
    let tree_of = |i: usize| problem.items[i].at.first().map(|c| trees[*c]);
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); problem.fields.len()];
    let mut owing = vec![false; problem.items.len()];
    let mut in_tree: Vec<Vec<usize>> = vec![Vec::new(); problem.classes.len()];
    for (i, item) in problem.items.iter().enumerate() {
        let apart = item.links.iter().filter(|k| k.apart).map(|k| k.from);
        let apart: FxHashSet<usize> = apart.collect();
        for f in item.uses.iter().filter(|f| problem.fields[**f].bytes > 0) {
            let maker = problem.fields[*f].maker.filter(|m| !apart.contains(m));
            match maker.filter(|m| problem.items[*m].again.is_some()) {
                // Who could have it computed again may need it in no memory.
                Some(m) => owing[m] |= before.is_some_and(|b| b.has(i, m)),
                None => users[*f].push(i),
            }
        }
        if let Some(tree) = tree_of(i) {
            in_tree[tree].push(i);
        }
    }
    let fields = problem.fields.iter().zip(users);
    let reads: Vec<usize> = fields
        .map(|(f, users)| least_reads(f, users, before, &tree_of))
        .collect();
    let written = problem.fields.iter().zip(&reads);
    let written: Vec<bool> = written
        .map(|(f, reads)| f.stored || f.maker.is_some() && *reads > 0)
        .collect();
    let loops: Vec<usize> = in_tree.iter().map(|t| longest_chain(t, before)).collect();
    let all: Vec<usize> = (0..problem.items.len()).collect();
    let owed = owed(problem, &owing, &reads);
    let mut bytes = owed.iter().fold(0, |sum: u64, o| sum.saturating_add(*o));
    for (f, (reads, written)) in problem.fields.iter().zip(reads.iter().zip(&written)) {
        let times = *reads as u64 + if *written { WRITE } else { 0 };
        bytes = bytes.saturating_add(f.bytes.saturating_mul(times));
    }
    Bounds {
        cost: Cost {
            bytes,
            loops: longest_chain(&all, before).max(loops.iter().sum()),
        },
        reads,
        written,
        owed,
        loops,
    }
}

/// What is paid at least for each item that owes its arrays to later loops: the price of computing them again,
/// or what keeping the smallest costs. Nothing, if somebody has to read one in any case.
fn owed(problem: &Problem, owing: &[bool], reads: &[usize]) -> Vec<u64> {
    let price = |i: usize| problem.price_again(i).filter(|_| owing[i]);
    let all = 0..problem.items.len();
    let mut owed: Vec<u64> = all.map(|i| price(i).unwrap_or(0)).collect();
    for (field, reads) in problem.fields.iter().zip(reads) {
        if let Some(maker) = field.maker.filter(|_| field.bytes > 0) {
            let write = if field.stored { 0 } else { WRITE };
            let keep = field.bytes.saturating_mul(1 + write);
            let least = if *reads > 0 { 0 } else { keep };
            owed[maker] = owed[maker].min(least);
        }
    }
    owed
}

/// In how many loops the users of a field are that must read it: those of one tree of classes that come
/// strictly before each other, for each tree; in the maker's, those that come after it.
fn least_reads(
    field: &Field,
    users: Vec<usize>,
    before: Option<&Bits>,
    tree_of: &impl Fn(usize) -> Option<usize>,
) -> usize {
    let mut groups: Vec<(Option<usize>, Vec<usize>)> = Vec::new();
    let mut far = Vec::new();
    for user in users {
        let tree = tree_of(user);
        if let Some(maker) = field.maker {
            let near = tree.is_none() || tree_of(maker).is_none() || tree == tree_of(maker);
            if near && !before.is_some_and(|b| b.has(user, maker)) {
                continue;
            }
        }
        far.push(user);
        match groups.iter_mut().find(|g| g.0 == tree) {
            Some(group) => group.1.push(user),
            None => groups.push((tree, vec![user])),
        }
    }
    let of_trees = groups.iter().filter(|g| g.0.is_some());
    let sum = of_trees.map(|g| longest_chain(&g.1, before)).sum();
    longest_chain(&far, before).max(sum)
}

/// Per item, those that are in earlier loops in every partition.
fn strictly_before(problem: &Problem) -> Bits {
    let n = problem.items.len();
    let (mut before, mut strictly) = (Bits::new(n), Bits::new(n));
    for (i, item) in problem.items.iter().enumerate() {
        for link in &item.links {
            before.add(i, link.from, |_, _| {});
            strictly.add(i, link.from, |_, _| {});
            before.set(i, link.from);
        }
        for link in item.links.iter().filter(|k| k.prevents.is_some()) {
            strictly.add_of(i, &before, link.from);
            strictly.set(i, link.from);
        }
    }
    strictly
}

/// The longest chain of items each of which is in a later loop than the one before it.
fn longest_chain(items: &[usize], before: Option<&Bits>) -> usize {
    let Some(before) = before else {
        return items.len().min(1);
    };
    let mut longest: Vec<usize> = Vec::with_capacity(items.len());
    for (k, i) in items.iter().enumerate() {
        let earlier = (0..k).filter(|j| before.has(*i, items[*j]));
        let chain = earlier.map(|j| longest[j]).max().unwrap_or(0);
        longest.push(chain + 1);
    }
    longest.into_iter().max().unwrap_or(0)
}
