//! Filled arrays: every remaining element was written by the loop.
//!
//! The memory's original contents therefore do not matter.

mod segments;

use crate::chunkable::origins::Origins;
use crate::ir::{Atom, Block, End, Label, Loop, Place, RateId, RateKind, Section, StmtKind, Var};
use crate::op::Op;
use crate::types::Const;
use crate::walk;
use rustc_hash::{FxHashMap, FxHashSet};

/// Returns the `newArray` arrays with only written elements.
///
/// The loop writes all elements before it ends, and does not read them before they are written. Two
/// patterns qualify. First, every iteration writes the array at the rate's counter, and the array's
/// length is the trip count, or it is cut to that. Several phases may write one array, each after
/// the elements of earlier phases. Second, the array is no result, and each read element was
/// written by an earlier pass over the same segment.
///
/// ```
/// let text = "loop squares
/// comb 0 manifest at r0
/// comb 1 map at r0
/// param xs_0: [f64] stream r0
/// rate r0 root ix_0 < len_0 { stage 0 }
/// init_0, init_1:
///   let len_0 = arrayLength xs_0
///   carry ix_0 = 0
///   let out_1 = newArray f64 len_0
/// guard_0, guard_1:
///   let more_0 = lt ix_0 len_0
///   unless more_0
/// body_0, body_1:
///   let elt_0 = readArray xs_0 ix_0
///   let elt_1 = mul elt_0 elt_0
/// yield_0, yield_1:
///   writeArray out_1 ix_0 elt_1
/// bottom_0, bottom_1:
///   let nix_0 = add ix_0 1
///   ix_0 := nix_0
/// done_0, done_1:
///   return out_1
/// ";
/// let mut program = loop_lang::parse::parse(text).unwrap();
/// loop_lang::gotos::complete_blocks(&mut program);
/// loop_lang::gotos::derive_gotos(&mut program);
/// assert_eq!(loop_lang::filled::filled(&program).len(), 1);
/// ```
pub fn filled(program: &Loop) -> FxHashSet<Var> {
    let origins = Origins::of(program);
    let mut uses = Uses::default();
    for (place, block) in &origins.blocks {
        uses.block(*place, block);
        let led_to = targets(block).map(|l| origins.tree.place(program, l));
        led_to.for_each(|place| *uses.edges.entry(place).or_default() += 1);
    }
    let made = uses.made.iter();
    made.filter(|(array, size)| uses.fills(&origins, **array, **size))
        .map(|(array, _)| *array)
        .collect()
}

/// Holds the uses of arrays made by the loop.
#[derive(Default)]
struct Uses {
    /// New arrays and their sizes.
    made: FxHashMap<Var, Atom>,
    /// The places and indices of each array's writes.
    writes: FxHashMap<Var, Vec<(Place, Atom)>>,
    /// The places of each carried variable's assignments.
    assigned: FxHashMap<Var, Vec<Place>>,
    /// The places and indices of each array's reads.
    reads: FxHashMap<Var, Vec<(Place, Atom)>>,
    /// The places and lengths of each array's sorts.
    sorts: FxHashMap<Var, Vec<(Place, Atom)>>,
    /// The lengths that each array is cut to.
    cuts: FxHashMap<Var, Vec<Atom>>,
    /// Arrays that are returned.
    whole: FxHashSet<Var>,
    /// Arrays with other uses.
    other: FxHashSet<Var>,
    /// The number of control-flow edges into a place.
    edges: FxHashMap<Place, usize>,
}

/// Lists the targets of a block.
fn targets(block: &Block) -> impl Iterator<Item = Label> {
    let (one, other) = match block.end {
        End::Goto(l) => (Some(l), None),
        End::Branch(_, l, m) => (Some(l), Some(m)),
        End::Open | End::Return(_) => (None, None),
    };
    let exits = block.exits.iter().filter_map(|e| e.target);
    exits.chain(one).chain(other)
}

