//! Loops with many groups.
//!
//! They have folds, scans of pairs by a non-commutative function, counts of filters, and sums of
//! segments and of rows.

use livefusion_tests::rng::Rng;
use loop_lang::op::Op;
use loop_lang::types::Ty;
use std::fmt::Write;

/// Draws one of these loops, for arrays of any length.
pub fn random(rng: &mut Rng) -> String {
    let mut count = |least: usize, most: usize| rng.range(least, most);
    match count(0, 3) {
        0 => segments(count(30, 60), count(15, 30), 0),
        _ => steps(count(0, 90), count(33, 45), count(0, 2) == 0),
    }
}

/// The operators of folds.
const OPS: [Op; 5] = [Op::Add, Op::Mul, Op::Xor, Op::Max, Op::Min];

/// A function that joins pairs in order: the composition of affine maps.
const AFFINE: &str = "fn affine_0(la_0: i64, lb_0: i64, ra_0: i64, rb_0: i64) {\n  let a_0 = mul la_0 ra_0\n  \
                      let t_0 = mul lb_0 ra_0\n  let b_0 = add t_0 rb_0\n  return a_0 b_0\n}\n";

/// The sections of a loop's text that groups contribute to.
#[derive(Default)]
struct Sections {
    groups: String,
    init: String,
    body: String,
    yields: String,
    results: String,
}

impl Sections {
    /// Adds a fold of an element of `i64`.
    fn fold(&mut self, name: &str, rates: [&str; 2], level: u32, op: Op, elt: &str) {
        let id = op.identity(Ty::I64).expect("it joins");
        let [owner, step] = rates;
        let _ = writeln!(
            self.groups,
            "group {name} owner {owner} step {step} start 3i64 id {id} next n{name} combine {} level {level} exact",
            op.name()
        );
        let _ = writeln!(self.init, "  carry {name} = 3i64");
        let _ = writeln!(self.body, "  let n{name} = {} {name} {elt}", op.name());
        let _ = writeln!(self.yields, "  {name} := n{name}");
        let _ = write!(self.results, " {name}");
    }

    /// Adds a scan of pairs of `i64`. The second variable is `r{name}`.
    fn scan(&mut self, name: &str, rates: [&str; 2], level: u32, pair: &str) {
        let [owner, step] = rates;
        let vars = format!("m{name}, c{name}");
        let _ = writeln!(
            self.groups,
            "group {vars} owner {owner} step {step} start 1i64, 5i64 id 1i64, 0i64 next q{name}, r{name} combine affine_0 \
             level {level} prefix 1"
        );
        let _ = writeln!(self.init, "  carry m{name} = 1i64\n  carry c{name} = 5i64");
        let _ = writeln!(
            self.body,
            "  let q{name}, r{name} = scan {vars} with {pair}"
        );
    }
}

