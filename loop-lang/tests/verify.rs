//! Faults that no text can express, since the parser refuses them.

use loop_lang::ir::*;
use loop_lang::parse::parse;
use loop_lang::verify::verify;
use loop_lang::{Const, Loop};

const SCALARS: &str = "loop scalars
comb 0 scalar
trap t0 0 empty
init_0:
  let x_0 = 1
  trap unless true, t0
  goto done_0
done_0:
  return x_0
";

fn messages(l: &Loop) -> Vec<String> {
    verify(l)
        .unwrap_err()
        .iter()
        .map(|f| f.to_string())
        .collect()
}

/// Changes the first statement that `change` fits.
fn edit(l: &mut Loop, change: impl Fn(&mut StmtKind) -> bool) {
    let mut stmts = l.blocks.values_mut().flat_map(|b| &mut b.stmts);
    assert!(stmts.any(|s| change(&mut s.kind)));
}

#[test]
fn ids_must_resolve() {
    let whole = parse(SCALARS).unwrap();
    assert_eq!(verify(&whole), Ok(()));

    let mut l = whole.clone();
    edit(&mut l, |s| match s {
        StmtKind::Trap { trap, .. } => {
            *trap = TrapId(7);
            true
        }
        _ => false,
    });
    assert_eq!(messages(&l), ["block 0: there is no trap number 7"]);

    let mut l = whole.clone();
    l.combs.clear();
    assert!(messages(&l)[0].contains("there is no combinator number 0"));

    let mut l = whole.clone();
    l.roots.push(RateId(3));
    assert_eq!(messages(&l), ["loop: there is no rate number 3"]);

    let mut l = whole;
    l.vars.clear();
    assert!(messages(&l)[0].contains("there is no variable number 0"));
}

#[test]
fn regions_must_not_be_too_deep() {
    let mut l = parse(SCALARS).unwrap();
    let mut then = Vec::new();
    for _ in 0..=MAX_REGION_DEPTH {
        let kind = StmtKind::If {
            cond: Const::bool(true).into(),
            then,
            other: Vec::new(),
            results: Vec::new(),
        };
        let comb = CombId(0);
        then = vec![Stmt { comb, kind }];
    }
    if let Some(block) = l.blocks.values_mut().next() {
        block.stmts.extend(then);
    }
    assert!(messages(&l)[0].contains("nest deeper"));
}

#[test]
fn traps_report_at_most_three_values() {
    let mut l = parse(SCALARS).unwrap();
    edit(&mut l, |s| match s {
        StmtKind::Trap { payload, .. } => {
            *payload = vec![Const::u64(1).into(); 4].into();
            true
        }
        _ => false,
    });
    assert_eq!(
        messages(&l),
        ["init_0: a trap reports at most 3 values, not 4"]
    );
}
