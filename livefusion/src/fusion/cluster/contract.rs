//! Contraction: merges items that share a loop in some best partition.
//!
//! Both rules are exchange arguments. Take any partition that separates the two items. Moving one
//! into the other's loop costs nothing, keeps the order of the loops, and takes no class away from
//! other items. This holds if one loop has capacity for all items. If it has not, only light items
//! are merged, and the rules are a heuristic. The members of a merged item that make arrays are
//! rematerialised together, or not at all.

use super::budget::{self, PIECE};
use super::problem::{Class, ClusterItem, Problem, Remat, WRITE};

/// The number of rounds of contraction. Each may enable the next, but few pay off.
const ROUNDS: usize = 3;

/// Returns a smaller problem with the same best cost, and the mapping of items.
pub fn contract(problem: &Problem) -> (Problem, Vec<usize>) {
    let mut into: Vec<usize> = (0..problem.items.len()).collect();
    let mut small = problem.clone();
    let most = if budget::holds(problem) {
        u32::MAX
    } else {
        PIECE
    };
    for _ in 0..ROUNDS {
        let before = small.items.len();
        for rule in [stays, comes_later] {
            let uses = FieldUses::of(&small);
            let with = (0..small.items.len()).map(|i| rule(&small, &uses, i));
            let leaders = leaders(&small, with.collect(), most);
            let (merged, moved) = merge(&small, &leaders);
            into.iter_mut().for_each(|i| *i = moved[*i]);
            small = merged;
        }
        if small.items.len() == before {
            break;
        }
    }
    (small, into)
}

/// The uses of the fields that each item makes.
struct FieldUses {
    /// Per item: the fields that it makes and that have a use.
    made: Vec<Vec<usize>>,
    /// Per field: the only item that uses it, if there is no other use.
    only: Vec<Option<usize>>,
    /// Per item: up to two items that depend on it.
    users: Vec<Vec<usize>>,
}

impl FieldUses {
    fn of(problem: &Problem) -> FieldUses {
        let mut counts = vec![0; problem.fields.len()];
        let mut only = vec![None; problem.fields.len()];
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); problem.items.len()];
        for (i, item) in problem.items.iter().enumerate() {
            for f in &item.uses {
                counts[*f] += 1;
                only[*f] = Some(i);
            }
            for link in &item.links {
                if users[link.from].len() < 2 {
                    users[link.from].push(i);
                }
            }
        }
        // Every loop over segments reads their lengths.
        for class in &problem.classes {
            if let Class::Nested { lengths, .. } = class {
                counts[*lengths] += 2;
            }
        }
        let mut made = vec![Vec::new(); problem.items.len()];
        for (f, field) in problem.fields.iter().enumerate() {
            let live = counts[f] > 0 || field.stored;
            if let Some(maker) = field.maker.filter(|_| live) {
                made[maker].push(f);
            }
            if counts[f] != 1 || field.stored {
                only[f] = None;
            }
        }
        FieldUses { made, only, users }
    }

    /// Whether all results of an item have the same single user.
    fn all_for(&self, maker: usize, user: usize) -> bool {
        let mut made = self.made[maker].iter();
        made.all(|f| self.only[*f] == Some(user))
    }
}

fn bytes(problem: &Problem, fields: &[usize]) -> u64 {
    let sizes = fields.iter().map(|f| problem.fields[*f].bytes);
    sizes.fold(0, u64::saturating_add)
}

/// Merges an item into its only operand if it makes a delayed scalar, or if it is the operand's
/// only user and makes no more bytes.
fn stays(problem: &Problem, uses: &FieldUses, i: usize) -> Option<usize> {
    let item = &problem.items[i];
    let [link] = item.links.as_slice() else {
        return None;
    };
    let with = &problem.items[link.from];
    let has_class = |c: &usize| with.at.contains(c) || with.makes.contains(c);
    let is_from = |maker: Option<usize>| maker == Some(link.from);
    let may = link.prevents.is_none()
        && item.makes.is_empty()
        && (item.floor.is_none() || item.floor == with.floor)
        && item.at.iter().all(has_class)
        && item.streams.iter().all(|s| is_from(s.maker))
        && item.uses.iter().all(|f| {
            let field = &problem.fields[*f];
            field.bytes == 0 || is_from(field.maker)
        });
    let more = bytes(problem, &uses.made[i]);
    // An operand that can be rematerialised could also serve the item in another loop.
    let here = link.alone || with.remat.is_none();
    let for_this = || here && uses.all_for(link.from, i);
    let less = || for_this() && more <= bytes(problem, &uses.made[link.from]);
    (may && (more == 0 || less())).then_some(link.from)
}

