//! Surveys: loops over segments whose iterations can be counted in any order.
//!
//! A block of such a loop is some iterations of the root. Their steps follow from the lengths of
//! their segments alone. So threads count the steps of different blocks at once, and a sum of these
//! counts tells where each block begins.
//!
//! Segments of segments take several *stages*. The lengths of inner segments follow those of all
//! earlier blocks. So threads count the outer segments of blocks, then the inner segments of blocks
//! whose beginning among these is known.

use super::origins::Origins;
use super::placing_groups;
use crate::ir::{
    Atom, Combine, Group, Loop, Place, RateId, RateKind, Section, StmtKind, Type, Var,
};
use crate::op::Op;
use crate::types::{Const, Ty};
use crate::walk;
use rustc_hash::{FxHashMap, FxHashSet};

/// Describes how to count the iterations of a loop over segments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Survey {
    /// The root's counter.
    pub counter: Var,
    /// The root's bound. Only the root's guard reads it.
    pub bound: Var,
    /// The inner loops. A loop comes after those around it.
    pub inner: Vec<InnerCount>,
    /// The number of stages. Steps can be counted in the last one.
    pub stages: usize,
    /// Whether each iteration reaches all inner loops around which no other goes, and nothing else
    /// takes steps.
    pub alone: bool,
}

/// Describes how to count the elements of an inner loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InnerCount {
    /// The counter of all elements so far. None if it begins anew.
    pub counter: Option<Var>,
    /// The most that it may reach.
    ///
    /// A loop without a trap never counts further. A sum of counts must be checked against it.
    pub limit: Option<Atom>,
    /// The stage in which it can be counted.
    pub stage: usize,
    /// The loop around it, or none for the root.
    pub around: Option<usize>,
    /// The lengths of segments. None if they must be computed.
    pub lengths: Option<SegmentLengths>,
}

/// Tells where the lengths of segments are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SegmentLengths {
    /// All segments have this length.
    Same(Atom),
    /// They are elements of an array of integers, or differences of neighbours.
    InMemory {
        /// The array, a parameter.
        array: Var,
        /// The index of a length, or of a segment's end, less the counter of the loop around.
        shift: Atom,
        /// The same for the segment's beginning, if elements are offsets.
        begin: Option<Atom>,
    },
}

/// Analyses a loop over segments, whose inner loops only end at their bounds.
///
/// The result is none if an iteration's steps depend on earlier iterations, except by how far the
/// elements of segments go. Segments may be nested: an inner loop's lengths are found by how far the
/// loop around it goes.
///
/// ```
/// let text = "loop sums
/// comb 0 manifest at r0
/// comb 1 sum at r1
/// param arr_0: [u64] stream r0
/// param len_1: u64
/// rate r0 root ix_0 < len_0 { stage 0; child r1 }
/// rate r1 nested r0 ix_1 < end_1 { stage 0 }
/// group ix_1 owner r0 step r1 start 0 id 0 next nix_1 combine add level 0 exact
/// trap t0 1 segments
/// init_0, init_1:
///   let len_0 = arrayLength arr_0
///   carry ix_0 = 0
///   carry ix_1 = 0
/// guard_0:
///   let more_0 = lt ix_0 len_0
///   unless more_0
/// body_0:
///   let elt_0 = readArray arr_0 ix_0
/// nest_1:
///   let capacity_1 = sub len_1 ix_1
///   let fits_1 = le elt_0 capacity_1
///   trap unless fits_1, t0 (elt_0, capacity_1)
///   let size_1 = select fits_1 elt_0 0
///   let end_1 = add ix_1 size_1
/// guard_1:
///   let more_1 = lt ix_1 end_1
///   unless more_1
/// bottom_1:
///   let nix_1 = add ix_1 1
///   ix_1 := nix_1
/// bottom_0:
///   let nix_0 = add ix_0 1
///   ix_0 := nix_0
/// done_0:
///   return ix_1
/// ";
/// let mut program = loop_lang::parse::parse(text).unwrap();
/// loop_lang::gotos::complete_blocks(&mut program);
/// loop_lang::gotos::derive_gotos(&mut program);
/// let survey = loop_lang::chunkable::survey(&program).unwrap();
/// // `len_1` limits the elements, and their lengths are in memory.
/// let elements = &survey.inner[0];
/// assert!(elements.limit.is_some() && elements.lengths.is_some() && survey.stages == 1);
/// ```
pub fn survey(program: &Loop) -> Option<Survey> {
    let [root] = program.roots[..] else {
        return None;
    };
    let RateKind::Root {
        counter,
        bound: Atom::Var(bound),
    } = program.rate(root).kind
    else {
        return None;
    };
    let origins = Origins::of(program);
    if origins.reads_in_iterations(bound) != 1 || origins.tree.ways_out(program, root) != 1 {
        return None;
    }
    let mut inner_loops = InnerLoops::of(&origins, root, counter)?;
    let leaving = origins.exits_around_loops();
    let mut limits = FxHashMap::default();
    let mut inner: Vec<InnerCount> = Vec::new();
    for i in 0..inner_loops.all.len() {
        let InnerLoop {
            counter,
            around,
            size,
            goes_on,
        } = inner_loops.all[i];
        let sizes = inner_loops.stage(size, &mut limits)?;
        // It runs as often as the loop around it has elements.
        let stage = around.map_or(0, |i: usize| inner[i].stage).max(sizes);
        inner_loops
            .stages
            .extend(goes_on.then_some((counter, stage)));
        inner.push(InnerCount {
            counter: goes_on.then_some(counter),
            limit: None,
            stage,
            around,
            lengths: inner_loops.lengths(i),
        });
    }
    for condition in &leaving {
        if inner_loops.stage(*condition, &mut limits)? > 0 {
            return None;
        }
    }
    for (count, of) in inner.iter_mut().zip(&inner_loops.all) {
        count.limit = limits.get(&of.counter).copied();
        let is_fixed = of.size.var().is_none_or(|v| origins.fixed.contains(&v));
        let same = |(v, _): (&Var, &Atom)| inner_loops.size_of(*v) == Some(of.size);
        if of.goes_on && !is_fixed && !limits.iter().any(same) {
            return None;
        }
    }
    Some(Survey {
        counter,
        bound,
        stages: 1 + inner.iter().map(|i| i.stage).max()?,
        inner,
        alone: leaving.is_empty(),
    })
}