/// Writes folds and scans of pairs, and a filter with folds of its elements.
///
/// With `levels`, the filter depends on a scan, and a fold on the filter.
pub fn steps(folds: usize, scans: usize, levels: bool) -> String {
    let (mut outer, mut inner) = (Sections::default(), Sections::default());
    let above = u32::from(levels);
    let mut rooms = String::new();
    for k in 0..folds {
        let op = OPS[k % OPS.len()];
        match k % 4 {
            3 => inner.fold(&format!("f{k}_1"), ["r0", "r1"], above, op, "x_0"),
            2 => outer.fold(&format!("f{k}_0"), ["r0", "r0"], 0, op, "y_0"),
            _ => outer.fold(&format!("f{k}_0"), ["r0", "r0"], 0, op, "x_0"),
        }
    }
    for k in 0..scans {
        let pair = ["x_0, y_0", "y_0, x_0", "3i64, x_0"][k % 3];
        outer.scan(&format!("{k}_0"), ["r0", "r0"], 0, pair);
        // Some of them are dead.
        if k % 7 == 0 {
            let _ = writeln!(rooms, "  let out{k}_0 = newArray i64 n_0");
            let _ = writeln!(outer.yields, "  writeArray out{k}_0 ix_0 r{k}_0");
            let _ = write!(outer.results, " out{k}_0");
        }
    }
    let by = if levels && scans > 0 { "r0_0" } else { "x_0" };
    if levels {
        inner.fold("last_1", ["r0", "r1"], 1, Op::Xor, "by_0");
    }
    format!(
        "loop wide\ncomb 0 manifest at r0\ncomb 1 filter at r1\nparam xs_0: [i64] stream r0\nparam ys_0: [i64] stream r0\n\
         rate r0 root ix_0 < n_0 {{ stage 0; child r1 }}\nrate r1 sub r0 count ix_1 {{ stage 0 }}\n\
         group ix_1 owner r0 step r1 start 0 id 0 next nix_1 combine add level {above} exact\n{}{}{AFFINE}\
         init_0, init_1:\n  let n_0 = arrayLength xs_0\n  let kept_1 = newArray i64 n_0\n{rooms}  carry ix_0 = 0\n  carry ix_1 = 0\n{}{}\
         guard_0:\n  let more_0 = lt ix_0 n_0\n  unless more_0\n\
         body_0:\n  let x_0 = readArray xs_0 ix_0\n  let y_0 = readArray ys_0 ix_0\n{}  let by_0 = copy {by}\nyield_0:\n{}\
         guard_1:\n  let bit_1 = and by_0 3i64\n  let odd_1 = ne bit_1 0i64\n  unless odd_1\nbody_1:\n{}\
         yield_1:\n  writeArray kept_1 ix_1 by_0\n  let nix_1 = add ix_1 1\n  ix_1 := nix_1\n{}bottom_1:\n\
         bottom_0:\n  let nix_0 = add ix_0 1\n  ix_0 := nix_0\ndone_0, done_1:\n  let all_1 = sliceArray kept_1 ix_1\n  return all_1{}{}\n",
        outer.groups,
        inner.groups,
        outer.init,
        inner.init,
        outer.body,
        outer.yields,
        inner.body,
        inner.yields,
        outer.results,
        inner.results,
    )
}

/// Writes folds of all elements, and nothing else.
pub fn folds(n: usize) -> String {
    let mut all = Sections::default();
    for k in 0..n {
        all.fold(
            &format!("f{k}_0"),
            ["r0", "r0"],
            0,
            OPS[k % OPS.len()],
            "x_0",
        );
    }
    format!(
        "loop wide_folds\ncomb 0 manifest at r0\nparam xs_0: [i64] stream r0\nrate r0 root ix_0 < n_0 {{ stage 0 }}\n{}\
         init_0:\n  let n_0 = arrayLength xs_0\n  carry ix_0 = 0\n{}guard_0:\n  let more_0 = lt ix_0 n_0\n  unless more_0\n\
         body_0:\n  let x_0 = readArray xs_0 ix_0\n{}yield_0:\n{}bottom_0:\n  let nix_0 = add ix_0 1\n  ix_0 := nix_0\n\
         done_0:\n  return{}\n",
        all.groups, all.init, all.body, all.yields, all.results,
    )
}

