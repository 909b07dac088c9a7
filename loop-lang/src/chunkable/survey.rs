//! Surveys: loops over segments whose iterations can be counted in any order.
//!
//! A unit of such a loop is some iterations of the root. Their steps follow from the lengths of
//! their segments alone. So threads count the steps of different units at once, and a sum of these
//! counts tells where each unit begins.

use super::origins::Origins;
use super::placing_groups;
use crate::ir::{Atom, Combine, Loop, Place, RateId, RateKind, Section, StmtKind, Type, Var};
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
    /// Variables that count the elements of segments so far, with the most that they may reach.
    ///
    /// A loop without a trap never counts further. A sum of counts must be checked against it.
    pub counts: Vec<(Var, Option<Atom>)>,
    /// Where the lengths of segments are in memory, for each count. None if they must be computed,
    /// or if an iteration takes other steps as well.
    pub lengths: Option<Vec<SegmentLengths>>,
}

/// Describes lengths of segments in memory.
///
/// They are elements, or differences of neighbours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SegmentLengths {
    /// A parameter with integers.
    pub array: Var,
    /// The index of an iteration's length, or of the end of its segment, less its number.
    pub shift: Atom,
    /// The same for the beginning of its segment, if elements are offsets.
    pub begin: Option<Atom>,
}

/// Analyses a loop over segments, whose inner loops only end at their bounds.
///
/// The result is none if an iteration's steps depend on earlier iterations, except by how far the
/// elements of segments go.
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
/// done_0, done_1:
///   return ix_1
/// ";
/// let mut program = loop_lang::parse::parse(text).unwrap();
/// loop_lang::gotos::complete_blocks(&mut program);
/// loop_lang::gotos::derive_gotos(&mut program);
/// let survey = loop_lang::chunkable::survey(&program).unwrap();
/// // `len_1` limits the elements, and their lengths are in memory.
/// assert!(survey.counts[0].1.is_some() && survey.lengths.is_some());
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
    let counted = Counted::of(&origins, root, counter)?;
    let iterations_agree = origins.reads_in_iterations(bound) == 1;
    let mut limits = FxHashMap::default();
    let mut known = |a: Atom| counted.is_known(a, &mut limits);
    let sizes = counted.sizes.values().all(|size| known(*size));
    let bounds = counted.bounds.iter().all(|bound| known(*bound));
    let leaving = origins.exits_around_loops(root);
    let exits = leaving.iter().all(|a| known(*a));
    let has_limit = |v: &Var| {
        let same = |(of, _): &(&Var, &Atom)| counted.sizes[*of] == counted.sizes[v];
        let is_fixed = counted.sizes[v]
            .var()
            .is_none_or(|v| origins.fixed.contains(&v));
        is_fixed || limits.iter().any(|of| same(&of))
    };
    let limited = counted.sizes.keys().all(has_limit);
    (iterations_agree && sizes && bounds && exits && limited).then(|| {
        let groups = counted.sizes.keys();
        let groups = groups.map(|v| (*v, limits.get(v).copied()));
        let mut counts: Vec<_> = groups.collect();
        counts.sort_unstable_by_key(|(v, _)| *v);
        let alone = leaving.is_empty() && counted.bounds.is_empty();
        let lengths = counts
            .iter()
            .map(|(v, _)| counted.lengths(counted.sizes[v]));
        Survey {
            counter,
            bound,
            lengths: lengths.collect::<Option<_>>().filter(|_| alone),
            counts,
        }
    })
}

/// The inner loops of a root.
struct Counted<'o, 'a> {
    origins: &'o Origins<'a>,
    /// The root's counter.
    counter: Var,
    /// Counters that go on from one iteration of the root to the next, with the steps of one.
    sizes: FxHashMap<Var, Atom>,
    /// The bounds of counters that begin anew.
    bounds: Vec<Atom>,
    /// Conditions that trap where they do not hold.
    checked: FxHashSet<Var>,
    /// Elements with their arrays and indices.
    reads: FxHashMap<Var, (Var, Atom)>,
}

