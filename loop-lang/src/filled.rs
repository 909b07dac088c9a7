//! Which arrays a loop fills: every element that is left in the end was written, so that it does not matter
//! what was in the memory before.

use crate::chunkable::facts::Facts;
use crate::ir::{Atom, Block, End, Label, Loop, Place, RateId, RateKind, Section, StmtKind, Var};
use crate::types::Const;
use crate::walk;
use rustc_hash::{FxHashMap, FxHashSet};

/// The arrays of `newArray` whose elements are all written before the loop ends, and which it does not
/// read before: those that are written in each iteration at the counter of their rate, and are as long as
/// that counts, or cut to it.
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
    let facts = Facts::of(program);
    let mut uses = Uses::default();
    for (place, block) in &facts.blocks {
        uses.block(*place, block);
        let led_to = targets(block).map(|l| facts.tree.place(program, l));
        led_to.for_each(|place| *uses.edges.entry(place).or_default() += 1);
    }
    let made = uses.made.iter();
    made.filter(|(array, size)| uses.fills(&facts, **array, **size))
        .map(|(array, _)| *array)
        .collect()
}

/// What is done to the arrays that a loop makes.
#[derive(Default)]
struct Uses {
    /// New arrays and their sizes.
    made: FxHashMap<Var, Atom>,
    /// Where each array is written, and at which index.
    writes: FxHashMap<Var, Vec<(Place, Atom)>>,
    /// Where each carried variable is assigned.
    assigned: FxHashMap<Var, Vec<Place>>,
    /// What each array is cut to.
    cuts: FxHashMap<Var, Vec<Atom>>,
    /// Arrays that are returned.
    whole: FxHashSet<Var>,
    /// Arrays that are used otherwise.
    other: FxHashSet<Var>,
    /// How many ways lead to a place.
    edges: FxHashMap<Place, usize>,
}

/// Where control may go from a block.
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

    fn fills(&self, facts: &Facts<'_>, array: Var, size: Atom) -> bool {
        let Some([(place, Atom::Var(index))]) = self.writes.get(&array).map(Vec::as_slice) else {
            return false;
        };
        let Place::At {
            rate,
            section: Section::Body | Section::Yield,
            ..
        } = *place
        else {
            return false;
        };
        let program = facts.program;
        let cut = self.cuts.get(&array).map_or(&[][..], Vec::as_slice);
        let counted = match program.rate(rate).kind {
            RateKind::Sub { count, .. } => count == Some(*index) && !self.whole.contains(&array),
            RateKind::Root { counter, bound } => {
                // Another way out than the guard's leaves before the counter reaches its bound.
                let ways_out = self.edges.get(&facts.tree.done(program, rate));
                let all = bound == size && ways_out == Some(&1);
                counter == *index && (all || !self.whole.contains(&array))
            }
            RateKind::Nested { .. } | RateKind::Cursor { .. } => false,
        };
        let cut_to = |n: &Atom| *n == Atom::Var(*index);
        counted
            && !self.other.contains(&array)
            && cut.iter().all(cut_to)
            && self.counts_up(facts, *index, rate)
    }

    /// Whether a variable is 0 at first and one more after each iteration of a rate.
    fn counts_up(&self, facts: &Facts<'_>, v: Var, rate: RateId) -> bool {
        let from_zero = facts.carries.get(&v) == Some(&(Place::Init, Const::u64(0).into()));
        let Some([(at, Some(Atom::Var(next)))]) = facts.assigned.get(&v).map(Vec::as_slice) else {
            return false;
        };
        // What a guard assigns takes effect for rejected elements, too.
        let mut places = self.assigned.get(&v).into_iter().flatten();
        let for_each = places.all(|place| {
            let sections = [Section::Body, Section::Yield, Section::Bottom];
            matches!(place, Place::At { section, .. } if sections.contains(section))
        });
        from_zero && for_each && *at == rate && facts.is_one_more(v, *next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the arrays that a loop over `xs` fills.
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
        let mut program = crate::parse::parse(&text).unwrap();
        crate::gotos::complete_blocks(&mut program);
        crate::gotos::derive_gotos(&mut program);
        crate::verify::verify(&program).unwrap();
        let mut names: Vec<String> = filled(&program)
            .into_iter()
            .map(|v| program.name(v).to_string())
            .collect();
        names.sort();
        names
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
    fn what_is_read_is_not_left_over() {
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
}