impl Uses {
    fn block(&mut self, place: Place, block: &Block) {
        for stmt in &block.stmts {
            match &stmt.kind {
                StmtKind::NewArray(v, size) if place == Place::Init => {
                    self.made.insert(*v, *size);
                }
                StmtKind::WriteArray(a, index, _) => {
                    self.writes.entry(*a).or_default().push((place, *index));
                }
                StmtKind::ReadArray(_, a, index) => {
                    self.reads.entry(*a).or_default().push((place, *index));
                }
                StmtKind::SortArrays(arrays, n) => {
                    for a in arrays {
                        self.sorts.entry(*a).or_default().push((place, *n));
                    }
                }
                StmtKind::Assign(v, _) => self.assigned.entry(*v).or_default().push(place),
                StmtKind::SliceArray(_, a, n) => self.cuts.entry(*a).or_default().push(*n),
                StmtKind::ArrayLength(..) => {}
                _ => walk::summary(stmt, &mut |a| self.other.extend(a.var()), &mut |_| {}),
            }
        }
        if let End::Return(results) = &block.end {
            self.whole.extend(results.iter().filter_map(|a| a.var()));
        }
    }

    fn fills(&self, origins: &Origins<'_>, array: Var, size: Atom) -> bool {
        let writes = self.writes.get(&array).into_iter().flatten();
        let written: Option<Vec<(RateId, Atom)>> = writes
            .map(|(place, index)| match place {
                Place::At {
                    rate,
                    section: Section::Body | Section::Yield,
                    ..
                } => Some((*rate, *index)),
                _ => None,
            })
            .collect();
        let Some(mut written) = written.filter(|w| !w.is_empty()) else {
            return false;
        };
        if self.other.contains(&array) {
            return false;
        }
        if self.reads.contains_key(&array) || self.sorts.contains_key(&array) {
            return self.fills_segments(origins, array, &written);
        }
        written.sort_unstable_by_key(|w| w.0);
        self.fills_as_counted(origins, array, &written)
            || self.fills_as_long(origins, (array, size), &written)
            || self.fills_rows(origins, (array, size), &written)
    }

    /// Tells whether an array is cut to a count that increases exactly where an element is written.
    fn fills_as_counted(
        &self,
        origins: &Origins<'_>,
        array: Var,
        written: &[(RateId, Atom)],
    ) -> bool {
        let [(rate, Atom::Var(count)), ..] = written else {
            return false;
        };
        let is_own = match origins.program.rate(*rate).kind {
            RateKind::Sub { count: own, .. } => own == Some(*count),
            RateKind::Root { counter, .. } => counter == *count,
            RateKind::Nested { .. } | RateKind::Cursor { .. } => false,
        };
        let cut = self.cuts.get(&array).into_iter().flatten();
        let rates: Vec<RateId> = written.iter().map(|w| w.0).collect();
        (is_own || rates.len() > 1)
            && !self.whole.contains(&array)
            && written.iter().all(|w| w.1 == Atom::Var(*count))
            && cut.into_iter().all(|n| *n == Atom::Var(*count))
            && self.counts_up(origins, *count, &rates)
    }

    /// Tells whether consecutive roots together write all elements of an array, or all up to its
    /// cut.
    fn fills_as_long(
        &self,
        origins: &Origins<'_>,
        (array, size): (Var, Atom),
        written: &[(RateId, Atom)],
    ) -> bool {
        let mut before: Vec<Atom> = Vec::new();
        for (rate, index) in written {
            let RateKind::Root { counter, bound } = origins.program.rate(*rate).kind else {
                return false;
            };
            // A second way out would leave before the counter reaches its bound.
            let ways_out = self.edges.get(&origins.tree.done(origins.program, *rate));
            let at: Vec<Atom> = before.iter().copied().chain([counter.into()]).collect();
            let in_order =
                is_sum(origins, *index, &at) && self.counts_up(origins, counter, &[*rate]);
            if ways_out != Some(&1) || !in_order {
                return false;
            }
            before.extend(addends(origins, bound));
        }
        let cut = self.cuts.get(&array).into_iter().flatten();
        let whole = self.whole.contains(&array).then_some(&size);
        cut.chain(whole).all(|n| is_sum(origins, *n, &before))
    }