impl<'o, 'a> Counted<'o, 'a> {
    fn of(origins: &'o Origins<'a>, root: RateId, counter: Var) -> Option<Counted<'o, 'a>> {
        let program = origins.program;
        let (mut sizes, mut bounds) = (FxHashMap::default(), Vec::new());
        for rate in &program.rates {
            let RateKind::Nested { counter, bound, .. } = rate.kind else {
                continue;
            };
            match origins.carries.get(&counter)?.0 {
                Place::Init => {
                    let (Op::Add, [x, y]) = *origins.lets.get(&bound.var()?)? else {
                        return None;
                    };
                    let (x, y) = if *x == Atom::Var(counter) {
                        (x, y)
                    } else {
                        (y, x)
                    };
                    if *x != Atom::Var(counter) {
                        return None;
                    }
                    sizes.insert(counter, *y);
                }
                _ => bounds.push(bound),
            }
        }
        let placing = placing_groups(program);
        let mut groups = program.groups.iter().zip(placing);
        let fits = groups.all(|(group, placing)| {
            let goes_on = || matches!(group.vars[..], [v] if sizes.contains_key(&v));
            !placing || group.owner != root || goes_on()
        });
        let adds = |v: &Var| {
            let group = origins
                .group_of
                .get(v)
                .map(|id| &program.groups[id.index()]);
            group.is_some_and(|g| g.owner == root && g.combine == Some(Combine::Op(Op::Add)))
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
        (fits && sizes.keys().all(adds)).then_some(Counted {
            origins,
            counter,
            sizes,
            bounds,
            checked,
            reads,
        })
    }

    /// Tells whether an iteration's number gives a value.
    ///
    /// It may depend on a counter in a trap. The limit that the trap guards is added to `limits`.
    fn is_known(&self, a: Atom, limits: &mut FxHashMap<Var, Atom>) -> bool {
        let origins = self.origins;
        let (mut stack, mut seen) = (Vec::from_iter(a.var()), FxHashSet::default());
        while let Some(v) = stack.pop() {
            if v == self.counter || !seen.insert(v) {
                continue;
            }
            let changes = origins.group_of.contains_key(&v) || origins.carries.contains_key(&v);
            if changes || origins.made.contains(&v) {
                return false;
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
        true
    }

    /// Finds a segment's length in memory.
    fn lengths(&self, size: Atom) -> Option<SegmentLengths> {
        let v = self.checked_value(size.var()?);
        if let Some((array, shift)) = self.read(v) {
            let begin = None;
            return Some(SegmentLengths {
                array,
                shift,
                begin,
            });
        }
        let (Op::Sub, [Atom::Var(end), Atom::Var(begin)]) = *self.origins.lets.get(&v)? else {
            return None;
        };
        let is_wide = self.origins.program.ty(v) == Type::Scalar(Ty::U64);
        let (array, shift) = self.read(self.checked_value(*end))?;
        let (same, begin) = self.read(self.checked_value(*begin))?;
        (is_wide && same == array).then_some(SegmentLengths {
            array,
            shift,
            begin: Some(begin),
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

    /// Returns the array of integers that a variable is read from, and its index less the root's
    /// counter.
    fn read(&self, v: Var) -> Option<(Var, Atom)> {
        let (array, index) = *self.reads.get(&v)?;
        let program = self.origins.program;
        let is_param = program.params.iter().any(|p| p.var == array);
        let is_int = program.ty(array).elem().is_int();
        let counter = Atom::Var(self.counter);
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
        let is_size = self.sizes.get(counter) == Some(&Atom::Var(v));
        let is_checked = x == size && self.checked.contains(fits);
        (is_fixed && is_size && is_checked).then_some((*counter, *limit, *size))
    }
}

impl Origins<'_> {
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

    /// Lists the conditions of exits and branches outside of the inner loops.
    fn exits_around_loops(&self, root: RateId) -> Vec<Atom> {
        let mut all = Vec::new();
        for (place, block) in &self.blocks {
            let Place::At { rate, section, .. } = *place else {
                continue;
            };
            let is_root = self.tree.loop_rate(rate) == root;
            let around = match section {
                Section::Guard | Section::Done => is_root && rate != root,
                Section::Nest => true,
                _ => is_root,
            };
            if around {
                walk::leaving(block, &mut |a| all.push(a));
            }
        }
        all
    }
}
