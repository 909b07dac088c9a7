//! What stays in memory all the time. A value in a register lives, or is merged, in every block between its
//! definition and its last use: many such values in many blocks take compilers more than linear time, and
//! have no registers anyway. So arrays that the loop makes are in the run's table, and where a loop carries more
//! than registers hold, all of it is in the frame's words, where a pause would put it.

use super::{Emit, Facet};
use cranelift_codegen::ir::Value;
use livefusion_backend::facts::{self, Source};
use loop_lang::Loop;
use loop_lang::ir::{GroupId, Order, RateKind, Var};
use loop_lang::state::Layout;
use rustc_hash::{FxHashMap, FxHashSet};

/// A loop that carries more values than this has them in the frame: as many as there are registers.
const REGISTERS: usize = 32;

/// A loop of a tile in pieces keeps so many values of the frame in registers. The others are for its own values.
const IN_A_LOOP: usize = 12;

/// Offsets in the local part of a `Prefix` group's variable.
pub(super) const LOCAL: [(Facet, usize); 3] =
    [(Facet::Now, 0), (Facet::Total, 1), (Facet::Last, 2)];

/// The words of `Prefix` groups' variables, which registers may hold.
pub(super) fn local_words(program: &Loop, layout: &Layout) -> Vec<(Var, Facet, usize)> {
    let mut all = Vec::new();
    for (i, group) in program.groups.iter().enumerate() {
        for (k, v) in group.vars.iter().enumerate() {
            if let Order::Prefix(_) = group.order {
                let first = layout.local(GroupId::new(i), group, k);
                all.extend(LOCAL.map(|(facet, offset)| (*v, facet, first + offset)));
            }
        }
    }
    all
}

/// The words of the values in the frame. Loops that carry many values, or have tiles in pieces, keep all but their counters
/// there. A cursor's counter stays with its elements.
pub(super) fn slots(
    program: &Loop,
    layout: &Layout,
    in_pieces: bool,
) -> FxHashMap<(Var, Facet), usize> {
    let (cursors, loops): (Vec<_>, Vec<_>) =
        (program.rates.iter().map(|r| r.kind)).partition(|k| matches!(k, RateKind::Cursor { .. }));
    let counters = |kinds: Vec<RateKind>| -> FxHashSet<Var> {
        kinds.into_iter().filter_map(RateKind::counter).collect()
    };
    let (cursors, loops) = (counters(cursors), counters(loops));
    let saved = layout.saved.iter().filter(|(v, _)| !loops.contains(v));
    let saved = saved.map(|(v, word)| ((*v, Facet::Value), *word));
    let local = local_words(program, layout).into_iter();
    let all: Vec<_> = saved
        .chain(local.map(|(v, facet, word)| ((v, facet), word)))
        .collect();
    let others = all.iter().filter(|((v, _), _)| !cursors.contains(v));
    match in_pieces || others.count() > REGISTERS {
        true => all.into_iter().collect(),
        false => FxHashMap::default(),
    }
}

impl Emit<'_, '_> {
    /// Takes values of the frame into registers for a loop, the first as far as there are some.
    pub(super) fn take_slots(&mut self, mut all: Vec<(Var, Facet)>) {
        all.retain(|key| self.slots.contains_key(key));
        for key in all.into_iter().take(IN_A_LOOP) {
            let value = self.get(key.0, key.1);
            let ty = self.builder.func.dfg.value_type(value);
            let variable = self.builder.declare_var(ty);
            self.builder.def_var(variable, value);
            self.taken.insert(key, variable);
        }
    }

    /// Puts changed values back into the frame, behind such a loop.
    pub(super) fn put_back_slots(&mut self, changed: &[(Var, Facet)]) {
        let taken = std::mem::take(&mut self.taken);
        for (v, facet) in changed {
            if let Some(variable) = taken.get(&(*v, *facet)) {
                let value = self.builder.use_var(*variable);
                self.set(*v, *facet, value);
            }
        }
    }

    /// The slot of an array that the loop makes.
    pub(super) fn slot(&self, v: Var, facet: Facet) -> Option<usize> {
        match (facet, self.facts.source.get(&v)) {
            (Facet::Data | Facet::Length, Some(Source::Made(slot))) => Some(*slot),
            _ => None,
        }
    }

    pub(super) fn load_slot(&mut self, v: Var, word: usize) -> Value {
        let ty = facts::elem(self.program, v);
        self.load_word(ty, self.words, word as i32 * 8)
    }