/// An inner loop.
#[derive(Clone, Copy)]
struct InnerLoop {
    counter: Var,
    /// The loop around it, or none for the root.
    around: Option<usize>,
    /// The steps of one run.
    size: Atom,
    /// Whether its counter goes on from one run to the next.
    goes_on: bool,
}

/// The inner loops of a root.
struct InnerLoops<'o, 'a> {
    origins: &'o Origins<'a>,
    /// The root's counter.
    counter: Var,
    all: Vec<InnerLoop>,
    /// The stages of counters that go on, as far as they are found.
    stages: FxHashMap<Var, usize>,
    /// Conditions that trap where they do not hold.
    checked: FxHashSet<Var>,
    /// Elements with their arrays and indices.
    reads: FxHashMap<Var, (Var, Atom)>,
}

impl<'o, 'a> InnerLoops<'o, 'a> {
    fn of(origins: &'o Origins<'a>, root: RateId, counter: Var) -> Option<InnerLoops<'o, 'a>> {
        let program = origins.program;
        let mut all: Vec<InnerLoop> = Vec::new();
        for (i, rate) in program.rates.iter().enumerate() {
            let RateKind::Nested {
                parent,
                counter,
                bound,
                ..
            } = rate.kind
            else {
                continue;
            };
            if origins.tree.ways_out(program, RateId::new(i)) != 1 {
                return None;
            }
            let parent = program.loop_rate(parent);
            let of_parent =
                |of: &InnerLoop| program.rate(parent).kind.counter() == Some(of.counter);
            let around = match parent == root {
                true => None,
                false => Some(all.iter().position(of_parent)?),
            };
            let goes_on = origins.carries.get(&counter)?.0 == Place::Init;
            let size = match goes_on {
                true => origins.size(counter, bound)?,
                false => bound,
            };
            all.push(InnerLoop {
                counter,
                around,
                size,
                goes_on,
            });
        }
        let goes_on = |v: Var| all.iter().any(|of| of.counter == v && of.goes_on);
        let placing = placing_groups(program);
        let mut groups = program.groups.iter().zip(placing);
        let fits = groups.all(|(group, placing)| {
            !placing || group.owner != root || matches!(group.vars[..], [v] if goes_on(v))
        });
        let adds = |of: &InnerLoop| {
            let group = origins.group_of.get(&of.counter);
            let group = group.map(|id| &program.groups[id.index()]);
            let adds = |g: &Group| g.owner == root && g.combine == Some(Combine::Op(Op::Add));
            !of.goes_on || group.is_some_and(adds)
        };
        let (mut checked, mut reads) = (FxHashSet::default(), FxHashMap::default());
        for stmt in origins.blocks.iter().flat_map(|(_, block)| &block.stmts) {
            match &stmt.kind {
                StmtKind::Trap { unless, .. } => checked.extend(unless.var()),
                StmtKind::ReadArray(v, array, i) => {
                    reads.insert(*v, (*array, *i));
                }
                _ => {}
            }
        }
        (fits && all.iter().all(adds)).then_some(InnerLoops {
            origins,
            counter,
            all,
            stages: FxHashMap::default(),
            checked,
            reads,
        })
    }

