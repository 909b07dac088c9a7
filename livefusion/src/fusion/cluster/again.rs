//! Recompute or keep: what a later loop may compute again, rather than read from memory, and what that costs.
//!
//! To keep an array is to write it, and to read it wherever it is used. To compute it again is to read what
//! it is made of, if the loop does not anyway, and to apply its operators once more. Which is less is a
//! question of the objective, and the search asks it for every item and every loop; here is what may be asked.
//!
//! * *How many bytes an operator is worth.* A core applies an operator to some hundred bytes of vectors in the
//!   time in which memory gives it a dozen. So an operator on so many bytes is worth an [eighth](OPERATORS) of
//!   them.
//! * *What is never computed again.* What costs much: transcendental functions, divisions, scalar loops,
//!   reads at an index (but for those of a `generate` that go through memory in order). What does more than
//!   hand on elements: updates, zips by cursors, combinators of users, tests that end a loop. And what folds
//!   or scans: floats would be added up in another order, and a node has the same bits wherever it is computed.
//! * *What serves one item alone* is computed again with it, so that both stay together. What serves a costly
//!   one stays where that is.
//!
//! What is computed again traps as it did before, so that no trap comes or goes.

use super::problem::{Again, Item, Problem};
use crate::ast::{Body, Kind, Term, TermId};
use crate::fusion::pull::{Pulls, is_shifted};
use crate::fusion::rates::Rates;
use crate::sharing::{Graph, NodeId};
use smallvec::{SmallVec, smallvec};

/// How many bytes operators are applied to in the time in which one is read.
const OPERATORS: u64 = 8;

/// How many ways to compute things again for one item in one loop are tried.
const CHOICES: usize = 16;

/// Items that a loop computes again, in order.
pub type Copies = SmallVec<[usize; 2]>;

/// To how many bytes a node applies operators per element, with the generators that it computes on the spot;
/// none if it must not be computed again.
pub fn operated(
    graph: &Graph,
    rates: &Rates,
    pulls: &Pulls,
    free: &[bool],
    n: NodeId,
) -> Option<u64> {
    let node = &graph.nodes[n.index()];
    let facts = node.node.kind.facts();
    if !facts.again {
        return None;
    }
    // An element is admitted, or not.
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
            in_order && is_shifted(body, index) && !pulls.is_pulled(array)
        })?;
    }
    for input in node.inputs.iter().filter(|i| free[i.index()]) {
        for body in graph.node(*input).kind.bodies() {
            sum += of_body(body, |_, _, _| false)?;
        }
    }
    Some(sum)
}

/// As [`operated`], of a body that reads at an index only what `reads` allows.
fn of_body(body: &Body, reads: impl Fn(u32, u32, TermId) -> bool) -> Option<u64> {
    let width = |t: &TermId| body.terms[t.index()].ty.size() as u64;
    let mut sum = 0;
    for data in &body.terms {
        let own = data.ty.size() as u64;
        sum += match &data.term {
            Term::Op(op, _) if op.is_costly() => return None,
            Term::Op(_, args) | Term::Flat(args) => args.iter().map(width).fold(own, u64::max),
            Term::Cond(..) | Term::Ensure(..) => own,
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

/// What operators on so many bytes are worth.
pub fn worth(operated: u64, length: u64) -> u64 {
    operated.saturating_mul(length) / OPERATORS
}

/// Allows items to be computed again at these prices, and finds out what serves one item alone.
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
        let again = price.map(|price| Again {
            part: item.clone(),
            price,
            members: smallvec![user],
        });
        problem.items[user].again = again.map(Box::new);
    }
}

/// For what makes arrays: the one item that it serves, and could share a loop with.
fn alone(problem: &Problem) -> Vec<Option<usize>> {
    #[derive(Clone, Copy)]
    enum Users {
        None,
        One(usize),
        Several,
    }
    let mut users = vec![Users::Several; problem.items.len()];
    for field in problem.fields.iter().filter(|f| f.bytes > 0) {
        if let Some(maker) = field.maker {
            users[maker] = Users::None;
        }
    }
    for (i, item) in problem.items.iter().enumerate() {
        for link in &item.links {
            users[link.from] = match (users[link.from], link.prevents) {
                (Users::None, None) => Users::One(i),
                _ => Users::Several,
            };
        }
    }
    let lengths = problem.classes.iter().filter_map(|c| c.lengths());
    let wanted = (0..problem.fields.len()).filter(|f| problem.fields[*f].stored);
    for field in wanted.chain(lengths) {
        if let Some(maker) = problem.fields[field].maker {
            users[maker] = Users::Several;
        }
    }
    let one = |u: Users| match u {
        Users::One(user) => Some(user),
        _ => None,
    };
    users.into_iter().map(one).collect()
}

/// The ways to compute again what an item needs, each a set of items, in a loop that computes or reads all
/// but those that are `open`; and whether there are more.
pub fn choices(
    problem: &Problem,
    item: usize,
    open: impl Fn(usize) -> bool,
) -> (Vec<Copies>, bool) {
    let may = |from: usize| problem.items[from].again.is_some() && open(from);
    let mut more = false;
    // What is needed, the latest last, and whether it must be there.
    let mut need = |needs: &mut Vec<(usize, bool)>, of: &Item, again: bool| {
        let links = of.links.iter().filter(|k| !k.apart);
        for link in links.filter(|k| may(k.from)) {
            let must = again && link.alone;
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
        if let Some(again) = &problem.items[m].again {
            copies.push(m);
            need(&mut needs, &again.part, true);
            stack.push((needs, copies));
        }
        if !must {
            stack.push(without);
        }
    }
    (found, more)
}
