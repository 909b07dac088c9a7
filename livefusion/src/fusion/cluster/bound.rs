//! Lower bounds on the cost of every partition.

use super::bits::BitMatrix;
use super::problem::{Cost, DataField, Problem, WRITE};
use rustc_hash::FxHashSet;

/// Limits the number of items for the search.
///
/// Larger problems are not searched, and their bounds are rough.
pub const LARGE: usize = 1024;

/// Holds lower bounds on the cost of every partition of a problem.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// The bound on the total cost.
    pub cost: Cost,
    /// Per field: the minimal number of loops that read it from memory.
    pub reads: Vec<usize>,
    /// Per field: whether it is certainly written.
    pub written: Vec<bool>,
    /// Per item: the minimal cost of delivering its arrays to later loops, by a store or by
    /// rematerialisation.
    pub owed: Vec<u64>,
    /// Per root class: the minimal number of loops in its tree.
    pub loops: Vec<usize>,
}

/// Computes lower bounds from the strict order of items.
///
/// Items of a strictly ordered chain are all in different loops, and so are different trees of
/// classes.
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
            match maker.filter(|m| problem.items[*m].remat.is_some()) {
                // A consumer that could rematerialise the maker may need no memory read.
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

/// The minimal cost of each item that owes its arrays to later loops: the price of
/// rematerialisation, or the cost of storing its smallest array. Zero if some loop has to read one
/// of its arrays anyway.
fn owed(problem: &Problem, owing: &[bool], reads: &[usize]) -> Vec<u64> {
    let price = |i: usize| problem.remat_price(i).filter(|_| owing[i]);
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

/// The minimal number of loops that read a field from memory. It counts the longest strictly
/// ordered chain of users in each tree of classes. In the maker's own tree, only users strictly
/// after the maker count.
fn least_reads(
    field: &DataField,
    users: Vec<usize>,
    before: Option<&BitMatrix>,
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

/// Per item: the items that are in earlier loops in every partition.
fn strictly_before(problem: &Problem) -> BitMatrix {
    let n = problem.items.len();
    let (mut before, mut strictly) = (BitMatrix::new(n), BitMatrix::new(n));
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

/// The length of the longest chain of items that are in ever later loops.
fn longest_chain(items: &[usize], before: Option<&BitMatrix>) -> usize {
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
