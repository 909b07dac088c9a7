//! The straight-line order of a rate's blocks in one iteration.

use super::Region;
use livefusion_backend::facts;
use loop_lang::ir::{End, Part, Place, RateId, RateKind, Section};

/// The maximum nesting depth of subrates in a straight order.
const MAX_DEPTH: usize = 64;

/// Lists the steps of an iteration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// A block's statements.
    Block(usize),
    /// A subrate's guard: its statements, then the admission test.
    Enter(usize),
    /// The end of the admitted part.
    Leave,
}

/// Inner loops, each with the number of preceding steps.
type Begins = Vec<(usize, RateId)>;

impl Step {
    /// Returns the block that contains its statements.
    pub fn block(self) -> Option<usize> {
        match self {
            Step::Block(i) | Step::Enter(i) => Some(i),
            Step::Leave => None,
        }
    }
}

impl Region<'_> {
    /// Returns the block at a place of the rate tree.
    pub(super) fn block_at(&self, rate: RateId, stage: u32, section: Section) -> Option<usize> {
        let place = Place::At {
            rate,
            stage,
            section,
        };
        self.facts.at.get(&place).copied()
    }

    /// Tells whether control always continues to the next block.
    fn is_straight(&self, i: &usize) -> bool {
        let b = self.facts.blocks[*i].block;
        b.exits.is_empty() && matches!(b.end, End::Goto(_))
    }

    /// Returns the straight order of a rate's blocks, the guard first. The result is none if
    /// control can leave that order, as with inner loops. A subrate that admits everything needs
    /// no `Enter` step.
    pub(super) fn steps(&self, rate: RateId) -> Option<Vec<Step>> {
        let (steps, inner) = self.steps_around(rate)?;
        inner.is_empty().then_some(steps)
    }

    /// Like `steps`, for a rate with inner loops. Each inner loop has its number of preceding steps
    /// and begins after the last of them.
    pub(super) fn steps_around(&self, rate: RateId) -> Option<(Vec<Step>, Begins)> {
        let (program, facts) = (self.program, &self.facts);
        let straight = |i: &usize| self.is_straight(i);
        let mut inner = Vec::new();
        let mut steps = vec![Step::Block(self.block_at(rate, 0, Section::Guard)?)];
        // Rates with their next part, and whether a test entered them.
        let mut stack = vec![(rate, 0, false)];
        while let Some((r, position, tested)) = stack.pop() {
            let Some(part) = program.rate(r).parts.get(position) else {
                let bottom = self.block_at(r, 0, Section::Bottom).filter(straight)?;
                steps.extend(tested.then_some(Step::Leave));
                steps.push(Step::Block(bottom));
                continue;
            };
            stack.push((r, position + 1, tested));
            match *part {
                Part::Stage(stage) => {
                    for section in [Section::Body, Section::Yield] {
                        let i = self.block_at(r, stage, section).filter(straight)?;
                        steps.push(Step::Block(i));
                    }
                }
                Part::Child(nested)
                    if r == rate
                        && matches!(program.rate(nested).kind, RateKind::Nested { .. }) =>
                {
                    let ends = [Section::Nest, Section::Done];
                    let [begins, ends] = ends.map(|s| self.block_at(nested, 0, s).filter(straight));
                    steps.push(Step::Block(begins?));
                    inner.push((steps.len(), nested));
                    steps.push(Step::Block(ends?));
                }
                Part::Child(sub) => {
                    let guard = self.block_at(sub, 0, Section::Guard)?;
                    let bottom = Place::At {
                        rate: sub,
                        stage: 0,
                        section: Section::Bottom,
                    };
                    let b = facts.blocks[guard].block;
                    let admits = program.rate(sub).kind.is_sub()
                        && matches!(b.end, End::Goto(_))
                        && facts::targets_of_exits(b)
                            .all(|l| facts.tree.place(program, l) == bottom);
                    if !admits || stack.len() >= MAX_DEPTH {
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
        Some((steps, inner))
    }
}
