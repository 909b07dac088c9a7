//! The text form is complete, and the parser accepts arbitrary input without a panic.

mod common;

use common::{contents, random_loop};
use loop_lang::gotos::{derive_gotos, order_blocks};
use loop_lang::ir::MAX_REGION_DEPTH;
use loop_lang::parse::parse;
use loop_lang::types::{Const, Ty};
use loop_lang::verify::verify;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

/// The golden loops' texts.
fn golden() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/golden");
    let entries = fs::read_dir(folder).expect("the golden loops are there");
    let mut paths: Vec<_> = entries.flatten().map(|e| e.path()).collect();
    paths.sort();
    paths
        .iter()
        .map(|p| fs::read_to_string(p).expect("a text"))
        .collect()
}

/// Checks the properties of every text that parses.
fn holds_of_parsed(text: &str) -> Result<(), TestCaseError> {
    let Ok(mut l) = parse(text) else {
        return Ok(());
    };
    let printed = l.to_string();
    let again = parse(&printed).map_err(|e| TestCaseError::fail(format!("{e:?}\n{printed}")))?;
    prop_assert_eq!(again.to_string(), printed);
    prop_assert_eq!(contents(&again), contents(&l));
    // Neither may panic, for any loop.
    let _ = verify(&l);
    derive_gotos(&mut l);
    let _ = verify(&l);
    Ok(())
}

#[test]
fn golden_loops_round_trip() {
    for text in golden() {
        holds_of_parsed(&text).unwrap();
    }
}

#[test]
fn deep_regions_are_an_error() {
    let region = |depth: usize| {
        let (open, close) = (
            "if true {\n".repeat(depth),
            "} else {\n} @0\n".repeat(depth),
        );
        format!("loop deep\ncomb 0 map\ninit_0:\n{open}{close}")
    };
    assert!(parse(&region(MAX_REGION_DEPTH)).is_ok());
    let faults = parse(&region(1000)).unwrap_err();
    assert!(faults[0].message.contains("nest deeper"), "{faults:?}");
}

proptest! {
    // Failing seeds are printed, so they need no file.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_loops_verify_and_round_trip(seed: u64) {
        let l = random_loop(seed);
        let text = l.to_string();
        prop_assert_eq!(verify(&l), Ok(()), "{}", text);
        let again = parse(&text).map_err(|e| TestCaseError::fail(format!("{e:?}\n{text}")))?;
        prop_assert_eq!(contents(&again), contents(&l));
        prop_assert_eq!(again.to_string(), text);
    }

    #[test]
    fn derived_gotos_and_order_are_stable(seed: u64) {
        let mut l = random_loop(seed);
        let text = l.to_string();
        derive_gotos(&mut l);
        order_blocks(&mut l);
        prop_assert_eq!(l.to_string(), text);
    }

    #[test]
    fn literals_round_trip(which in 0..Ty::ALL.len(), bits in prop_oneof![any::<u64>(), 0x7ff0_0000_0000_0000..=0x7ff8_0000_0000_0001u64, 0x7f80_0000..=0x7fc0_0001u64]) {
        let literal = Const::new(Ty::ALL[which], bits);
        prop_assert_eq!(literal.to_string().parse(), Ok(literal));
    }

    #[test]
    fn any_text_is_parsed_or_refused(text in ".{0,200}") {
        let _ = text.parse::<Const>();
        holds_of_parsed(&text)?;
    }

    #[test]
    fn words_in_any_order_are_parsed_or_refused(
        words in prop::collection::vec(prop::sample::select(vec![
            "loop", "comb", "param", "rate", "group", "trap", "fn", "let", "carry", "if", "else",
            "while", "unless", "goto", "return", "scan", "with", "add", "select", "cast", "r0", "x_0",
            "init_0", "0", "1.5", "-inf", "nan", "0x7ff.f64", ".", "f64", "[", "]", "{", "}", "(", ")",
            ":=", "->", ":", ",", ";", "|", "<", "@", "=", "\n", "\n", "\n", "root", "at", "stage",
        ]), 0..60),
    ) {
        holds_of_parsed(&words.join(" "))?;
        holds_of_parsed(&format!("loop l\ncomb 0 map\ninit_0:\n{}", words.join(" ")))?;
    }

    #[test]
    fn damaged_loops_are_parsed_or_refused(
        which: prop::sample::Index,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..4), 1..4),
    ) {
        let texts = golden();
        let mut lines: Vec<String> = texts[which.index(texts.len())].lines().map(str::to_string).collect();
        for (a, b, kind) in edits {
            let (i, j) = (a.index(lines.len()), b.index(lines.len()));
            match kind {
                0 => lines.swap(i, j),
                1 => { lines.remove(i); }
                2 => lines.insert(i, lines[j].clone()),
                _ => {
                    let mut words: Vec<&str> = lines[i].split(' ').collect();
                    words.remove(b.index(words.len()));
                    lines[i] = words.join(" ");
                }
            }
            if lines.is_empty() { break; }
        }
        holds_of_parsed(&lines.join("\n"))?;
    }
}
