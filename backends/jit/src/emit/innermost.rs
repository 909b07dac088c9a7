//! Which innermost loops can run without stops, and which of their accesses cannot miss.

use livefusion_backend::facts::{self, Facts};
use loop_lang::Loop;
use loop_lang::ir::{
    Atom, End, ParamKind, Part as TreePart, Place, RateId, RateKind, Section, Stmt, StmtKind, Var,
};
use loop_lang::op::Op;
use loop_lang::types::Const;
use rustc_hash::{FxHashMap, FxHashSet};

/// Loops with more statements than this are not written a second time.
const MAX_STATEMENTS: usize = 4096;
/// Loops with subrates nested deeper than this, too.
const MAX_DEPTH: usize = 64;

/// One step of an iteration.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// A block's statements.
    Block(usize),
    /// A subrate's guard: its statements, then the test that admits.
    Enter(usize),
    /// The end of what was admitted.
    Leave,
}

/// A loop rate with only subrates below it, whose counter goes up by one to its bound.
pub struct Innermost {
    pub rate: RateId,
    pub counter: Var,
    pub bound: Atom,
    /// What else its guard tests: the loop ends where one of these is false.
    pub exits: Vec<Atom>,
    pub steps: Vec<Step>,
    /// Accesses (array, index) that go up by at most one in an iteration: inside for as many iterations
    /// as there is room before the loop.
    pub proven: FxHashSet<(Var, Var)>,
    /// Parameters that it uses, and arrays that the loop makes.
    pub near: Vec<Var>,
}

impl Innermost {
    /// The blocks that only this loop runs: all but its guard.
    pub fn covered(&self) -> impl Iterator<Item = usize> {
        self.steps.iter().skip(1).filter_map(|step| match step {
            Step::Block(i) | Step::Enter(i) => Some(*i),
            Step::Leave => None,
        })
    }
}

/// The loops of this kind.
pub fn all(program: &Loop, facts: &Facts, made: &[Var]) -> Vec<Innermost> {
    let rates = (0..program.rates.len()).map(RateId::new);
    rates
        .filter_map(|r| innermost(program, facts, made, r))
        .collect()
}

fn innermost(program: &Loop, facts: &Facts, made: &[Var], rate: RateId) -> Option<Innermost> {
    let (RateKind::Root { counter, bound } | RateKind::Nested { counter, bound, .. }) =
        program.rate(rate).kind
    else {
        return None;
    };
    let steps = steps(program, facts, rate)?;
    let exits = facts.other_exits(program, rate, (counter, bound))?;
    let mut body = Body::default();
    for step in &steps {
        if let Step::Block(i) | Step::Enter(i) = step {
            body.add(program, &facts.blocks[*i].block.stmts)?;
            facts::each_leaving_use(facts.blocks[*i].block, &mut |v| {
                body.uses.insert(v);
            });
        }
    }
    let moves = |v: &Var| body.updates.contains_key(v) || body.defs.contains(v);
    let bound_moves = matches!(bound, Atom::Var(v) if moves(&v));
    let counts = body.goes_up_by_one(program, facts, counter);
    if bound_moves || !counts || !body.always_updates(program, facts, &steps, counter) {
        return None;
    }
    // What another loop has folded, and ended, is there as a total.
    let folds = |v: &Var| {
        let (g, ..) = facts.local_group(program, *v)?;
        facts.lane_rate(g, rate)
    };
    let around = |loops: RateId| loops != rate && program.is_within(rate, loops);
    if body.uses.iter().filter_map(folds).any(around)
        || body.updates.keys().filter_map(folds).any(|r| r != rate)
    {
        return None;
    }
    let random = |a: Var| {
        let param = program.params.iter().find(|p| p.var == a);
        param.is_some_and(|p| p.kind == ParamKind::Random)
    };
    let mut proven = FxHashSet::default();
    for (array, index, in_region) in &body.accesses {
        let a = facts.owner(program, made, *array);
        // What only some iterations read may be shorter than the rate: it must not end the loop.
        let sometimes = *in_region && random(a);
        // Few elements may be left of what an exit bounds, and many to go until it is full.
        let in_step = *index == counter || exits.is_empty();
        if !sometimes && in_step && body.goes_up_by_one(program, facts, *index) {
            proven.insert((a, *index));
        }
    }
    let used = body.uses.iter().map(|v| facts.owner(program, made, *v));
    let used: FxHashSet<Var> = used.collect();
    Some(Innermost {
        rate,
        counter,
        bound,
        exits,
        steps,
        proven,
        near: (program.params.iter().map(|p| &p.var))
            .chain(made)
            .filter(|v| used.contains(v))
            .copied()
            .collect(),
    })
}