    /// Tells whether an inner loop with a constant trip count fills an array. It writes at a
    /// counter that continues over all rows, and the array's length or cut is the total trip count.
    fn fills_rows(
        &self,
        origins: &Origins<'_>,
        (array, size): (Var, Atom),
        written: &[(RateId, Atom)],
    ) -> bool {
        let &[(inner, index)] = written else {
            return false;
        };
        let program = origins.program;
        let RateKind::Nested {
            parent,
            counter,
            bound,
            uniform: true,
        } = program.rate(inner).kind
        else {
            return false;
        };
        let RateKind::Root {
            counter: row,
            bound: rows,
        } = program.rate(parent).kind
        else {
            return false;
        };
        let in_step = index == counter.into() || origins.is_turned(index, inner);
        let goes_on = in_step
            && self.counts_up(origins, counter, &[inner])
            && self.counts_up(origins, row, &[parent]);
        let ends = [inner, parent].map(|r| origins.tree.done(program, r));
        let only = |place: &Place| self.edges.get(place) == Some(&1);
        let made = |n: Atom| n.var().and_then(|v| origins.lets.get(&v));
        let other = |of: &[Atom], one: Atom| match of {
            [a, b] if *a == one => Some(*b),
            [a, b] if *b == one => Some(*a),
            _ => None,
        };
        let length = match made(bound) {
            Some((Op::Add, of)) => other(of, counter.into()),
            _ => None,
        };
        let is_all = |n: &Atom| match made(*n) {
            Some((Op::Mul, of)) => length.is_some() && other(of, rows) == length,
            _ => false,
        };
        let cut = self.cuts.get(&array).into_iter().flatten();
        let whole = self.whole.contains(&array).then_some(&size);
        goes_on && ends.iter().all(only) && cut.chain(whole).all(is_all)
    }

    /// Tells whether a variable starts at 0 and each iteration of these rates, in different phases,
    /// increments it.
    fn counts_up(&self, origins: &Origins<'_>, v: Var, rates: &[RateId]) -> bool {
        let from_zero = origins.carries.get(&v) == Some(&(Place::Init, Const::u64(0).into()));
        let assigned = origins.assigned.get(&v).map_or(&[][..], Vec::as_slice);
        let mut goes_up: Vec<RateId> = assigned
            .iter()
            .filter(|(_, next)| {
                next.and_then(Atom::var)
                    .is_some_and(|n| origins.is_one_more(v, n))
            })
            .map(|(rate, _)| *rate)
            .collect();
        goes_up.sort_unstable();
        // An assignment in a guard also takes effect for rejected elements.
        let mut places = self.assigned.get(&v).into_iter().flatten();
        let for_each = places.all(|place| {
            let sections = [Section::Body, Section::Yield, Section::Bottom];
            matches!(place, Place::At { section, .. } if sections.contains(section))
        });
        let above = |r: &RateId| origins.program.rate(*r).kind.parent();
        let root = |r: RateId| std::iter::successors(Some(r), above).last();
        let apart = rates.windows(2).all(|w| root(w[0]) != root(w[1]));
        from_zero && for_each && apart && assigned.len() == rates.len() && goes_up == rates
    }
}

/// Tells whether a number is the sum of these.
fn is_sum(origins: &Origins<'_>, n: Atom, of: &[Atom]) -> bool {
    let mut rest = addends(origins, n);
    let mut is_part = |a: &Atom| {
        let at = rest.iter().position(|r| r == a);
        at.map(|at| rest.swap_remove(at)).is_some()
    };
    of.iter().all(&mut is_part) && rest.is_empty()
}