/// Merges an item into its only user if its reads cost no more than its result would. The cost
/// counts the reads in the user's loop, and the writes of operands that are not in memory.
fn comes_later(problem: &Problem, uses: &FieldUses, i: usize) -> Option<usize> {
    let item = &problem.items[i];
    let [user] = uses.users[i].as_slice() else {
        return None;
    };
    let with = &problem.items[*user];
    let link = with.links.iter().find(|k| k.from == i)?;
    let fused = link.prevents.is_none();
    // If the user is rematerialised, the item is too, at its own price.
    let remat = match with.remat {
        Some(_) => problem.remat_price(i).filter(|_| link.alone)?,
        None => 0,
    };
    let mut taken = with.streams.iter().filter(|s| s.maker == Some(i));
    let class = taken.next().map(|s| s.class);
    let may = fused
        && item.makes.is_empty()
        && (item.floor.is_none() || item.floor == with.floor)
        && uses.all_for(i, *user)
        && taken.all(|s| Some(s.class) == class)
        && item.at.iter().all(|c| with.at.contains(c))
        && item.streams.iter().all(|s| Some(s.class) == class);
    let read = item.uses.iter().map(|f| {
        let field = &problem.fields[*f];
        let write = if field.maker.is_some() { WRITE } else { 0 };
        field.bytes.saturating_mul(1 + write)
    });
    let read = read.fold(remat, u64::saturating_add);
    let saved = bytes(problem, &uses.made[i]).saturating_mul(1 + WRITE);
    (may && read <= saved).then_some(*user)
}

/// The final item of each chain of merges, as long as the merged weight stays within `most`.
fn leaders(problem: &Problem, with: Vec<Option<usize>>, most: u32) -> Vec<usize> {
    let mut leaders: Vec<usize> = (0..with.len()).collect();
    let mut weights: Vec<u32> = problem.items.iter().map(|i| i.weight).collect();
    let mut join = |i: usize, w: usize| {
        let leader = leaders[w];
        let together = weights[leader].saturating_add(weights[i]);
        if together <= most {
            leaders[i] = leader;
            weights[leader] = together;
        }
    };
    let with = |i: usize| with[i].map(|w| (i, w));
    let all = 0..problem.items.len();
    let earlier = all.clone().filter_map(with).filter(|(i, w)| w < i);
    earlier.for_each(|(i, w)| join(i, w));
    let later = all.rev().filter_map(with).filter(|(i, w)| w > i);
    later.for_each(|(i, w)| join(i, w));
    leaders
}

/// Merges the items of each group. The leader determines its position and classes.
fn merge(problem: &Problem, leaders: &[usize]) -> (Problem, Vec<usize>) {
    let mut place = vec![0; leaders.len()];
    let mut count = 0;
    for (i, leader) in leaders.iter().enumerate() {
        place[i] = count;
        count += (i == *leader) as usize;
    }
    let into: Vec<usize> = leaders.iter().map(|l| place[*l]).collect();
    let mut small = Problem {
        items: vec![ClusterItem::default(); count],
        classes: problem.classes.clone(),
        fields: problem.fields.clone(),
    };
    for field in &mut small.fields {
        field.maker = field.maker.map(|m| into[m]);
    }
    for (i, item) in problem.items.iter().enumerate() {
        let new = &mut small.items[into[i]];
        absorb(problem, new, item, (leaders[i] == i, into[i]), &into);
    }
    // An item without other users is not rematerialised.
    let parts = parts(problem, leaders, &into, count);
    let made = FieldUses::of(&small).made;
    for (i, remat) in parts.into_iter().enumerate() {
        small.items[i].remat = remat.filter(|_| bytes(problem, &made[i]) > 0);
    }
    (small, into)
}

/// Adds an item to its group's merged item, without the dependencies inside the group.
fn absorb(
    problem: &Problem,
    new: &mut ClusterItem,
    item: &ClusterItem,
    (leads, to): (bool, usize),
    into: &[usize],
) {
    new.weight = new.weight.saturating_add(item.weight);
    if leads {
        new.at = item.at.clone();
        new.makes = item.makes.clone();
        new.floor = item.floor;
    }
    for link in item.links.iter().filter(|k| into[k.from] != to) {
        new.link(into[link.from], link.prevents);
        if let Some(known) = new.links.iter_mut().find(|k| k.from == into[link.from]) {
            known.alone |= link.alone;
            known.apart |= link.apart;
        }
    }
    for stream in &item.streams {
        let mut stream = *stream;
        stream.maker = stream.maker.map(|m| into[m]);
        if stream.maker != Some(to) && !new.streams.contains(&stream) {
            new.streams.push(stream);
        }
    }
    let made_here = |f: &usize| problem.fields[*f].maker.is_some_and(|m| into[m] == to);
    new.uses.extend(item.uses.iter().filter(|f| !made_here(f)));
    new.uses.sort_unstable();
    new.uses.dedup();
}

/// The rematerialised part of each group. It leaves out members whose arrays have no other user:
/// scalars are available already, and lengths are checked.
fn parts(
    problem: &Problem,
    leaders: &[usize],
    into: &[usize],
    count: usize,
) -> Vec<Option<Box<Remat>>> {
    let uses = FieldUses::of(problem);
    let mut parts: Vec<Option<Box<Remat>>> = vec![Some(Box::default()); count];
    for (i, item) in problem.items.iter().enumerate() {
        let (to, leads) = (into[i], leaders[i] == i);
        let left_out = bytes(problem, &uses.made[i]) == 0;
        let Some(part) = parts[to].as_mut().filter(|_| !left_out || leads) else {
            continue;
        };
        match &item.remat {
            Some(remat) => {
                absorb(problem, &mut part.part, &remat.part, (leads, to), into);
                part.price = part.price.saturating_add(remat.price);
                part.members.extend_from_slice(&remat.members);
            }
            None => parts[to] = None,
        }
    }
    parts
}
