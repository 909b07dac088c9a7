//! Faults that no text can express, since the parser rejects them.

use loop_lang::ir::*;
use loop_lang::parse::parse;
use loop_lang::verify::verify;
use loop_lang::{Const, Loop, Ty};

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

/// Changes the first statement for which `change` returns true.
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

#[test]
fn constants_must_be_canonical() {
    let whole = parse(SCALARS).unwrap();
    let wrong = [
        (Ty::Bool, 2, "done_0: 0x2 is no `bool`"),
        (Ty::I8, 0xff, "done_0: 0xff is no `i8`"),
        (Ty::I32, 0x8000_0000, "done_0: 0x80000000 is no `i32`"),
        (Ty::U16, 0x1_0000, "done_0: 0x10000 is no `u16`"),
        (Ty::F32, 1 << 32, "done_0: 0x100000000 is no `f32`"),
    ];
    for (ty, bits, message) in wrong {
        let mut l = whole.clone();
        for block in l.blocks.values_mut() {
            if let End::Return(results) = &mut block.end {
                *results = vec![Atom::Const(Const { ty, bits })];
            }
        }
        assert_eq!(messages(&l), [message]);
    }
    // Also in a statement: a backend would write the word into an array unchanged.
    let mut l = whole;
    edit(&mut l, |s| match s {
        StmtKind::Let(_, _, args) => {
            args[0] = Atom::Const(Const {
                ty: Ty::U8,
                bits: 256,
            });
            true
        }
        _ => false,
    });
    assert!(messages(&l).contains(&"init_0: 0x100 is no `u8`".to_string()));
}
