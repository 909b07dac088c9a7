//! What no partition can go below, and what needs no decision.

use super::bits::Bits;
use super::problem::{Cost, Field, Item, Problem, Stream};

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
    let mut in_tree: Vec<Vec<usize>> = vec![Vec::new(); problem.classes.len()];
    for (i, item) in problem.items.iter().enumerate() {
        item.uses.iter().for_each(|f| users[*f].push(i));
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
    let mut bytes = 0u64;
    for (f, (reads, written)) in problem.fields.iter().zip(reads.iter().zip(&written)) {
        let times = *reads as u64 + *written as u64;
        bytes = bytes.saturating_add(f.bytes.saturating_mul(times));
    }
    Bounds {
        cost: Cost {
            bytes,
            loops: longest_chain(&all, before).max(loops.iter().sum()),
        },
        reads,
        written,
        loops,
    }
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

/// A problem without the decisions that need none, and the item of it that each item went into.
///
/// An item that depends on one other and on nothing else stays with it if it makes a delayed scalar, or if
/// it is the only user of what the other makes and makes no more bytes: wherever it is, moving it there
/// costs nothing, keeps the order of the loops, and takes a class from nobody.
pub fn contract(problem: &Problem) -> (Problem, Vec<usize>) {
    let made = made_by(problem);
    let mut into: Vec<usize> = Vec::with_capacity(problem.items.len());
    let mut small = Problem {
        classes: problem.classes.clone(),
        ..Problem::default()
    };
    let alone = only_users(problem);
    for (i, item) in problem.items.iter().enumerate() {
        if let Some(with) = companion(problem, &made, &alone, i) {
            into.push(into[with]);
            continue;
        }
        into.push(small.items.len());
        let mut new = Item {
            at: item.at.clone(),
            makes: item.makes.clone(),
            ..Item::default()
        };
        for link in &item.links {
            new.link(into[link.from], link.prevents);
        }
        new.streams.extend(item.streams.iter().map(|s| Stream {
            maker: s.maker.map(|m| into[m]),
            class: s.class,
        }));
        small.items.push(new);
    }
    small.fields.extend(problem.fields.iter().map(|f| Field {
        maker: f.maker.map(|m| into[m]),
        ..*f
    }));
    for (i, item) in problem.items.iter().enumerate() {
        let to = into[i];
        for f in &item.uses {
            if small.fields[*f].maker != Some(to) {
                small.items[to].uses.push(*f);
            }
        }
    }
    for item in &mut small.items {
        item.uses.sort_unstable();
        item.uses.dedup();
    }
    (small, into)
}

/// The fields that each item makes.
fn made_by(problem: &Problem) -> Vec<Vec<usize>> {
    let mut made = vec![Vec::new(); problem.items.len()];
    for (f, field) in problem.fields.iter().enumerate() {
        if let Some(maker) = field.maker {
            made[maker].push(f);
        }
    }
    made
}

/// Per field, the one item that uses it, if there is no other use.
fn only_users(problem: &Problem) -> Vec<Option<usize>> {
    let mut users = vec![0; problem.fields.len()];
    let mut only = vec![None; problem.fields.len()];
    for (i, item) in problem.items.iter().enumerate() {
        for f in &item.uses {
            users[*f] += 1;
            only[*f] = Some(i);
        }
    }
    for class in &problem.classes {
        if let super::problem::Class::Nested { lengths, .. } = class {
            users[*lengths] += 2;
        }
    }
    for (f, field) in problem.fields.iter().enumerate() {
        if users[f] != 1 || field.stored {
            only[f] = None;
        }
    }
    only
}

/// The item that an item stays with, if there is no decision to make.
fn companion(
    problem: &Problem,
    made: &[Vec<usize>],
    only: &[Option<usize>],
    i: usize,
) -> Option<usize> {
    let item = &problem.items[i];
    let [link] = item.links.as_slice() else {
        return None;
    };
    let with = &problem.items[link.from];
    let has_class = |c: &usize| with.at.contains(c) || with.makes.contains(c);
    let is_from = |maker: Option<usize>| maker == Some(link.from);
    let stays = link.prevents.is_none()
        && item.makes.is_empty()
        && item.at.iter().all(has_class)
        && item.streams.iter().all(|s| is_from(s.maker))
        && item.uses.iter().all(|f| {
            let field = &problem.fields[*f];
            field.bytes == 0 || is_from(field.maker)
        });
    let bytes = |fields: &[usize]| -> u64 { fields.iter().map(|f| problem.fields[*f].bytes).sum() };
    let more = bytes(&made[i]);
    let is_only_user = || made[link.from].iter().all(|f| only[*f] == Some(i));
    let saves = || is_only_user() && more <= bytes(&made[link.from]);
    (stays && (more == 0 || saves())).then_some(link.from)
}
