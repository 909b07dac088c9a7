//! Loops of 10^5 combinators: no recursion over them, and no quadratic algorithms.

use loop_lang::Loop;
use loop_lang::chunkable::raise_levels;
use loop_lang::filled::filled;
use loop_lang::gotos::{complete_blocks, derive_gotos};
use loop_lang::parse::parse;
use loop_lang::verify::verify;
use std::fmt::Write;

const N: usize = 100_000;
/// Trees of rates, which take longer in debug builds.
const RATES: usize = N / 10;

fn check(text: &str) -> Loop {
    let mut l = parse(text).unwrap_or_else(|e| panic!("{}", e[0]));
    complete_blocks(&mut l);
    derive_gotos(&mut l);
    assert_eq!(verify(&l), Ok(()));
    let again = parse(&l.to_string()).unwrap_or_else(|e| panic!("{}", e[0]));
    assert_eq!(verify(&again), Ok(()));
    l
}

const HEAD: &str = "loop large
comb 0 manifest at r0
param arr_0: [u64] stream r0
";
const START: &str = "init_0:
  let len_0 = arrayLength arr_0
  carry ix_0 = 0
guard_0:
  let more_0 = lt ix_0 len_0
  unless more_0
body_0:
  let elt_0 = readArray arr_0 ix_0
";
const END: &str = "bottom_0:
  let nix_0 = add ix_0 1
  ix_0 := nix_0
";

/// A map of a map of a map ...
#[test]
fn chained_maps() {
    let mut text = HEAD.to_string();
    let mut body = String::new();
    for i in 1..N {
        writeln!(text, "comb {i} map at r0").unwrap();
        writeln!(body, "  let elt_{i} = add elt_{} 1", i - 1).unwrap();
    }
    text += "rate r0 root ix_0 < len_0 { stage 0 }\n";
    let l = check(&(text + START + &body + END + "done_0:\n  return\n"));
    assert_eq!(l.blocks.len(), 6);
}

/// A filter of a filter of a filter ..., each a rate below the last.
#[test]
fn chained_filters() {
    let mut text = HEAD.to_string();
    let mut rates = "rate r0 root ix_0 < len_0 { stage 0; child r1 }\n".to_string();
    let mut guards = String::new();
    for i in 1..RATES {
        writeln!(text, "comb {i} filter at r{i}").unwrap();
        let child = if i + 1 < RATES {
            format!("; child r{}", i + 1)
        } else {
            String::new()
        };
        writeln!(rates, "rate r{i} sub r{} {{ stage 0{child} }}", i - 1).unwrap();
        writeln!(
            guards,
            "guard_{i}:\n  let p_{i} = gt elt_0 {i}\n  unless p_{i}"
        )
        .unwrap();
    }
    let l = check(&(text + &rates + START + &guards + END + "done_0:\n  return\n"));
    assert_eq!(l.blocks.len(), 6 + 4 * (RATES - 1));
}

/// Many filters and sums of one array.
#[test]
fn sibling_folds() {
    let mut text = HEAD.to_string();
    let (mut rates, mut groups, mut blocks) = (String::new(), String::new(), String::new());
    let (mut parts, mut init) = ("stage 0".to_string(), String::new());
    for i in 1..RATES {
        writeln!(text, "comb {i} sum at r{i}").unwrap();
        write!(parts, "; child r{i}").unwrap();
        writeln!(rates, "rate r{i} sub r0 {{ stage 0 }}").unwrap();
        writeln!(
            groups,
            "group acc_{i} owner r0 step r{i} start 0 id 0 next new_{i} combine add level 0 lanes 32"
        )
        .unwrap();
        writeln!(init, "  carry acc_{i} = 0").unwrap();
        writeln!(
            blocks,
            "guard_{i}:\n  let p_{i} = gt elt_0 {i}\n  unless p_{i}"
        )
        .unwrap();
        writeln!(
            blocks,
            "yield_{i}:\n  let new_{i} = add acc_{i} elt_0\n  acc_{i} := new_{i}"
        )
        .unwrap();
    }
    let rates = format!("rate r0 root ix_0 < len_0 {{ {parts} }}\n{rates}");
    let start = START.replacen("  carry", &(init + "  carry"), 1);
    check(&(text + &rates + &groups + &start + &blocks + END + "done_0:\n  return\n"));
}

/// A scan of a scan of a scan ...: dependences are not followed to the beginning for each scan.
#[test]
fn chained_scans() {
    let mut text = HEAD.to_string();
    let (mut groups, mut init, mut body) = (String::new(), String::new(), String::new());
    let mut assigns = String::new();
    for i in 1..RATES {
        writeln!(text, "comb {i} scan at r0").unwrap();
        writeln!(
            groups,
            "group acc_{i} owner r0 step r0 start 0 id 0 next elt_{i} combine add level {} exact",
            i - 1
        )
        .unwrap();
        writeln!(init, "  carry acc_{i} = 0").unwrap();
        writeln!(body, "  let elt_{i} = add acc_{i} elt_{}", i - 1).unwrap();
        writeln!(assigns, "  acc_{i} := elt_{i}").unwrap();
    }
    text += "rate r0 root ix_0 < len_0 { stage 0 }\n";
    let start = START.replacen("  carry", &(init + "  carry"), 1);
    let end = END.to_string() + &assigns + "done_0:\n  return\n";
    let mut l = check(&(text + &groups + &start + &body + &end));
    raise_levels(&mut l);
    assert_eq!(verify(&l), Ok(()));
}

/// Many results of one loop: all are found to be filled in one walk.
#[test]
fn many_results() {
    let mut text = HEAD.to_string();
    let (mut init, mut writes, mut results) = (String::new(), String::new(), String::new());
    for i in 1..RATES {
        writeln!(text, "comb {i} map at r0").unwrap();
        writeln!(init, "  let out_{i} = newArray u64 len_0").unwrap();
        writeln!(writes, "  writeArray out_{i} ix_0 elt_0").unwrap();
        write!(results, " out_{i}").unwrap();
    }
    text += "rate r0 root ix_0 < len_0 { stage 0 }\n";
    let start = START.replacen("guard_0", &(init + "guard_0"), 1);
    let end = END.to_string() + "done_0:\n  return" + &results + "\n";
    let l = check(&(text + &start + &writes + &end));
    assert_eq!(filled(&l).len(), RATES - 1);
}