    /// Returns the steps of one run of a loop whose counter goes on.
    fn size_of(&self, counter: Var) -> Option<Atom> {
        let of = self
            .all
            .iter()
            .find(|of| of.counter == counter && of.goes_on);
        of.map(|of| of.size)
    }

    /// Finds the first stage in which an iteration's number and known counters give a value.
    ///
    /// It may depend on its own counter in a trap. The limit that the trap guards is added to
    /// `limits`.
    fn stage(&self, a: Atom, limits: &mut FxHashMap<Var, Atom>) -> Option<usize> {
        let origins = self.origins;
        let (mut stack, mut seen) = (Vec::from_iter(a.var()), FxHashSet::default());
        let mut stage = 0;
        while let Some(v) = stack.pop() {
            if v == self.counter || !seen.insert(v) {
                continue;
            }
            if let Some(of) = self.stages.get(&v) {
                stage = stage.max(of + 1);
                continue;
            }
            if origins.starts_anew(v) {
                origins.behind_inner(v, &mut stack);
                continue;
            }
            let changes = origins.group_of.contains_key(&v) || origins.carries.contains_key(&v);
            if changes || origins.made.contains(&v) {
                return None;
            }
            if origins.fixed.contains(&v) {
                continue;
            }
            match self.limited(v) {
                Some((counter, limit, size)) => {
                    limits.insert(counter, limit);
                    stack.extend(size.var());
                }
                None => stack.extend(origins.operands.get(&v).into_iter().flatten()),
            }
        }
        Some(stage)
    }

    /// Finds the lengths of a loop's segments, if they are at hand.
    fn lengths(&self, i: usize) -> Option<SegmentLengths> {
        let InnerLoop {
            counter,
            around,
            size,
            goes_on,
        } = self.all[i];
        let is_fixed = size.var().is_none_or(|v| self.origins.fixed.contains(&v));
        if is_fixed {
            let (_, start) = *self.origins.carries.get(&counter)?;
            let from_zero = start == Atom::Const(Const::u64(0));
            return (goes_on || from_zero).then_some(SegmentLengths::Same(size));
        }
        let outer = around.map(|i| self.all[i]);
        if !goes_on || outer.is_some_and(|of| !of.goes_on) {
            return None;
        }
        let index = outer.map_or(self.counter, |of| of.counter);
        let v = self.checked_value(size.var()?);
        if let Some((array, shift)) = self.read(v, index) {
            let begin = None;
            return Some(SegmentLengths::InMemory {
                array,
                shift,
                begin,
            });
        }
        let (Op::Sub, [Atom::Var(end), Atom::Var(begin)]) = *self.origins.lets.get(&v)? else {
            return None;
        };
        let is_wide = self.origins.program.ty(v) == Type::Scalar(Ty::U64);
        let (array, shift) = self.read(self.checked_value(*end), index)?;
        let (same, begin) = self.read(self.checked_value(*begin), index)?;
        let begin = Some(begin);
        (is_wide && same == array).then_some(SegmentLengths::InMemory {
            array,
            shift,
            begin,
        })
    }

    /// Returns the value that a variable has if nothing traps, before casts to 64 bits.
    fn checked_value(&self, mut v: Var) -> Var {
        let is_wide = |v: Var| self.origins.program.ty(v) == Type::Scalar(Ty::U64);
        loop {
            v = match self.origins.lets.get(&v) {
                Some((Op::Select, [Atom::Var(p), Atom::Var(x), _])) if self.checked.contains(p) => {
                    *x
                }
                Some((Op::Cast, [Atom::Var(x)])) if is_wide(v) => *x,
                _ => return v,
            };
        }
    }

