//! Which innermost loops have a straight form, and what it needs.

use super::body::{Access, Body};
use super::cases::{Case, Test, cases};
use super::stream::Streamed;
use super::vector::{self, Vectors};
use crate::facts::{self, Facts};
use loop_lang::Loop;
use loop_lang::filled::filled;
use loop_lang::ir::{
    Atom, End, GroupId, Order, ParamKind, Part as TreePart, Place, RateId, RateKind, Section, Stmt,
    Type, Var,
};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// Loops with more statements than this stay with the state machine, unless they are cut in pieces.
pub(super) const MAX_STATEMENTS: usize = 4096;
/// Loops with more statements than this are not cut in pieces either.
const MAX_IN_PIECES: usize = 64 << 10;
/// Subrates nested deeper than this stay with the state machine.
const MAX_DEPTH: usize = 64;

/// One step of the straight body.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// A block's statements.
    Block(usize),
    /// A subrate's guard: its statements, then the test that admits.
    Enter(usize),
    /// The end of what was admitted.
    Leave,
}

/// What a straight loop needs.
#[derive(Clone)]
pub struct Plan {
    /// The rate.
    pub rate: RateId,
    /// Its counter.
    pub counter: Var,
    /// Elements per strip; 1 without strips.
    pub strip: u64,
    /// Accesses (array, index) that cannot miss once the loop has been entered.
    pub proven: FxHashSet<(Var, Var)>,
    pub bound: Atom,
    /// What else its guard tests: the loop ends where one of these is false.
    pub exits: Vec<Atom>,
    pub steps: Vec<Step>,
    /// How many statements they have.
    pub statements: usize,
    pub arrays: BTreeSet<Var>,
    /// Arrays that are read without a proof.
    pub checked: BTreeSet<Var>,
    pub scalars: BTreeSet<Var>,
    /// Arrays whose length is looked at.
    pub lengths: BTreeSet<Var>,
    /// Variables at a fixed distance from the counter.
    near: FxHashSet<Var>,
    /// Plain carried variables that it updates, without the counter.
    pub carried: BTreeSet<Var>,
    pub groups: BTreeSet<GroupId>,
    /// Results that are written in step and not looked at.
    pub streamed: Vec<Streamed>,
    /// Whether values are joined onto elements anywhere: no compiler vectorises that, so that what traps is
    /// left by a branch, which costs less than a flag.
    pub scatters: bool,
    /// Its form in vectors.
    pub vectors: Option<Vectors>,
    /// Its form with a run in each lane.
    pub runs: Option<Vectors>,
    /// What is taken for granted.
    pub case: Case,
    /// Comparisons before whose next change the general form stops.
    pub stops: Vec<Test>,
}

/// Plans for the rates that have a straight form.
pub fn plans(program: &Loop, facts: &Facts, made: &[Var]) -> Vec<Plan> {
    let rates = (0..program.rates.len()).map(RateId::new);
    // The same loop writes these from end to end, and does nothing else with them.
    let filled = filled(program);
    let streamed: Vec<Var> = made
        .iter()
        .copied()
        .filter(|a| filled.contains(a))
        .collect();
    rates
        .filter_map(|r| versions(program, facts, (made, &streamed), r))
        .flatten()
        .collect()
}

/// The versions of a rate's straight loop.
fn versions(
    program: &Loop,
    facts: &Facts,
    (made, streamed): (&[Var], &[Var]),
    rate: RateId,
) -> Option<Vec<Plan>> {
    let steps = steps(program, facts, rate)?;
    let (mut plan, body) = plan_within(program, facts, made, (rate, steps), MAX_IN_PIECES)?;
    plan.scatters = body.scatters;
    if !plan.exits.is_empty() {
        // It goes from element to element.
        let fits = plan.strip == 1 && plan.statements <= MAX_STATEMENTS;
        return fits.then(|| vec![plan]);
    }
    let scans = |v: &Var| {
        let group = facts.local_group(program, *v);
        matches!(group, Some((_, _, Order::Prefix(_))))
    };
    if plan.scalars.iter().any(scans) {
        return None;
    }
    let owner = |a: Var| facts.owner(program, made, a);
    for a in streamed {
        let here = body.accesses.iter().find(|x| owner(x.array) == *a);
        if let Some(Atom::Var(index)) = here.map(|x| x.index)
            && let Some(beyond) = body.beyond(plan.counter, index)
        {
            plan.streamed.push(Streamed { array: *a, beyond });
        }
    }
    plan.vectors = vector::fit(program, facts, made, &plan);
    if plan.vectors.is_some() {
        plan.strip = 1;
        plan.streamed.clear();
        return Some(vec![plan]);
    }
    let blocks: Vec<&[Stmt]> = plan
        .blocks()
        .map(|i| &facts.blocks[i].block.stmts[..])
        .collect();
    let outside = |v: Var| {
        let inside = body.defs.contains(&v) || body.updates.contains_key(&v);
        !inside && facts.local_group(program, v).is_none()
    };
    let mut versions = cases(program, plan, &blocks, &outside, &owner);
    if let [plan] = &mut versions[..]
        && plan.stops.is_empty()
    {
        plan.runs = vector::runs(program, facts, made, plan);
    }
    Some(versions)
}