    pub(super) fn store_slot(&mut self, v: Var, word: usize, value: Value) {
        let ty = facts::elem(self.program, v);
        self.store_word(ty, value, self.words, word as i32 * 8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values in the frame of so many sums.
    fn sums(n: usize) -> FxHashMap<(Var, Facet), usize> {
        slots_of(&text_of_sums(n)).1
    }

    /// A loop of so many sums, one after the other.
    fn text_of_sums(n: usize) -> String {
        let (mut groups, mut init, mut body) = (String::new(), String::new(), String::new());
        for i in 0..n {
            groups += &format!(
                "group acc_{i} owner r0 step r0 start 0 id 0 next new_{i} combine add level 0 exact\n"
            );
            init += &format!("  carry acc_{i} = 0 @0\n");
            body += &format!("  let new_{i} = add acc_{i} x_0 @0\n  acc_{i} := new_{i} @0\n");
        }
        format!(
            "loop sums\ncomb 0 manifest at r0\nparam xs_0: [u64] stream r0\n\
             rate r0 root ix_0 < len_0 {{ stage 0 }}\n{groups}\
             init_0:\n  let len_0 = arrayLength xs_0\n  carry ix_0 = 0\n{init}\
             guard_0:\n  let more_0 = lt ix_0 len_0\n  unless more_0\n\
             body_0:\n  let x_0 = readArray xs_0 ix_0\n{body}\
             bottom_0:\n  let nix_0 = add ix_0 1\n  ix_0 := nix_0\n\
             done_0:\n  return\n"
        )
    }

    fn slots_of(text: &str) -> (Loop, FxHashMap<(Var, Facet), usize>) {
        let mut program = loop_lang::parse::parse(text).unwrap();
        loop_lang::gotos::complete_blocks(&mut program);
        loop_lang::gotos::derive_gotos(&mut program);
        loop_lang::verify::verify(&program).unwrap();
        let slots = slots(&program, &Layout::of(&program), false);
        (program, slots)
    }

    #[test]
    fn few_values_are_in_registers_and_many_in_the_frame() {
        assert_eq!(sums(8).len(), 0);
        // With the length, and without the counter.
        assert_eq!(sums(100).len(), 101);
        // A piece of a tile takes its values from there.
        let (program, _) = slots_of(&text_of_sums(8));
        assert_eq!(slots(&program, &Layout::of(&program), true).len(), 9);
    }

    /// What is in the frame of a zip of so many cursors: their counters live as long as the loop.
    #[test]
    fn many_cursors_count_in_the_frame() {
        let cursors = |n: usize| {
            let each = |f: &dyn Fn(usize) -> String| (0..n).map(f).collect::<String>();
            let text = format!(
                "loop zip\ncomb z map at z\n{}\
                 rate z root ix_z < 9 {{ {}stage 0 }}\n{}{}init_z:\n  carry ix_z = 0\n{}\
                 guard_z:\n  let more_z = lt ix_z 9\n  unless more_z\n{}\
                 bottom_z:\n  let nix_z = add ix_z 1\n  ix_z := nix_z\ndone_z:\n  return\n",
                each(&|i| format!("comb {i} map at r{i}\n")),
                each(&|i| format!("child r{i}; ")),
                each(&|i| format!("rate r{i} cursor z ix_{i} < 9 {{ stage 0 }}\n")),
                each(&|i| {
                    format!(
                        "group val_{i} owner z step r{i} start 0 next nix_{i} level 0 sequential\n"
                    )
                }),
                each(&|i| format!("  carry ix_{i} = 0\n  carry val_{i} = 0\n")),
                each(&|i| {
                    let next = match i + 1 < n {
                        true => format!("nest_{}", i + 1),
                        false => "body_z".into(),
                    };
                    format!(
                        "guard_{i}:\n  let more_{i} = lt ix_{i} 9\n  unless more_{i}\n\
                         body_{i}:\n  let nix_{i} = add ix_{i} 1\n  ix_{i} := nix_{i}\n  val_{i} := nix_{i}\n\
                         bottom_{i}:\n  goto {next}\n"
                    )
                }),
            );
            let (program, slots) = slots_of(&text);
            let counters = program.rates.iter().filter_map(|r| r.kind.counter());
            counters
                .filter(|v| slots.contains_key(&(*v, Facet::Value)))
                .count()
        };
        assert_eq!(cursors(8), 0);
        // Without the root's.
        assert_eq!(cursors(100), 100);
    }
}
