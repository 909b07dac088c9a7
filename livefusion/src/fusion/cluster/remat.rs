//! Rematerialisation: lists the items that later loops may recompute, and their prices.
//!
//! A materialised array is written once and read by each consumer. A rematerialised array costs the
//! reads of its operands, unless the loop reads them anyway, and one more application of its
//! operators. The search compares both costs for every item and loop. This module defines the
//! allowed choices.
//!
//! * *The price of an operator.* A core applies an operator to some hundred bytes of vectors in the
//!   time in which memory delivers a dozen bytes. So an operator is priced at an
//!   [eighth](OPERATORS) of the bytes that it is applied to.
//!
//! * *Items that are never rematerialised.* First, costly ones: transcendental functions,
//!   divisions, scalar loops and reads at an index. Reads of a `generate` that traverse memory in
//!   order are allowed. Second, nodes with more than elementwise work: updates, zips by cursors,
//!   user combinators, and tests that end a loop. Third, folds and scans: they would add floats in
//!   another order, and a node must have the same bits in every loop.
//!
//! * *Items with a single user.* Such an item is rematerialised together with its user, so both
//!   stay in one loop. An item with a costly user stays where its user is.
//!
//! A rematerialised item traps exactly as the original does, so no trap is added or lost.

use super::problem::{ClusterItem, Problem, Remat};
use crate::ast::{Body, Kind, Term, TermId};
use crate::fusion::inline::{Inlining, is_shifted};
use crate::fusion::rates::Rates;
use crate::sharing::{Graph, NodeId};
use smallvec::{SmallVec, smallvec};

/// The number of bytes that operators process in the time of reading one byte.
const OPERATORS: u64 = 8;

/// The maximal number of choices for one item in one loop.
const CHOICES: usize = 16;

/// Lists items that a loop rematerialises, in order.
pub type Copies = SmallVec<[usize; 2]>;

/// Returns the bytes per element that a node applies operators to.
///
/// It includes inlined generators. None if the node must not be rematerialised.
pub fn operated(
    graph: &Graph,
    rates: &Rates,
    inlining: &Inlining,
    free: &[bool],
    n: NodeId,
) -> Option<u64> {
    let node = &graph.nodes[n.index()];
    let facts = node.node.kind.facts();
    if !facts.remat {
        return None;
    }
    // Each element passes the filter or not.
    let own = match facts.passes_on {
        true => graph.node(n).types.iter().map(|t| t.size() as u64).max()?,
        false => 0,
    };
    if rates.sides(n).is_some() || rates.cursors_of(n).is_some() {
        return None;
    }
    let in_order = matches!(node.node.kind, Kind::Generate(..));
    let mut sum = own;
    for (body, captures) in node.node.kind.bodies().iter().zip(&node.captures) {
        sum += of_body(body, |capture, field, index| {
            let (array, _) = graph.resolve(captures[capture as usize], field);
            in_order && is_shifted(body, index) && !inlining.is_inlined(array)
        })?;
    }
    for input in node.inputs.iter().filter(|i| free[i.index()]) {
        for body in graph.node(*input).kind.bodies() {
            sum += of_body(body, |_, _, _| false)?;
        }
    }
    Some(sum)
}

/// Returns the bytes that one body applies operators to.
///
/// None if it is costly, or reads at an index that `reads` refuses.
pub fn of_body(body: &Body, reads: impl Fn(u32, u32, TermId) -> bool) -> Option<u64> {
    let width = |t: &TermId| body.terms[t.index()].ty.size() as u64;
    let mut sum = 0;
    for data in &body.terms {
        let own = data.ty.size() as u64;
        sum += match &data.term {
            Term::Op(op, _) if op.is_costly() => return None,
            Term::Op(_, args) | Term::Flat(args) => args.iter().map(width).fold(own, u64::max),
            Term::Cond(..) | Term::Assert(..) => own,
            Term::At {
                capture,
                field,
                index,
                ..
            } => match reads(*capture, *field, *index) {
                true => own,
                false => return None,
            },
            Term::LoopVar(..) | Term::LoopResult(..) => return None,
            Term::Param(_) | Term::Lit(_) | Term::Scalar { .. } => 0,
        };
    }
    Some(sum)
}