/// What the blocks in `steps` need of a rate's loop; what is joined by an earlier loop of the same
/// iteration is among the scalars.
pub(super) fn plan(
    program: &Loop,
    facts: &Facts,
    made: &[Var],
    rate: RateId,
    steps: Vec<Step>,
) -> Option<(Plan, Body)> {
    let planned = plan_within(program, facts, made, (rate, steps), MAX_STATEMENTS)?;
    planned.0.exits.is_empty().then_some(planned)
}

/// The same for a body of at most so many statements.
fn plan_within(
    program: &Loop,
    facts: &Facts,
    made: &[Var],
    (rate, steps): (RateId, Vec<Step>),
    most: usize,
) -> Option<(Plan, Body)> {
    let (counter, bound) = match program.rate(rate).kind {
        RateKind::Root { counter, bound } | RateKind::Nested { counter, bound, .. } => {
            (counter, bound)
        }
        RateKind::Sub { .. } | RateKind::Cursor { .. } => return None,
    };
    let exits = facts.other_exits(program, rate, (counter, bound))?;
    let mut body = Body::default();
    for step in &steps {
        if let Step::Block(i) | Step::Enter(i) = step {
            body.add(program, facts, &facts.blocks[*i])?;
        }
    }
    if body.statements > most || facts.local_group(program, counter).is_some() {
        return None;
    }
    let bound_moves = matches!(bound, Atom::Var(v) if body.updates.contains_key(&v));
    let one_up = |v: &Var| match body.updates.get(v)?.as_slice() {
        [Some(next)] if facts.local_group(program, *v).is_none() => {
            body.successors.get(next).filter(|of| *of == v)
        }
        _ => None,
    };
    // The counter's own update stands where it is reached in every iteration: at the rate itself.
    if bound_moves
        || one_up(&counter).is_none()
        || !body.always_updates(program, facts, &steps, counter)
    {
        return None;
    }
    let mut plan = Plan {
        rate,
        counter,
        strip: 1,
        proven: FxHashSet::default(),
        bound,
        exits,
        steps,
        statements: body.statements,
        arrays: BTreeSet::new(),
        checked: BTreeSet::new(),
        lengths: BTreeSet::new(),
        near: body.near(counter),
        scalars: BTreeSet::new(),
        carried: BTreeSet::new(),
        groups: BTreeSet::new(),
        streamed: Vec::new(),
        scatters: false,
        vectors: None,
        runs: None,
        case: Case::default(),
        stops: Vec::new(),
    };
    let owner = |a: Var| facts.owner(program, made, a);
    let random = |a: Var| {
        let param = program.params.iter().find(|p| p.var == a);
        param.is_some_and(|p| p.kind == ParamKind::Random)
    };
    for Access {
        array,
        index,
        is_read,
        in_region,
    } in &body.accesses
    {
        let a = owner(*array);
        plan.arrays.insert(a);
        // What only some iterations read may be shorter than the rate: it must not end the loop.
        let sometimes = *in_region && random(a);
        match index {
            // Few elements may be left of what an exit bounds, and many to go until it is full.
            Atom::Var(v)
                if !sometimes
                    && (*v == counter || plan.exits.is_empty() && one_up(v).is_some()) =>
            {
                plan.proven.insert((a, *v));
            }
            _ => {
                plan.lengths.insert(a);
                if *is_read {
                    plan.checked.insert(a);
                }
            }
        }
    }
    plan.lengths.extend(body.measured.iter().map(|a| owner(*a)));
    for v in body.updates.keys().filter(|v| **v != counter) {
        match facts.local_group(program, *v) {
            Some((g, ..)) if facts.lane_rate(g, rate) == Some(rate) => {
                plan.groups.insert(g);
            }
            Some(_) => return None,
            None => {
                plan.carried.insert(*v);
            }
        }
    }
    for v in body.uses.iter().filter(|v| !body.defs.contains(v)) {
        let known = *v == counter || plan.carried.contains(v);
        match (program.ty(*v), facts.local_group(program, *v)) {
            (Type::Array(_), _) => {
                plan.arrays.insert(owner(*v));
            }
            (_, Some((g, ..))) if plan.groups.contains(&g) => {}
            _ if !known => {
                plan.scalars.insert(*v);
            }
            _ => {}
        }
    }
    for g in &plan.groups {
        for a in &program.groups[g.index()].identity {
            if let Atom::Var(v) = a {
                plan.scalars.insert(*v);
            }
        }
    }
    let lanes = plan
        .groups
        .iter()
        .filter_map(|g| match program.groups[g.index()].order {
            Order::Lanes(l) | Order::Prefix(l) if l > 1 => Some(u64::from(l)),
            _ => None,
        });
    plan.strip = lanes.min().unwrap_or(1);
    Some((plan, body))
}

