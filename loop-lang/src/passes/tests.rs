use super::*;
use crate::gotos::{complete_blocks, derive_gotos};
use crate::ir::{BlockId, CombId, Label, Section};
use crate::parse::parse;
use std::fmt::Write;
use std::time::{Duration, Instant};

fn read(text: &str) -> Loop {
    let mut l = parse(text).unwrap_or_else(|e| panic!("{}", e[0]));
    complete_blocks(&mut l);
    derive_gotos(&mut l);
    assert_eq!(verify(&l), Ok(()));
    l
}

const FILTERS: &str = include_str!("../../tests/files/golden/filter_max.loop");

fn filters() -> Loop {
    read(FILTERS.split("# ----").next().unwrap_or(FILTERS))
}

#[test]
fn empty_blocks_are_skipped() {
    let l = filters();
    let to = goto_threading::destinations(&l);
    let id = |section, comb| {
        l.block_id(Label {
            section,
            comb: CombId(comb),
        })
        .unwrap_or(BlockId(99))
    };
    assert_eq!(to[id(Section::Bottom, 2).index()], id(Section::Bottom, 0));
    assert_eq!(to[id(Section::Yield, 0).index()], id(Section::Yield, 0));
    assert_eq!(to.len(), l.blocks.len());
}

#[test]
fn loops_that_do_not_verify_are_left_alone() {
    let mut l = filters();
    l.groups[0].next.clear();
    let before = l.to_string();
    optimize(&mut l);
    assert_eq!(l.to_string(), before);
}

#[test]
fn names_are_those_of_the_files() {
    for pass in PIPELINE {
        assert!(
            std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
                .join(format!("src/passes/{}.rs", pass.name))
                .exists()
        );
    }
}

/// A body of 10^5 statements with work for all passes. They take seconds in a debug build;
/// quadratic ones would take hours.
#[test]
fn large_bodies() {
    const N: usize = 100_000;
    let mut text =
        String::from("loop large\ncomb 0 manifest at r0\nparam arr_0: [i64] stream r0\n");
    text += "param k_0: i64\nrate r0 root ix_0 < len_0 { stage 0 }\ninit_0:\n";
    text += "  let len_0 = arrayLength arr_0\n  let out_0 = newArray i64 len_0\n  carry ix_0 = 0\n";
    text += "guard_0:\n  let more_0 = lt ix_0 len_0\n  unless more_0\nbody_0:\n";
    text += "  let x0_0 = readArray arr_0 ix_0\n  let c0_0 = add k_0 1i64\n";
    for i in 1..N / 4 {
        let p = i - 1;
        writeln!(text, "  let y{i}_0 = add x{p}_0 0i64").expect("strings grow");
        writeln!(text, "  let z{i}_0 = mul 3i64 x{p}_0").expect("strings grow");
        writeln!(text, "  let c{i}_0 = add c{p}_0 k_0").expect("strings grow");
        writeln!(text, "  let x{i}_0 = mul y{i}_0 3i64").expect("strings grow");
    }
    writeln!(text, "  let w_0 = add x{}_0 c{}_0", N / 4 - 1, N / 4 - 1).expect("strings grow");
    text += "yield_0:\n  writeArray out_0 ix_0 w_0\n";
    text += "bottom_0:\n  let nix_0 = add ix_0 1\n  ix_0 := nix_0\ndone_0:\n  return out_0\n";
    let mut l = read(&text);
    let begun = Instant::now();
    optimize(&mut l);
    assert!(
        begun.elapsed() < Duration::from_secs(60),
        "{:?}",
        begun.elapsed()
    );
    let count: usize = l.blocks.iter().map(|(_, b)| b.stmts.len()).sum();
    assert_eq!(count, 10 + N / 4 - 1 + N / 4 - 1);
    let summary = summary(&l, 0);
    assert_eq!(
        summary
            .blocks
            .iter()
            .map(|(_, b)| b.stmts.len())
            .sum::<usize>(),
        5
    );
}

/// A chain of filters, each a rate below the last, with a sum at each.
#[test]
fn deep_trees() {
    const N: usize = 2_000;
    let mut text = String::from("loop deep\ncomb 0 manifest at r0\nparam arr_0: [u64] stream r0\n");
    let (mut rates, mut groups) = (String::new(), String::new());
    let (mut init, mut blocks, mut results) = (String::new(), String::new(), String::new());
    for i in 0..N {
        let child = if i + 1 < N {
            format!("; child r{}", i + 1)
        } else {
            String::new()
        };
        let kind = match i {
            0 => "root ix_0 < len_0".to_string(),
            _ => format!("sub r{}", i - 1),
        };
        writeln!(rates, "rate r{i} {kind} {{ stage 0{child} }}").expect("strings grow");
        if i == 0 {
            continue;
        }
        writeln!(text, "comb {i} filter at r{i}").expect("strings grow");
        writeln!(
            groups,
            "group acc_{i} owner r0 step r{i} start 0 id 0 next n_{i} combine add level 0 exact"
        )
        .expect("strings grow");
        writeln!(init, "  carry acc_{i} = 0").expect("strings grow");
        write!(
            blocks,
            "guard_{i}:\n  let p_{i} = gt elt_0 {i}\n  unless p_{i}\n\
             yield_{i}:\n  let n_{i} = add acc_{i} elt_0\n  acc_{i} := n_{i}\n"
        )
        .expect("strings grow");
        write!(results, " acc_{i}").expect("strings grow");
    }
    text = text + &rates + &groups + "init_0:\n  let len_0 = arrayLength arr_0\n  carry ix_0 = 0\n";
    text = text + &init + "guard_0:\n  let more_0 = lt ix_0 len_0\n  unless more_0\n";
    text = text + "body_0:\n  let elt_0 = readArray arr_0 ix_0\n" + &blocks;
    text += "bottom_0:\n  let nix_0 = add ix_0 1\n  ix_0 := nix_0\ndone_0:\n  return";
    let mut l = read(&(text + &results + "\n"));
    let before = l.to_string();
    let begun = Instant::now();
    optimize(&mut l);
    let layout = crate::state::Layout::of(&l);
    assert!(
        begun.elapsed() < Duration::from_secs(60),
        "{:?}",
        begun.elapsed()
    );
    // Position, steps, the length, and carried variables.
    assert_eq!(layout.words, 3 + N);
    assert_eq!(l.to_string(), before);
}
