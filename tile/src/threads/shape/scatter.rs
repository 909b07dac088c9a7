//! Which scatters run in parallel: those by an operator for which the order of values does not matter, where nobody else
//! looks at the array, or writes to it.

use super::{Refusal, Shape, each};
use loop_lang::Loop;
use loop_lang::chunkable::chunkable;
use loop_lang::ir::{Combine, StmtKind, Var};
use loop_lang::op::Op;
use loop_lang::walk;
use rustc_hash::FxHashMap;

/// An array that steps join values onto.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scatter {
    /// The array.
    pub array: Var,
    /// What they are joined by.
    pub op: Op,
}

/// The arrays that steps join values onto.
pub(super) fn find(program: &Loop) -> Result<Vec<Scatter>, Refusal> {
    let mut found: FxHashMap<Var, Option<Op>> = FxHashMap::default();
    let mut all = Vec::new();
    for (_, block) in program.blocks.iter() {
        each(&block.stmts, &mut |s| match &s.kind {
            StmtKind::ScatterArray {
                arrays, combine, ..
            } => {
                let (array, op) = joined(program, arrays, *combine)?;
                match found.insert(array, Some(op)) {
                    None => all.push(Scatter { array, op }),
                    Some(known) if known == Some(op) => {}
                    Some(_) => return Err(Refusal::Scatter("in several ways")),
                }
                Ok(())
            }
            StmtKind::WriteArray(array, ..) => match found.insert(*array, None) {
                Some(Some(_)) => Err(Refusal::Scatter("in several ways")),
                _ => Ok(()),
            },
            _ => Ok(()),
        })?;
    }
    Ok(all)
}

fn joined(program: &Loop, arrays: &[Var], combine: Option<Combine>) -> Result<(Var, Op), Refusal> {
    match (arrays, combine) {
        (_, None) => Err(Refusal::Scatter("of which the last one stays")),
        ([array], Some(Combine::Op(op))) if op.identity(program.ty(*array).elem()).is_some() => {
            Ok((*array, op))
        }
        _ => Err(Refusal::Scatter(
            "by a function that may ask for their order",
        )),
    }
}

impl Shape<'_> {
    /// Whether steps join values onto an array.
    pub(super) fn is_scattered(&self, array: Var) -> bool {
        let mut is_it = false;
        for stmt in self.steps().flat_map(|b| &b.block.stmts) {
            walk::each(stmt, &mut |s| {
                is_it |= matches!(&s.kind, StmtKind::ScatterArray { arrays, .. } if arrays.contains(&array));
            });
        }
        is_it
    }
}

/// Whether the order of steps does not matter otherwise.
pub(super) fn check_order(mut rest: Loop) -> Result<(), Refusal> {
    for block in rest.blocks.values_mut() {
        without_scatters(&mut block.stmts);
    }
    chunkable(&rest).map_err(|why| Refusal::Order(why.to_string()))
}

fn without_scatters(stmts: &mut Vec<loop_lang::ir::Stmt>) {
    stmts.retain(|s| !matches!(s.kind, StmtKind::ScatterArray { .. }));
    for s in stmts {
        walk::regions_mut(&mut s.kind)
            .into_iter()
            .for_each(without_scatters);
    }
}