/// The straight order of a rate's blocks; none if anything in it leaves that order.
pub(super) fn steps(program: &Loop, facts: &Facts, rate: RateId) -> Option<Vec<Step>> {
    let block = |rate, stage, section| {
        facts
            .at
            .get(&Place::At {
                rate,
                stage,
                section,
            })
            .copied()
    };
    let straight = |i: usize| {
        let b = facts.blocks[i].block;
        b.exits.is_empty() && matches!(b.end, End::Goto(_))
    };
    let mut steps = Vec::new();
    // Rates with the part that is next, and whether they were entered by a test.
    let mut stack = vec![(rate, 0, false)];
    steps.push(Step::Block(block(rate, 0, Section::Guard)?));
    while let Some((r, position, tested)) = stack.pop() {
        let Some(part) = program.rate(r).parts.get(position) else {
            let bottom = block(r, 0, Section::Bottom)?;
            if !straight(bottom) {
                return None;
            }
            if tested {
                steps.push(Step::Leave);
            }
            steps.push(Step::Block(bottom));
            continue;
        };
        stack.push((r, position + 1, tested));
        match *part {
            TreePart::Stage(stage) => {
                for section in [Section::Body, Section::Yield] {
                    let i = block(r, stage, section)?;
                    if !straight(i) {
                        return None;
                    }
                    steps.push(Step::Block(i));
                }
            }
            TreePart::Child(sub) => {
                let guard = block(sub, 0, Section::Guard)?;
                let bottom = Place::At {
                    rate: sub,
                    stage: 0,
                    section: Section::Bottom,
                };
                let b = facts.blocks[guard].block;
                let to_bottom =
                    facts::targets_of_exits(b).all(|l| facts.tree.place(program, l) == bottom);
                if !program.rate(sub).kind.is_sub()
                    || !to_bottom
                    || !matches!(b.end, End::Goto(_))
                    || stack.len() >= MAX_DEPTH
                {
                    return None;
                }
                let tests = !b.exits.is_empty();
                steps.push(match tests {
                    true => Step::Enter(guard),
                    false => Step::Block(guard),
                });
                stack.push((sub, 0, tests));
            }
        }
    }
    Some(steps)
}

impl Plan {
    /// Its blocks, in order.
    pub(super) fn blocks(&self) -> impl Iterator<Item = usize> {
        self.steps.iter().filter_map(|step| match step {
            Step::Block(i) | Step::Enter(i) => Some(*i),
            Step::Leave => None,
        })
    }

    /// Whether an index is at a fixed distance from the counter.
    pub fn is_near(&self, i: Atom) -> bool {
        matches!(i, Atom::Var(v) if self.near.contains(&v) || self.case.near.contains(&v))
    }
}
