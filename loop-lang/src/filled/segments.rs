//! Arrays that pass elements between passes over a segment: later passes read only written
//! elements.

use super::Uses;
use crate::chunkable::origins::Origins;
use crate::ir::{Atom, Part, Place, RateId, RateKind, Section, Var};
use crate::op::Op;
use crate::types::Const;

impl Uses {
    /// Tells whether each read element was written by an earlier pass over the same segment.
    pub(super) fn fills_segments(
        &self,
        origins: &Origins<'_>,
        array: Var,
        written: &[(RateId, Atom)],
    ) -> bool {
        let [(pass, index)] = written else {
            return false;
        };
        // A second way out would leave a segment before its end.
        let ways_out = self.edges.get(&origins.tree.done(origins.program, *pass));
        let Some(size) = self.within_segment(origins, *pass, *index) else {
            return false;
        };
        let is_result = self.whole.contains(&array) || self.cuts.contains_key(&array);
        let mut reads = self.reads.get(&array).into_iter().flatten();
        let mut sorts = self.sorts.get(&array).into_iter().flatten();
        ways_out == Some(&1)
            && !is_result
            && sorts.all(|(place, n)| *n == size && is_stage_behind(origins, *pass, *place))
            && reads.all(|(place, index)| match place {
                Place::At {
                    rate,
                    section: Section::Body | Section::Yield,
                    ..
                } => {
                    let later = origins.tree.loop_rate(*rate);
                    is_behind(origins, *pass, later)
                        && self.stays_within(origins, later, *index) == Some(size)
                }
                _ => false,
            })
    }

    /// Returns the length of a rate's segments if the index is that of an element of the segment.
    ///
    /// It is the position `at`, or a place near it: `min x (size - 1)` or `at - min x at`. Or it is such
    /// a place from the end.
    fn stays_within(&self, origins: &Origins<'_>, rate: RateId, index: Atom) -> Option<Atom> {
        let RateKind::Nested { counter, bound, .. } = origins.program.rate(rate).kind else {
            return None;
        };
        let size = self.size_of_segment(origins, rate)?;
        let made = |a: Atom| origins.lets.get(&a.var()?).copied();
        let is_last = |a: Atom, end: Atom| match made(a) {
            Some((Op::Sub, args)) => *args == [end, Const::u64(1).into()],
            _ => false,
        };
        let is_at = |a: Atom| self.within_segment(origins, rate, a).is_some();
        let is_near = |a: Atom| match made(a) {
            Some((Op::Min, args)) => args.iter().any(|last| is_last(*last, size)),
            Some((Op::Sub, [at, back])) => match made(*back) {
                Some((Op::Min, args)) => args.contains(at) && is_at(*at),
                _ => false,
            },
            _ => false,
        };
        let is_turned = match made(index)? {
            (Op::Sub, [last, ix]) if *ix == counter.into() => is_last(*last, bound),
            (Op::Sub, [last, near]) => is_last(*last, size) && is_near(*near),
            _ => false,
        };
        (is_at(index) || is_near(index) || is_turned).then_some(size)
    }

    /// Returns the length of a rate's segments if the index is the position within the segment.
    /// That position is the counter, which continues over segments, minus the segment's begin
    /// `bound - size`.
    fn within_segment(&self, origins: &Origins<'_>, rate: RateId, index: Atom) -> Option<Atom> {
        let RateKind::Nested { counter, bound, .. } = origins.program.rate(rate).kind else {
            return None;
        };
        let length = self.size_of_segment(origins, rate)?;
        let made = |a: Atom| origins.lets.get(&a.var()?).copied();
        let (Op::Sub, &[from, first]) = made(index)? else {
            return None;
        };
        let (Op::Sub, &[end, size]) = made(first)? else {
            return None;
        };
        (from == counter.into() && (end, length) == (bound, size)).then_some(size)
    }

    /// Returns the length of a rate's segments. The rate's counter continues over segments.
    fn size_of_segment(&self, origins: &Origins<'_>, rate: RateId) -> Option<Atom> {
        let RateKind::Nested { counter, bound, .. } = origins.program.rate(rate).kind else {
            return None;
        };
        let (Op::Add, &[begin, size]) = origins.lets.get(&bound.var()?).copied()? else {
            return None;
        };
        let stays = size.var().is_none_or(|v| !origins.carries.contains_key(&v));
        let goes_on = begin == counter.into() && self.counts_up(origins, counter, &[rate]);
        (stays && goes_on).then_some(size)
    }
}

/// Tells whether an inner loop follows another in the iterations of their common parent.
fn is_behind(origins: &Origins<'_>, first: RateId, second: RateId) -> bool {
    let rate = |r: RateId| &origins.program.rate(r).kind;
    let (Some(around), true) = (
        rate(first).parent(),
        rate(first).parent() == rate(second).parent(),
    ) else {
        return false;
    };
    let parts = &origins.program.rate(around).parts;
    let at = |r: RateId| parts.iter().position(|p| *p == Part::Child(r));
    at(first).zip(at(second)).is_some_and(|(a, b)| a < b)
}