/// Returns the price of operators on this many bytes.
pub fn worth(operated: u64, length: u64) -> u64 {
    operated.saturating_mul(length) / OPERATORS
}

/// Allows rematerialisation at these prices, and marks items with a single user.
pub fn allow(problem: &mut Problem, prices: &[Option<u64>]) {
    let alone = alone(problem);
    let mut kept = vec![false; problem.items.len()];
    for (user, price) in prices.iter().enumerate() {
        for link in &mut problem.items[user].links {
            link.alone = alone[link.from] == Some(user);
            link.apart = link.prevents.is_some() && !kept[link.from];
        }
        let item = &problem.items[user];
        let price = price.filter(|_| !item.links.iter().any(|k| k.alone && kept[k.from]));
        kept[user] = price.is_none();
        let remat = price.map(|price| Remat {
            part: item.clone(),
            price,
            members: smallvec![user],
        });
        problem.items[user].remat = remat.map(Box::new);
    }
}

/// The single user of each item that makes arrays, if both could share a loop.
fn alone(problem: &Problem) -> Vec<Option<usize>> {
    #[derive(Clone, Copy)]
    enum ItemUsers {
        None,
        One(usize),
        Several,
    }
    let mut users = vec![ItemUsers::Several; problem.items.len()];
    for field in problem.fields.iter().filter(|f| f.bytes > 0) {
        if let Some(maker) = field.maker {
            users[maker] = ItemUsers::None;
        }
    }
    for (i, item) in problem.items.iter().enumerate() {
        for link in &item.links {
            users[link.from] = match (users[link.from], link.prevents) {
                (ItemUsers::None, None) => ItemUsers::One(i),
                _ => ItemUsers::Several,
            };
        }
    }
    let lengths = problem.classes.iter().filter_map(|c| c.lengths());
    let wanted = (0..problem.fields.len()).filter(|f| problem.fields[*f].stored);
    for field in wanted.chain(lengths) {
        if let Some(maker) = problem.fields[field].maker {
            users[maker] = ItemUsers::Several;
        }
    }
    let one = |u: ItemUsers| match u {
        ItemUsers::One(user) => Some(user),
        _ => None,
    };
    users.into_iter().map(one).collect()
}

/// Lists the sets of operands to rematerialise for one item in a loop.
///
/// `open` selects the items that the loop neither computes nor reads yet. The flag says whether
/// there are more choices.
pub fn choices(
    problem: &Problem,
    item: usize,
    open: impl Fn(usize) -> bool,
) -> (Vec<Copies>, bool) {
    let may = |from: usize| problem.items[from].remat.is_some() && open(from);
    let mut more = false;
    // The needed items in ascending order, and whether each is mandatory.
    let mut need = |needs: &mut Vec<(usize, bool)>, of: &ClusterItem, remat: bool| {
        let links = of.links.iter().filter(|k| !k.apart);
        for link in links.filter(|k| may(k.from)) {
            let must = remat && link.alone;
            match needs.binary_search_by_key(&link.from, |n| n.0) {
                Ok(at) => needs[at].1 |= must,
                Err(at) if must || needs.len() < CHOICES => needs.insert(at, (link.from, must)),
                Err(_) => more = true,
            }
        }
    };
    let mut first = Vec::new();
    need(&mut first, &problem.items[item], false);
    let (mut found, mut stack) = (Vec::new(), vec![(first, Copies::new())]);
    while let Some((mut needs, mut copies)) = stack.pop() {
        let Some((m, must)) = needs.pop() else {
            if copies.is_empty() {
                continue;
            }
            if found.len() == CHOICES {
                return (found, true);
            }
            copies.reverse();
            found.push(copies);
            continue;
        };
        // Few copies first.
        let without = (needs.clone(), copies.clone());
        if let Some(remat) = &problem.items[m].remat {
            copies.push(m);
            need(&mut needs, &remat.part, true);
            stack.push((needs, copies));
        }
        if !must {
            stack.push(without);
        }
    }
    (found, more)
}
