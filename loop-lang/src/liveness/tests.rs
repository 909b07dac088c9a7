use super::*;
use crate::parse::parse;

/// An outer sequential fold updated before an inner loop; `READ` is in the second stage.
fn nested(read: &str) -> Loop {
    let text = format!(
        "loop nested
comb 0 manifest at r0
comb 1 inner at r1
comb 2 after at r0 stage 1
param n_0: u64
rate r0 root ix_0 < n_0 {{ stage 0; child r1; stage 1 }}
rate r1 nested r0 ix_1 < end_1 {{ stage 0 }}
group acc_0 owner r0 step r0 start 0 id 0 next new_0 combine add level 0 exact
init_0, init_1, init_2:
  let out_0 = newArray u64 n_0
  carry ix_0 = 0
  carry acc_0 = 0
  let twice_0 = add n_0 n_0
  let half_0 = div n_0 2
guard_0, guard_2:
  let more_0 = lt ix_0 n_0
  unless more_0
body_0:
  let new_0 = add acc_0 3
  let low_0 = add acc_0 half_0
yield_0:
  acc_0 := new_0
nest_1:
  let end_1 = add ix_0 2
  carry ix_1 = 0
guard_1:
  let more_1 = lt ix_1 end_1
  unless more_1
body_1:
  writeArray out_0 ix_1 twice_0
yield_1:
bottom_1:
  let nix_1 = add ix_1 1
  ix_1 := nix_1
done_1:
body_2:
  let x_2 = add {read} 1
  writeArray out_0 ix_0 x_2
yield_2:
bottom_0, bottom_2:
  let nix_0 = add ix_0 1
  ix_0 := nix_0
done_0, done_2:
  return out_0 acc_0
"
    );
    let mut l = parse(&text).expect("the text parses");
    crate::gotos::derive_gotos(&mut l);
    crate::verify::verify(&l).expect("the loop verifies");
    l
}

fn names(l: &Loop, vars: &[Var]) -> Vec<String> {
    vars.iter().map(|v| l.name(*v).to_string()).collect()
}

#[test]
fn saved_are_carried_and_live_variables() {
    let l = nested("low_0");
    let saved = [
        "ix_0", "acc_0", "twice_0", "half_0", "low_0", "end_1", "ix_1",
    ];
    assert_eq!(names(&l, &saved_variables(&l)), saved);
    assert_eq!(names(&l, &made_arrays(&l)), ["out_0"]);
}

#[test]
fn held_are_those_read_after_a_guard() {
    let l = nested("low_0");
    assert_eq!(held_variables(&l), []);
    let l = nested("acc_0");
    assert_eq!(names(&l, &held_variables(&l)), ["acc_0"]);
}

#[test]
fn live_in_follows_blocks() {
    let l = nested("low_0");
    let live = live_in(&l);
    let label = |section, comb| Label {
        section,
        comb: crate::ir::CombId(comb),
    };
    let of = |section, comb| {
        let id = l
            .block_id(label(section, comb))
            .expect("the block is there");
        names(&l, &live[id.index()])
    };
    assert_eq!(of(Section::Init, 0), [""; 0]);
    assert_eq!(of(Section::Guard, 0), ["twice_0", "half_0"]);
    assert_eq!(
        of(Section::Guard, 1),
        ["end_1", "twice_0", "half_0", "low_0"]
    );
    assert_eq!(of(Section::Body, 2), ["twice_0", "half_0", "low_0"]);
    assert_eq!(of(Section::Bottom, 0), ["twice_0", "half_0"]);
    assert_eq!(of(Section::Done, 0), [""; 0]);
}
