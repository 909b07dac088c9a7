//! Growing arrays: written element by element in order, and then cut, so they may begin short.

use super::origins::Origins;
use crate::ir::{Atom, CombId, End, Loop, Place, RateId, RateKind, Stmt, StmtKind, Var};
use crate::walk;
use rustc_hash::{FxHashMap, FxHashSet};

/// Describes an array that may be allocated short.
///
/// Its size is only an upper bound of its length. It may have fewer elements until more are
/// written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Growing {
    /// The array.
    pub array: Var,
    /// The carried variable that indexes all writes. It begins at zero or above, and never
    /// decreases.
    pub at: Var,
    /// The maximum increase of that variable per step.
    pub most: u64,
    /// The combinator that makes the array.
    pub comb: CombId,
}

/// Lists the arrays that may be allocated short.
///
/// ```
/// let text = "loop small
/// comb 0 iota at r0
/// comb 1 filter at r1
/// param len_0: u64
/// rate r0 root ix_0 < len_0 { stage 0; child r1 }
/// rate r1 sub r0 count ix_1 { stage 0 }
/// group ix_1 owner r0 step r1 start 0 id 0 next nix_1 combine add level 0 exact
/// init_0, init_1:
///   carry ix_0 = 0
///   carry ix_1 = 0
///   let out_1 = newArray u64 len_0
/// guard_0:
///   let more_0 = lt ix_0 len_0
///   unless more_0
/// guard_1:
///   let p_1 = lt ix_0 3
///   unless p_1
/// yield_1:
///   writeArray out_1 ix_1 ix_0
///   let nix_1 = add ix_1 1
///   ix_1 := nix_1
/// bottom_0:
///   let nix_0 = add ix_0 1
///   ix_0 := nix_0
/// done_0, done_1:
///   let res_1 = sliceArray out_1 ix_1
///   return res_1
/// ";
/// let mut program = loop_lang::parse::parse(text).unwrap();
/// loop_lang::gotos::complete_blocks(&mut program);
/// loop_lang::gotos::derive_gotos(&mut program);
/// let growing = loop_lang::chunkable::growing(&program);
/// assert_eq!((growing.len(), growing[0].most), (1, 1));
/// ```
pub fn growing(program: &Loop) -> Vec<Growing> {
    let stmts = || program.blocks.iter().flat_map(|(_, block)| &block.stmts);
    if !stmts().any(|s| matches!(s.kind, StmtKind::SliceArray(..))) {
        return Vec::new();
    }
    let origins = Origins::of(program);
    let mut uses = IndexedUses::default();
    for (place, block) in &origins.blocks {
        for stmt in &block.stmts {
            walk::each(stmt, &mut |s| uses.stmt(*place, s));
        }
        if let End::Return(results) = &block.end {
            uses.whole.extend(results.iter().filter_map(|a| a.var()));
        }
    }
    let may = |(array, comb): (&Var, &CombId)| {
        let at = (*uses.written.get(array)?)?;
        let is_cut = uses.cut.contains(array) && !uses.whole.contains(array);
        let is_own = is_cut && !program.is_scratch(*array);
        let most = is_own.then(|| origins.raised_by(at)).flatten()?;
        Some(Growing {
            array: *array,
            at,
            most,
            comb: *comb,
        })
    };
    let mut all: Vec<Growing> = uses.made.iter().filter_map(may).collect();
    all.sort_unstable_by_key(|g| g.array);
    all
}

/// Holds the uses of a loop's arrays.
#[derive(Default)]
struct IndexedUses {
    /// New arrays, and their combinators.
    made: FxHashMap<Var, CombId>,
    /// The variable that indexes all writes, if there is only one.
    written: FxHashMap<Var, Option<Var>>,
    cut: FxHashSet<Var>,
    /// Arrays that are used other than element by element.
    whole: FxHashSet<Var>,
}

impl IndexedUses {
    fn stmt(&mut self, place: Place, s: &Stmt) {
        match &s.kind {
            StmtKind::NewArray(a, _) => {
                let again = self.made.insert(*a, s.comb).is_some();
                if again || place != Place::Init {
                    self.whole.insert(*a);
                }
            }
            StmtKind::WriteArray(a, i, _) => {
                let known = self.written.entry(*a).or_insert(i.var());
                *known = known.filter(|v| *i == Atom::Var(*v));
            }
            StmtKind::SliceArray(_, a, _) => _ = self.cut.insert(*a),
            StmtKind::ScatterArray { arrays, .. } | StmtKind::SortArrays(arrays, _) => {
                self.whole.extend(arrays);
            }
            StmtKind::ArrayLength(_, a) | StmtKind::CopyArray(_, a) => _ = self.whole.insert(*a),
            _ => {}
        }
    }
}

impl Origins<'_> {
    /// Returns the maximum increase per step of a variable that continues through the loop, if all
    /// its assignments add one.
    fn raised_by(&self, v: Var) -> Option<u64> {
        let assigned = self.assigned.get(&v)?;
        let one_more = |next: &Option<Atom>| {
            let next = next.and_then(Atom::var);
            next.is_some_and(|next| self.is_one_more(v, next))
        };
        let runs_on = matches!(self.carries.get(&v), Some((Place::Init, _)));
        let may =
            runs_on && assigned.iter().all(|(_, next)| one_more(next)) && self.is_open(assigned);
        may.then_some(assigned.len() as u64)
    }

    /// Tells whether the final count may be below its bound. Either only filters count, or one loop
    /// counts that may exit early. If part of the elements is counted unconditionally, the bound is
    /// a good estimate.
    fn is_open(&self, assigned: &[(RateId, Option<Atom>)]) -> bool {
        let kind = |rate: &RateId| self.program.rate(*rate).kind;
        let rates = || assigned.iter().map(|(rate, _)| rate);
        let has_exits =
            |rate: &RateId| self.guards[rate.index()].is_some_and(|g| g.exits.len() > 1);
        let is_root = |rate: &RateId| matches!(kind(rate), RateKind::Root { .. });
        let mut all = self.program.rates.iter();
        let cursors = all.any(|r| matches!(r.kind, RateKind::Cursor { .. }));
        rates().all(|r| kind(r).is_sub())
            || assigned.len() == 1 && !cursors && rates().all(|r| is_root(r) && has_exits(r))
    }
}