/// Tells whether a place is a stage after an inner loop, in the iterations of its parent.
fn is_stage_behind(origins: &Origins<'_>, first: RateId, place: Place) -> bool {
    let Place::At {
        rate,
        stage,
        section: Section::Body | Section::Yield,
    } = place
    else {
        return false;
    };
    let is_around = origins.program.rate(first).kind.parent() == Some(rate);
    let parts = &origins.program.rate(rate).parts;
    let at = |part: Part| parts.iter().position(|p| *p == part);
    let (pass, stage) = (at(Part::Child(first)), at(Part::Stage(stage)));
    is_around && pass.zip(stage).is_some_and(|(a, b)| a < b)
}

#[cfg(test)]
mod tests {
    use super::super::tests::filled_in;

    /// Tells whether an array is filled by a loop with two passes over segments. The first pass
    /// writes it at `write`, the second reads it at `read`.
    fn is_filled(write: &str, read: &str, result: &str) -> bool {
        is_filled_and(write, "", "", (read, result))
    }

    /// The same with statements before and after the first pass.
    fn is_filled_and(
        write: &str,
        before: &str,
        behind: &str,
        (read, result): (&str, &str),
    ) -> bool {
        let text = format!(
            "loop l
comb 0 manifest at r0
comb 1 map at r1
comb 2 map at r2
comb 3 sort at r0 stage 1
param n_0: [u64] stream r0
param xs_0: [u64] random
rate r0 root ix_0 < len_0 {{ stage 0; child r1; stage 1; child r2 }}
rate r1 nested r0 ix_1 < end_1 {{ stage 0 }}
rate r2 nested r0 ix_2 < end_2 {{ stage 0 }}
group ix_1 owner r0 step r1 start 0 id 0 next nix_1 combine add level 1 exact
group ix_2 owner r0 step r2 start 0 id 0 next nix_2 combine add level 1 exact
init_0, init_1, init_2:
  let len_0 = arrayLength n_0
  let len_1 = arrayLength xs_0
  let row_1 = newArray u64 len_1
  let out_2 = newArray u64 len_1
  carry ix_0 = 0
  carry ix_1 = 0
  carry ix_2 = 0
guard_0:
  let more_0 = lt ix_0 len_0
  unless more_0
body_0:
  let size_0 = readArray n_0 ix_0
{before}nest_1:
  let end_1 = add ix_1 size_0
  let first_1 = sub end_1 size_0
guard_1:
  let more_1 = lt ix_1 end_1
  unless more_1
body_1:
  let at_1 = sub ix_1 first_1
  let x_1 = readArray xs_0 ix_1
yield_1:
  writeArray row_1 {write} x_1
bottom_1:
  let nix_1 = add ix_1 1
  ix_1 := nix_1
body_3:
{behind}nest_2:
  let end_2 = add ix_2 size_0
  let first_2 = sub end_2 size_0
guard_2:
  let more_2 = lt ix_2 end_2
  unless more_2
body_2:
  let at_2 = sub ix_2 first_2
  let last_2 = sub size_0 1
  let there_2 = add at_2 2
  let ahead_2 = min there_2 last_2
  let far_2 = min 2 at_2
  let back_2 = sub at_2 far_2
  let turned_2 = sub last_2 ahead_2
  let end_1_2 = sub end_2 1
  let rix_2 = sub end_1_2 ix_2
  let x_2 = readArray row_1 {read}
yield_2:
  writeArray out_2 ix_2 x_2
bottom_2:
  let nix_2 = add ix_2 1
  ix_2 := nix_2
bottom_0:
  let nix_0 = add ix_0 1
  ix_0 := nix_0
done_0:
  return {result}
"
        );
        filled_in(&text).iter().any(|name| name == "row_1")
    }

    #[test]
    fn a_pass_fills_what_a_later_one_reads() {
        assert!(is_filled("at_1", "at_2", "out_2"));
    }

    #[test]
    fn elsewhere_than_within_the_segment_it_does_not() {
        assert!(!is_filled("ix_1", "at_2", "out_2"));
        assert!(!is_filled("at_1", "ix_2", "out_2"));
        assert!(!is_filled("0", "0", "out_2"));
    }

    #[test]
    fn a_later_pass_reads_near_elements_of_the_segment() {
        for read in ["ahead_2", "back_2", "turned_2", "rix_2"] {
            assert!(is_filled("at_1", read, "out_2"), "{read}");
        }
        for read in ["there_2", "far_2", "last_2"] {
            assert!(!is_filled("at_1", read, "out_2"), "{read}");
        }
    }

    /// Sorts only elements written by the first pass, and only after it.
    #[test]
    fn filled_segments_are_written_before_they_are_sorted() {
        let sort = |n: &str, by: u32| format!("  sortArrays row_1 {n} @{by}\n");
        let read = ("at_2", "out_2");
        assert!(is_filled_and("at_1", "", &sort("size_0", 3), read));
        assert!(!is_filled_and("at_1", "", &sort("len_1", 3), read));
        assert!(!is_filled_and("at_1", &sort("size_0", 0), "", read));
    }

    #[test]
    fn a_result_has_elements_behind_the_longest_segment() {
        assert!(!is_filled("at_1", "at_2", "row_1"));
    }
}