/// Splits a number into its addends. A minimum of a number and the remaining space below the
/// largest `u64` counts as the number itself: otherwise the sum would exceed any memory.
fn addends(origins: &Origins<'_>, n: Atom) -> Vec<Atom> {
    let (mut all, mut stack) = (Vec::new(), vec![n]);
    let most = Atom::Const(Const::u64(u64::MAX));
    while let Some(n) = stack.pop() {
        let made = n.var().and_then(|v| origins.lets.get(&v));
        match made {
            Some((Op::Add, args)) => stack.extend(args.iter()),
            Some((Op::Min, [n, left])) => {
                let left = left.var().and_then(|v| origins.lets.get(&v));
                match left {
                    Some((Op::Sub, [from, _])) if *from == most => stack.push(*n),
                    _ => all.push(*n),
                }
            }
            _ => all.push(n),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the sorted names of the arrays that a loop's text fills.
    pub(super) fn filled_in(text: &str) -> Vec<String> {
        let mut program = crate::parse::parse(text).unwrap();
        crate::gotos::complete_blocks(&mut program);
        crate::gotos::derive_gotos(&mut program);
        crate::verify::verify(&program).unwrap();
        let filled = filled(&program).into_iter();
        let mut names: Vec<String> = filled.map(|v| program.name(v).to_string()).collect();
        names.sort();
        names
    }

    /// Returns the names of the arrays that a loop over `xs` fills.
    fn names(body: &str) -> Vec<String> {
        let text = format!(
            "loop l
comb 0 manifest at r0
comb 1 filter at r1
param xs_0: [i64] stream r0
rate r0 root ix_0 < len_0 {{ stage 0; child r1 }}
rate r1 sub r0 count n_1 {{ stage 0 }}
group n_1 owner r0 step r1 start 0 id 0 next m_1 combine add level 0 exact
{body}"
        );
        filled_in(&text)
    }

    fn usual(stmts: [&str; 4], done: &str) -> Vec<String> {
        let [init, more, each, kept] = stmts;
        names(&format!(
            "init_0, init_1:
  let len_0 = arrayLength xs_0
  carry ix_0 = 0
  carry n_1 = 0
  {init}
guard_0:
  let more_0 = lt ix_0 len_0
  unless more_0
{more}body_0:
  let x_0 = readArray xs_0 ix_0
yield_0:
  {each}
guard_1:
  let p_1 = gt x_0 0i64
  unless p_1
yield_1:
  {kept}
  let m_1 = add n_1 1
  n_1 := m_1
bottom_0:
  let nix_0 = add ix_0 1
  ix_0 := nix_0
done_0, done_1:
{done}"
        ))
    }

    const ALL: &str = "let a_1 = newArray i64 len_0";
    const EACH: &str = "writeArray a_1 ix_0 x_0";
    const KEPT: &str = "writeArray a_1 n_1 x_0";

    #[test]
    fn an_array_in_step_is_filled() {
        assert_eq!(usual([ALL, "", EACH, ""], "  return a_1\n"), ["a_1"]);
    }

    #[test]
    fn a_filter_fills_what_it_is_cut_to() {
        let cut = "  let r_1 = sliceArray a_1 n_1\n  return r_1\n";
        assert_eq!(usual([ALL, "", "", KEPT], cut), ["a_1"]);
        assert!(usual([ALL, "", "", KEPT], "  return a_1\n").is_empty());
        let beyond = "  let r_1 = sliceArray a_1 ix_0\n  return r_1\n";
        assert!(usual([ALL, "", "", KEPT], beyond).is_empty());
    }

    /// Returns the names of the arrays that two phases fill; `first` and `then` process their
    /// elements.
    fn in_phases(init: &str, first: &str, then: &str, done: &str) -> Vec<String> {
        let text = format!(
            "loop l
comb 0 manifest at r0
comb 1 filter at r1
comb 2 manifest at r2
comb 3 filter at r3
param xs_0: [i64] stream r0
param ys_2: [i64] stream r2
rate r0 root ix_0 < len_0 {{ stage 0; child r1 }}
rate r1 sub r0 count n_1 {{ stage 0 }}
rate r2 root ix_2 < len_2 {{ stage 0; child r3 }}
rate r3 sub r2 count n_1 {{ stage 0 }}
group n_1 owner r0 step r1 start 0 id 0 next m_1 combine add level 0 exact
init_0, init_1, init_2, init_3:
  let len_0 = arrayLength xs_0
  let len_2 = arrayLength ys_2
  let both_0 = add len_0 len_2
  carry ix_0 = 0
  carry ix_2 = 0
  carry n_1 = 0
  {init}
guard_0:
  let more_0 = lt ix_0 len_0
  unless more_0
body_0:
  let x_0 = readArray xs_0 ix_0
yield_0:
  {first}
guard_1:
  let p_1 = gt x_0 0i64
  unless p_1
yield_1:
  writeArray k_1 n_1 x_0
  let m_1 = add n_1 1
  n_1 := m_1
bottom_0:
  let nix_0 = add ix_0 1
  ix_0 := nix_0
guard_2:
  let more_2 = lt ix_2 len_2
  unless more_2
body_2:
  let y_2 = readArray ys_2 ix_2
  let at_2 = add len_0 ix_2
yield_2:
  {then}
guard_3:
  let p_3 = gt y_2 0i64
  unless p_3
yield_3:
  writeArray k_1 n_1 y_2
  let m_3 = add n_1 1
  n_1 := m_3
bottom_2:
  let nix_2 = add ix_2 1
  ix_2 := nix_2
done_2, done_3:
{done}"
        );
        filled_in(&text)
    }

    #[test]
    fn phases_fill_an_array_one_behind_the_other() {
        let init = "let a_0 = newArray i64 both_0\n  let k_1 = newArray i64 both_0";
        let done = "  let r_1 = sliceArray k_1 n_1\n  return a_0 r_1\n";
        let [first, then] = ["writeArray a_0 ix_0 x_0", "writeArray a_0 at_2 y_2"];
        assert_eq!(in_phases(init, first, then, done), ["a_0", "k_1"]);
        // The second phase starts over, or does not write.
        let again = "writeArray a_0 ix_2 y_2";
        assert_eq!(in_phases(init, first, again, done), ["k_1"]);
        assert_eq!(in_phases(init, first, "", done), ["k_1"]);
        // Longer than both.
        let longer = "let a_0 = newArray i64 more_1\n  let k_1 = newArray i64 both_0";
        let longer = format!("let more_1 = add both_0 1\n  {longer}");
        assert_eq!(in_phases(&longer, first, then, done), ["k_1"]);
    }

    #[test]
    fn longer_than_the_loop_is_not_filled() {
        let longer = "let two_1 = add len_0 len_0\n  let a_1 = newArray i64 two_1";
        assert!(usual([longer, "", EACH, ""], "  return a_1\n").is_empty());
    }

    #[test]
    fn some_iterations_do_not_fill() {
        let some = "writeArray a_1 ix_0 x_0";
        assert!(usual([ALL, "", "", some], "  return a_1\n").is_empty());
        let twice = "writeArray a_1 ix_0 x_0\n  writeArray a_1 n_1 x_0";
        assert!(usual([ALL, "", twice, ""], "  return a_1\n").is_empty());
    }

    #[test]
    fn filled_array_that_is_read_is_not_left_over() {
        let read = "writeArray a_1 ix_0 x_0\n  let y_1 = readArray a_1 n_1";
        assert!(usual([ALL, "", read, ""], "  return a_1\n").is_empty());
    }

    #[test]
    fn an_early_end_fills_what_it_is_cut_to() {
        let init = "let a_1 = newArray i64 len_0\n  let q_0 = lt len_0 3";
        let early = "  unless q_0 | done_0\n";
        assert!(usual([init, early, EACH, ""], "  return a_1\n").is_empty());
        let cut = "  let r_1 = sliceArray a_1 ix_0\n  return r_1\n";
        assert_eq!(usual([init, early, EACH, ""], cut), ["a_1"]);
    }

    /// Tells whether a loop over rows of `w_1` elements fills an array, given its size and the code
    /// for each element.
    fn fills_rows(size: &str, each: &str, exit: &str) -> bool {
        let text = format!(
            "loop l
comb 0 rows at r0
comb 1 generate at r1
param h_0: u64
param w_1: u64
rate r0 root ix_0 < h_0 {{ stage 0; child r1 }}
rate r1 uniform r0 ix_1 < end_1 {{ stage 0 }}
group ix_1 owner r0 step r1 start 0 id 0 next m_1 combine add level 0 exact
init_0, init_1:
  carry ix_0 = 0
  carry ix_1 = 0
  let all_1 = mul h_0 {size}
  let q_0 = lt h_0 3
  let a_1 = newArray u64 all_1
guard_0:
  let more_0 = lt ix_0 h_0
  unless more_0
{exit}nest_1:
  let end_1 = add ix_1 w_1
  let first_1 = sub end_1 w_1
  let last_1 = sub end_1 1
  let over_1 = sub end_1 2
guard_1:
  let more_1 = lt ix_1 end_1
  unless more_1
body_1:
  let twice_1 = add ix_1 ix_1
  let back_1 = sub last_1 ix_1
  let turned_1 = add first_1 back_1
  let late_1 = sub over_1 ix_1
  let shifted_1 = add first_1 late_1
  let crossed_1 = add last_1 back_1
yield_1:
  writeArray a_1 {each} twice_1
bottom_1:
  let m_1 = add ix_1 1
  ix_1 := m_1
done_1:
bottom_0:
  let nix_0 = add ix_0 1
  ix_0 := nix_0
done_0:
  return a_1
"
        );
        !filled_in(&text).is_empty()
    }

    #[test]
    fn rows_fill_an_array_of_all_of_them() {
        assert!(fills_rows("w_1", "ix_1", ""));
        assert!(!fills_rows("h_0", "ix_1", ""));
        assert!(!fills_rows("w_1", "ix_0", ""));
        // From the end of each row.
        assert!(fills_rows("w_1", "turned_1", ""));
        assert!(!fills_rows("w_1", "shifted_1", ""));
        assert!(!fills_rows("w_1", "crossed_1", ""));
        assert!(!fills_rows("w_1", "ix_1", "  unless q_0 | done_0\n"));
    }
}