/// The order of a rate's blocks in an iteration; none if anything in it leaves that order.
fn steps(program: &Loop, facts: &Facts, rate: RateId) -> Option<Vec<Step>> {
    let block = |rate, stage, section| {
        let place = Place::At {
            rate,
            stage,
            section,
        };
        facts.at.get(&place).copied()
    };
    let straight = |i: &usize| {
        let b = facts.blocks[*i].block;
        b.exits.is_empty() && matches!(b.end, End::Goto(_))
    };
    let mut steps = vec![Step::Block(block(rate, 0, Section::Guard)?)];
    let mut stack = vec![(rate, 0)];
    while let Some((r, position)) = stack.pop() {
        let Some(part) = program.rate(r).parts.get(position) else {
            let bottom = block(r, 0, Section::Bottom).filter(straight)?;
            if r != rate {
                steps.push(Step::Leave);
            }
            steps.push(Step::Block(bottom));
            continue;
        };
        stack.push((r, position + 1));
        match *part {
            TreePart::Stage(stage) => {
                for section in [Section::Body, Section::Yield] {
                    steps.push(Step::Block(block(r, stage, section).filter(straight)?));
                }
            }
            TreePart::Child(sub) => {
                let guard = block(sub, 0, Section::Guard)?;
                let bottom = block(sub, 0, Section::Bottom)?;
                let b = facts.blocks[guard].block;
                let mut exits = facts::targets_of_exits(b);
                let to_bottom =
                    exits.all(|l| facts.at.get(&facts.tree.place(program, l)) == Some(&bottom));
                let admits = program.rate(sub).kind.is_sub() && matches!(b.end, End::Goto(_));
                if !admits || !to_bottom || stack.len() >= MAX_DEPTH {
                    return None;
                }
                steps.push(Step::Enter(guard));
                stack.push((sub, 0));
            }
        }
    }
    Some(steps)
}

/// What the statements of an iteration do.
#[derive(Default)]
struct Body {
    statements: usize,
    uses: FxHashSet<Var>,
    defs: FxHashSet<Var>,
    /// What each carried variable is assigned, once per assignment; none for a scan.
    updates: FxHashMap<Var, Vec<Option<Var>>>,
    /// `v + 1`, with `v`.
    successors: FxHashMap<Var, Var>,
    /// Array, index, whether it is in an arm or a scalar loop.
    accesses: Vec<(Var, Var, bool)>,
}

impl Body {
    /// Takes in a block; none if a statement has no place in such a loop.
    fn add(&mut self, program: &Loop, stmts: &[Stmt]) -> Option<()> {
        let mut fits = true;
        let top = stmts.as_ptr_range();
        facts::each_stmt(stmts, &mut |s| {
            let in_region = !top.contains(&std::ptr::from_ref(s));
            self.statements += 1;
            facts::each_use(s, &mut |v| {
                self.uses.insert(v);
            });
            facts::each_def(s, &mut |v| {
                self.defs.insert(v);
            });
            // An update in a region could happen more than once in an iteration.
            facts::each_update(program, s, &mut |_| fits &= !in_region);
            match &s.kind {
                StmtKind::Assign(v, a) => {
                    let next = if let Atom::Var(n) = a { Some(*n) } else { None };
                    self.updates.entry(*v).or_default().push(next);
                }
                StmtKind::Scan { .. } => facts::each_update(program, s, &mut |v| {
                    self.updates.entry(v).or_default().push(None);
                }),
                StmtKind::Let(v, Op::Add, args) => {
                    let one = Atom::Const(Const::u64(1));
                    match args[..] {
                        [Atom::Var(of), c] | [c, Atom::Var(of)] if c == one => {
                            self.successors.insert(*v, of);
                        }
                        _ => {}
                    }
                }
                StmtKind::ReadArray(_, a, Atom::Var(i))
                | StmtKind::WriteArray(a, Atom::Var(i), _) => {
                    self.accesses.push((*a, *i, in_region));
                }
                StmtKind::Carry(..)
                | StmtKind::NewArray(..)
                | StmtKind::FillArray(..)
                | StmtKind::CopyArray(..)
                | StmtKind::SliceArray(..) => fits = false,
                _ => {}
            }
        });
        (fits && self.statements <= MAX_STATEMENTS).then_some(())
    }

    /// Whether a carried variable is updated in one place, to one more than it is.
    fn goes_up_by_one(&self, program: &Loop, facts: &Facts, v: Var) -> bool {
        let next = match self.updates.get(&v).map(Vec::as_slice) {
            Some([Some(next)]) => self.successors.get(next),
            _ => None,
        };
        next == Some(&v) && facts.local_group(program, v).is_none()
    }

    /// Whether the update of `v` is outside of subrates.
    fn always_updates(&self, program: &Loop, facts: &Facts, steps: &[Step], v: Var) -> bool {
        let mut depth = 0;
        for step in steps {
            match step {
                Step::Enter(_) => depth += 1,
                Step::Leave => depth -= 1,
                Step::Block(i) if depth == 0 => {
                    let mut found = false;
                    for s in &facts.blocks[*i].block.stmts {
                        facts::each_update(program, s, &mut |u| found |= u == v);
                    }
                    if found {
                        return true;
                    }
                }
                Step::Block(_) => {}
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loop_lang::state::Layout;

    /// A loop over segments that folds each, and then reads what it came to for each element.
    #[test]
    fn loops_that_read_what_others_have_folded_run_without_stops() {
        let text = include_str!("../../../c/tests/loops/shares.loop");
        let mut program = loop_lang::parse::parse(text).unwrap();
        loop_lang::gotos::derive_gotos(&mut program);
        loop_lang::verify::verify(&program).unwrap();
        let layout = Layout::of(&program);
        let facts = Facts::of(&program, &layout.arrays, &layout.held).unwrap();
        let plans = all(&program, &facts, &layout.arrays);
        let nested = |r: &RateId| matches!(program.rate(*r).kind, RateKind::Nested { .. });
        let rates: Vec<RateId> = (0..program.rates.len()).map(RateId::new).collect();
        let innermost: Vec<RateId> = rates.into_iter().filter(nested).collect();
        assert_eq!(plans.iter().map(|p| p.rate).collect::<Vec<_>>(), innermost);
        assert!(innermost.len() > 1);
    }
}