    /// Returns the array of integers that a variable is read from, and its index less a counter.
    fn read(&self, v: Var, counter: Var) -> Option<(Var, Atom)> {
        let (array, index) = *self.reads.get(&v)?;
        let program = self.origins.program;
        let is_param = program.params.iter().any(|p| p.var == array);
        let is_int = program.ty(array).elem().is_int();
        let counter = Atom::Var(counter);
        let shift = match self.origins.lets.get(&index.var()?) {
            None if index == counter => Atom::Const(Const::u64(0)),
            Some((Op::Add, [a, b])) if *a == counter => *b,
            Some((Op::Add, [a, b])) if *b == counter => *a,
            _ => return None,
        };
        let is_fixed = shift.var().is_none_or(|v| self.origins.fixed.contains(&v));
        (is_param && is_int && is_fixed).then_some((array, shift))
    }

    /// Takes apart the size of a segment that is zero where it exceeds the rest of its array.
    ///
    /// Returns the counter, the most it may reach, and the size where it fits.
    fn limited(&self, v: Var) -> Option<(Var, Atom, Atom)> {
        let lets = &self.origins.lets;
        let (Op::Select, [Atom::Var(fits), size, _]) = *lets.get(&v)? else {
            return None;
        };
        let (Op::Le, [x, Atom::Var(rest)]) = *lets.get(fits)? else {
            return None;
        };
        let (Op::Sub, [limit, Atom::Var(counter)]) = *lets.get(rest)? else {
            return None;
        };
        let is_fixed = limit.var().is_none_or(|v| self.origins.fixed.contains(&v));
        let is_size = self.size_of(*counter) == Some(Atom::Var(v));
        let is_checked = x == size && self.checked.contains(fits);
        (is_fixed && is_size && is_checked).then_some((*counter, *limit, *size))
    }
}

impl Origins<'_> {
    /// Returns the steps of a loop whose counter goes on to a bound.
    fn size(&self, counter: Var, bound: Atom) -> Option<Atom> {
        let counter = Atom::Var(counter);
        match *self.lets.get(&bound.var()?)? {
            (Op::Add, [x, y]) if *x == counter => Some(*y),
            (Op::Add, [x, y]) if *y == counter => Some(*x),
            _ => None,
        }
    }

    /// Tells whether an inner loop starts a variable, for its own iterations.
    fn starts_anew(&self, v: Var) -> bool {
        let group = self
            .group_of
            .get(&v)
            .map(|id| &self.program.groups[id.index()]);
        group.is_some_and(|group| !self.program.roots.contains(&group.owner))
    }

    /// Adds the operands of a variable that an inner loop starts, and the conditions of its updates.
    fn behind_inner(&self, v: Var, stack: &mut Vec<Var>) {
        stack.extend(self.operands.get(&v).into_iter().flatten());
        for (rate, _) in self.assigned.get(&v).into_iter().flatten() {
            let mut at = Some(*rate).filter(|r| !self.program.roots.contains(r));
            while let Some(rate) = at {
                if let Some(guard) = self.guards[rate.index()] {
                    walk::leaving(guard, &mut |a| stack.extend(a.var()));
                }
                let above = self.program.rate(rate).kind.parent();
                at = above.filter(|r| !self.program.roots.contains(r));
            }
        }
    }

    /// Counts the reads of a variable by iterations.
    fn reads_in_iterations(&self, v: Var) -> usize {
        let mut reads = 0;
        for (place, block) in &self.blocks {
            let last = |rate| self.program.roots.contains(&rate);
            match place {
                Place::Init | Place::Return => continue,
                Place::At {
                    rate,
                    section: Section::Done,
                    ..
                } if last(*rate) => continue,
                Place::At { .. } => {}
            }
            walk::block_uses(block, &mut |read| reads += usize::from(read == v));
        }
        reads
    }

    /// Lists the conditions of exits and branches in loops around others, but for their bounds.
    fn exits_around_loops(&self) -> Vec<Atom> {
        let mut all = Vec::new();
        for (place, block) in &self.blocks {
            let Place::At { rate, section, .. } = *place else {
                continue;
            };
            let of = self.tree.loop_rate(rate);
            let is_bound = matches!(section, Section::Guard | Section::Done) && rate == of;
            if section == Section::Nest || self.above_loops[of.index()] && !is_bound {
                walk::leaving(block, &mut |a| all.push(a));
            }
        }
        all
    }
}
