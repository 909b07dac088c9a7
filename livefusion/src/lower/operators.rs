//! Operators of folds, scans and scatters: identities, orders and combine functions.
//!
//! A *plain* body has one operator per field.

use super::Lower;
use super::body::{self, Inline};
use super::emission::Emission;
use crate::ast::{Body, plain};
use crate::sharing::NodeId;
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

/// Bytes over which a plain float fold deals its lanes, on every machine.
const LANE_BYTES: usize = 256;
/// Steps in a run of a fold.
const RUN: u32 = 128;
/// Bytes that a plain float scan joins by a tree.
const PREFIX_BYTES: usize = 64;

/// Returns the identity of a plain fold.
///
/// Zero for an operator that has none at this type; no body computes that.
pub fn identity(op: Op, ty: Ty) -> Const {
    op.identity(ty).unwrap_or(Const::zero(ty))
}

/// Returns the order of a plain fold over elements of this type.
pub fn fold_order(op: Op, ty: Ty) -> Order {
    match op.joins_in_any_order(ty) {
        true => Order::Exact,
        false => Order::Lanes((LANE_BYTES / ty.size()) as u32),
    }
}

/// Returns the lanes for a state of these fields.
///
/// A wide state has fewer lanes, so that all of them fit in registers.
pub fn lanes_of(state: &[Ty]) -> Order {
    let bytes: usize = state.iter().map(|ty| ty.size()).sum();
    let lanes = (LANE_BYTES / bytes.max(1)).max(1).next_power_of_two();
    Order::Lanes(lanes as u32)
}

/// Returns the order of a plain scan.
///
/// In a subrate an element has no fixed position in a block, so the scan runs left to right.
pub fn scan_order(op: Op, ty: Ty, in_subrate: bool) -> Order {
    match in_subrate {
        _ if op.joins_in_any_order(ty) => Order::Exact,
        true => Order::Prefix(1),
        false => Order::Prefix((PREFIX_BYTES / ty.size()) as u32),
    }
}

/// Returns a body of (left, right) as a combine operator.
///
/// A plain body of one field is an operator. Any other body is a function.
pub fn combine(e: &mut Emission<'_>, id: NodeId, which: usize, body: &Body) -> Lower<Combine> {
    if let Some([op]) = plain(body).as_deref() {
        return Ok(Combine::Op(*op));
    }
    let comb = e.comb(id);
    let params: Vec<Var> = body
        .params
        .iter()
        .map(|t| e.scalar("a", comb, *t))
        .collect();
    let args: Vec<Atom> = params.iter().map(|v| (*v).into()).collect();
    let inline = Inline::new(id, which, comb, Section::Body);
    let (stmts, results) = body::statements(e, &inline, body, &args, "r")?;
    Ok(function(e, comb, params, stmts, results))
}

/// Emits a combine function for states that may be empty.
///
/// Each operand is a flag that tells whether it has a value, then its fields. Two operands with
/// values are joined by `body`.
pub fn lifted_combine(
    e: &mut Emission<'_>,
    id: NodeId,
    which: usize,
    body: &Body,
) -> Lower<Combine> {
    let comb = e.comb(id);
    let width = body.results.len();
    let side = |e: &mut Emission<'_>, name: &str, types: &[Ty]| -> (Var, Vec<Var>) {
        let seen = e.scalar(&format!("{name}seen"), comb, Ty::Bool);
        (
            seen,
            types.iter().map(|t| e.scalar(name, comb, *t)).collect(),
        )
    };
    let (left_seen, left) = side(e, "a", &body.params[..width]);
    let (right_seen, right) = side(e, "b", &body.params[width..]);
    let args: Vec<Atom> = left.iter().chain(&right).map(|v| (*v).into()).collect();
    let inline = Inline::new(id, which, comb, Section::Body);
    let (joined, values) = body::statements(e, &inline, body, &args, "r")?;
    let stmt = |kind| Stmt { comb, kind };
    let mut inner = Vec::new();
    let mut outer = Vec::new();
    for (field, value) in values.into_iter().enumerate() {
        let ty = e.program.ty(left[field]).elem();
        let both = e.scalar("both", comb, ty);
        let out = e.scalar("out", comb, ty);
        inner.push((both, value, left[field].into()));
        outer.push((out, both.into(), right[field].into()));
    }
    let mut results: Vec<Atom> = vec![];
    let seen = e.scalar("seen", comb, Ty::Bool);
    results.push(seen.into());
    results.extend(outer.iter().map(|r| Atom::Var(r.0)));
    let seen_args = Args::from_slice(&[left_seen.into(), right_seen.into()]);
    let inner = stmt(StmtKind::If {
        cond: right_seen.into(),
        then: joined,
        other: vec![],
        results: inner,
    });
    let outer = StmtKind::If {
        cond: left_seen.into(),
        then: vec![inner],
        other: vec![],
        results: outer,
    };
    let stmts = vec![stmt(StmtKind::Let(seen, Op::Or, seen_args)), stmt(outer)];
    let params = [left_seen]
        .into_iter()
        .chain(left)
        .chain([right_seen])
        .chain(right)
        .collect();
    Ok(function(e, comb, params, stmts, results))
}

fn function(
    e: &mut Emission<'_>,
    comb: CombId,
    params: Vec<Var>,
    body: Vec<Stmt>,
    results: Vec<Atom>,
) -> Combine {
    let mut name = format!("join_{}", e.program.comb(comb).name);
    let taken = e
        .program
        .functions
        .iter()
        .filter(|f| f.comb == comb)
        .count();
    if taken > 0 {
        name = format!("join{taken}_{}", e.program.comb(comb).name);
    }
    e.program.functions.push(Function {
        name,
        comb,
        params,
        body,
        results,
    });
    Combine::Fn(FnId::new(e.program.functions.len() - 1))
}

/// Lets the folds of a loop run in runs.
///
/// Requires a loop that only folds, left to right. Runs do not wait for each other. In other loops,
/// the ends of runs cost time and gain nothing.
pub fn set_runs(program: &mut Loop) {
    let flat = matches!(
        program.rates[..],
        [Rate {
            kind: RateKind::Root { .. },
            ..
        }]
    );
    let serial = program.groups.iter().all(|g| g.order == Order::Lanes(1));
    let stmts = program.blocks.iter().flat_map(|(_, b)| &b.stmts);
    let mut writes = stmts.filter(|s| {
        matches!(
            s.kind,
            StmtKind::WriteArray(..) | StmtKind::ScatterArray { .. }
        )
    });
    if flat && serial && writes.next().is_none() {
        for group in &mut program.groups {
            group.order = Order::Runs(RUN);
        }
    }
}