/// Writes folds and scans of pairs in each segment, and outer folds.
///
/// The outer folds combine the inner ones. With `head`, the lengths of segments depend on that many
/// sums of earlier lengths.
pub fn segments(folds: usize, scans: usize, head: usize) -> String {
    let (mut outer, mut inner) = (Sections::default(), Sections::default());
    let (mut rooms, mut ends) = Default::default();
    let (rooms, ends): (&mut String, &mut String) = (&mut rooms, &mut ends);
    let mut lengths = String::new();
    for k in 0..head {
        let name = format!("h{k}_0");
        let _ = writeln!(
            outer.groups,
            "group {name} owner r0 step r0 start {k} id 0 next n{name} combine add level 0 exact"
        );
        let _ = writeln!(outer.init, "  carry {name} = {k}");
        let _ = writeln!(
            lengths,
            "  let n{name} = add {name} elt_0\n  let odd{name} = and {name} 1"
        );
        let before = if k == 0 {
            "0".into()
        } else {
            format!("all{}_0", k - 1)
        };
        let _ = writeln!(lengths, "  let all{k}_0 = xor {before} odd{name}");
        let _ = writeln!(outer.yields, "  {name} := n{name}");
    }
    let last = if head == 0 {
        "0".into()
    } else {
        format!("all{}_0", head - 1)
    };
    let level = u32::from(head > 0);
    for k in 0..folds {
        let op = OPS[k % OPS.len()];
        inner.fold(&format!("f{k}_1"), ["r1", "r1"], level + 1, op, "x_1");
        let _ = writeln!(rooms, "  let out{k}_0 = newArray i64 len_0");
        let _ = writeln!(ends, "  writeArray out{k}_0 ix_0 f{k}_1");
        let _ = write!(outer.results, " out{k}_0");
        if k % 3 == 0 {
            outer.fold(
                &format!("t{k}_0"),
                ["r0", "r0"],
                level + 2,
                op,
                &format!("f{k}_1"),
            );
        }
    }
    for k in 0..scans {
        inner.scan(&format!("{k}_1"), ["r1", "r1"], level + 1, "x_1, 7i64");
        if k % 7 == 0 {
            let _ = writeln!(rooms, "  let each{k}_1 = newArray i64 len_1");
            let _ = writeln!(inner.yields, "  writeArray each{k}_1 ix_1 r{k}_1");
            let _ = write!(outer.results, " each{k}_1");
        }
    }
    format!(
        "loop wide_segments\ncomb 0 manifest at r0\ncomb 1 manifest at r1\ncomb 2 fold_s at r0 stage 1\n\
         param segs_0: [u64] stream r0\nparam xs_1: [i64] stream r1\n\
         rate r0 root ix_0 < len_0 {{ stage 0; child r1; stage 1 }}\nrate r1 nested r0 ix_1 < end_1 {{ stage 0 }}\n\
         group ix_1 owner r0 step r1 start 0 id 0 next nix_1 combine add level {level} exact\n{}{}{AFFINE}\
         init_0, init_1:\n  let len_0 = arrayLength segs_0\n  let len_1 = arrayLength xs_1\n{rooms}  carry ix_0 = 0\n  carry ix_1 = 0\n{}\
         guard_0:\n  let more_0 = lt ix_0 len_0\n  unless more_0\nbody_0:\n  let elt_0 = readArray segs_0 ix_0\n{lengths}yield_0:\n\
         nest_1:\n  let size_1 = add elt_0 {last}\n  let end_1 = add ix_1 size_1\n{}\
         guard_1:\n  let more_1 = lt ix_1 end_1\n  unless more_1\nbody_1:\n  let x_1 = readArray xs_1 ix_1\n{}yield_1:\n{}\
         bottom_1:\n  let nix_1 = add ix_1 1\n  ix_1 := nix_1\ndone_1:\nbody_2:\n{}yield_2:\n{ends}{}\
         bottom_0:\n  let nix_0 = add ix_0 1\n  ix_0 := nix_0\ndone_0:\n  return ix_1{}\n",
        outer.groups,
        inner.groups,
        outer.init,
        inner.init,
        inner.body,
        inner.yields,
        outer.body,
        outer.yields,
        outer.results,
    )
}

/// Writes sequential groups of each row, and folds of them.
pub fn rows(folds: usize) -> String {
    let mut outer = Sections::default();
    for k in 0..folds {
        outer.fold(
            &format!("t{k}_0"),
            ["r0", "r0"],
            1,
            OPS[k % OPS.len()],
            "last_1",
        );
    }
    format!(
        "loop wide_rows\ncomb 0 manifest at r0\ncomb 1 manifest at r1\ncomb 2 fold_s at r0 stage 1\n\
         param h_0: u64\nparam w_1: u64\nparam xs_1: [i64] random\n\
         rate r0 root ix_0 < h_0 {{ stage 0; child r1; stage 1 }}\nrate r1 uniform r0 ix_1 < w_1 {{ stage 0 }}\n\
         group last_1 owner r1 step r1 start 1i64 next new_1 level 0 sequential\n{}\
         init_0, init_1:\n  carry ix_0 = 0\n{}\
         guard_0:\n  let more_0 = lt ix_0 h_0\n  unless more_0\nbody_0:\n  let row_0 = mul ix_0 w_1\nyield_0:\n\
         nest_1:\n  carry ix_1 = 0\n  carry last_1 = 1i64\n\
         guard_1:\n  let more_1 = lt ix_1 w_1\n  unless more_1\nbody_1:\n  let at_1 = add row_0 ix_1\n  let x_1 = readArray xs_1 at_1\n  \
         let less_1 = mul last_1 3i64\n  let new_1 = sub x_1 less_1\nyield_1:\n  last_1 := new_1\n\
         bottom_1:\n  let nix_1 = add ix_1 1\n  ix_1 := nix_1\ndone_1:\nbody_2:\n{}yield_2:\n{}\
         bottom_0:\n  let nix_0 = add ix_0 1\n  ix_0 := nix_0\ndone_0:\n  return{}\n",
        outer.groups, outer.init, outer.body, outer.yields, outer.results,
    )
}
