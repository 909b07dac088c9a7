//! What stays in memory all the time. A value in a register lives, or is merged, in every block between its
//! definition and its last use: many such values in many blocks take compilers more than linear time, and
//! have no registers anyway. So arrays that the loop makes are in the run's table, and where a loop carries more
//! than registers hold, all of it is in the frame's words, where a pause would put it.

use super::{Emit, Part};
use cranelift_codegen::ir::Value;
use livefusion_backend::facts::{self, Source};
use loop_lang::Loop;
use loop_lang::ir::{GroupId, Order, Var};
use loop_lang::state::Layout;
use rustc_hash::{FxHashMap, FxHashSet};

/// A loop that carries more values than this has them in the frame: as many as there are registers.
const REGISTERS: usize = 32;

/// Offsets in the local part of a `Prefix` group's variable.
const LOCAL: [(Part, usize); 3] = [(Part::Now, 0), (Part::Total, 1), (Part::Last, 2)];

/// The words of `Prefix` groups' variables, which registers may hold.
pub(super) fn local_words(program: &Loop, layout: &Layout) -> Vec<(Var, Part, usize)> {
    let mut all = Vec::new();
    for (i, group) in program.groups.iter().enumerate() {
        for (k, v) in group.vars.iter().enumerate() {
            if let Order::Prefix(_) = group.order {
                let first = layout.local(GroupId::new(i), group, k);
                all.extend(LOCAL.map(|(part, offset)| (*v, part, first + offset)));
            }
        }
    }
    all
}

/// The words of what stays in the frame: of loops that carry much, everything but the counters.
pub(super) fn homes(program: &Loop, layout: &Layout) -> FxHashMap<(Var, Part), usize> {
    let counters = program.rates.iter().filter_map(|r| r.kind.counter());
    let counters: FxHashSet<Var> = counters.collect();
    let saved = layout.saved.iter().filter(|(v, _)| !counters.contains(v));
    let saved = saved.map(|(v, word)| ((*v, Part::Value), *word));
    let local = local_words(program, layout).into_iter();
    let all: Vec<_> = saved
        .chain(local.map(|(v, part, word)| ((v, part), word)))
        .collect();
    match all.len() > REGISTERS {
        true => all.into_iter().collect(),
        false => FxHashMap::default(),
    }
}

impl Emit<'_, '_> {
    /// The slot of an array that the loop makes.
    pub(super) fn slot(&self, v: Var, part: Part) -> Option<usize> {
        match (part, self.facts.source.get(&v)) {
            (Part::Data | Part::Length, Some(Source::Made(slot))) => Some(*slot),
            _ => None,
        }
    }

    pub(super) fn load_home(&mut self, v: Var, word: usize) -> Value {
        let ty = facts::elem(self.program, v);
        self.load_word(ty, self.words, word as i32 * 8)
    }

    pub(super) fn store_home(&mut self, v: Var, word: usize, value: Value) {
        let ty = facts::elem(self.program, v);
        self.store_word(ty, value, self.words, word as i32 * 8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A loop of so many sums, one after the other.
    fn sums(n: usize) -> FxHashMap<(Var, Part), usize> {
        let (mut groups, mut init, mut body) = (String::new(), String::new(), String::new());
        for i in 0..n {
            groups += &format!(
                "group acc_{i} owner r0 step r0 start 0 id 0 next new_{i} combine add level 0 exact\n"
            );
            init += &format!("  carry acc_{i} = 0 @0\n");
            body += &format!("  let new_{i} = add acc_{i} x_0 @0\n  acc_{i} := new_{i} @0\n");
        }
        let text = format!(
            "loop sums\ncomb 0 manifest at r0\nparam xs_0: [u64] stream r0\n\
             rate r0 root ix_0 < len_0 {{ stage 0 }}\n{groups}\
             init_0:\n  let len_0 = arrayLength xs_0\n  carry ix_0 = 0\n{init}\
             guard_0:\n  let more_0 = lt ix_0 len_0\n  unless more_0\n\
             body_0:\n  let x_0 = readArray xs_0 ix_0\n{body}\
             bottom_0:\n  let nix_0 = add ix_0 1\n  ix_0 := nix_0\n\
             done_0:\n  return\n"
        );
        let mut program = loop_lang::parse::parse(&text).unwrap();
        loop_lang::gotos::complete_blocks(&mut program);
        loop_lang::gotos::derive_gotos(&mut program);
        loop_lang::verify::verify(&program).unwrap();
        homes(&program, &Layout::of(&program))
    }

    #[test]
    fn few_values_are_in_registers_and_many_in_the_frame() {
        assert_eq!(sums(8).len(), 0);
        // With the length, and without the counter.
        assert_eq!(sums(100).len(), 101);
    }
}
