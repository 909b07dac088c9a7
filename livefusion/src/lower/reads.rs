//! Indexed reads: from memory, or inlined from an index function.
//!
//! Reads of an inlined array use no memory: each read computes the element.
//!
//! ```text
//! body_1:  let ix_1 = sub last_1 ix_1          (the index, of the one who reads)
//!          let elt_0 = mul (readArray arr ix_1) k_0
//! ```

use super::Lower;
use super::body::{self, Inline};
use super::emission::Emission;
use crate::ast::Kind;
use crate::sharing::{FieldRef, NodeId};
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashMap;

/// Holds elements that were read or computed already, by region.
///
/// Values bound in a region are visible in the regions inside of it.
#[derive(Debug, Default)]
pub struct KnownElements {
    regions: Vec<FxHashMap<(FieldRef, Atom), Atom>>,
}

impl KnownElements {
    /// Enters a region.
    pub fn open(&mut self) {
        self.regions.push(FxHashMap::default());
    }

    /// Leaves the innermost region, and drops its values.
    pub fn close(&mut self) {
        self.regions.pop();
    }

    /// Returns a field's element at an index, if it is visible here.
    pub fn get(&self, field: FieldRef, index: Atom) -> Option<Atom> {
        let mut around = self.regions.iter().rev();
        around.find_map(|r| r.get(&(field, index)).copied())
    }

    /// Sets a field's element at an index.
    pub fn set(&mut self, field: FieldRef, index: Atom, value: Atom) {
        if let Some(here) = self.regions.last_mut() {
            here.insert((field, index), value);
        }
    }
}

/// Adds the statements that read fields of an array's element.
///
/// At an index out of bounds, an array in memory gives zero. An inlined array gives any value of
/// its function.
pub fn elements(
    e: &mut Emission<'_>,
    known: &mut KnownElements,
    (array, fields): (NodeId, &[u32]),
    index: Atom,
    comb: CombId,
    out: &mut Vec<Stmt>,
) -> Lower {
    let missing = |f: &u32| known.get((array, *f), index).is_none();
    let fields: Vec<u32> = fields.iter().copied().filter(missing).collect();
    if fields.is_empty() {
        return Ok(());
    }
    if e.scope.plan.inlining.is_inlined(array) {
        return compute(e, known, (array, &fields), index, out);
    }
    for field in fields {
        let var = e.random((array, field));
        let ty = e.program.ty(var).elem();
        let elt = e.scalar("elt", comb, ty);
        let kind = StmtKind::ReadArray(elt, var, index);
        out.push(Stmt { comb, kind });
        known.set((array, field), index, elt.into());
    }
    Ok(())
}

/// Adds the same statements as [`elements`] for an unchecked index.
///
/// At an index out of bounds, inlined arrays give zero, and nothing traps.
pub fn elements_inside(
    e: &mut Emission<'_>,
    known: &mut KnownElements,
    (array, fields): (NodeId, &[u32]),
    (index, inside): (Atom, Atom),
    comb: CombId,
    out: &mut Vec<Stmt>,
) -> Lower {
    if fields.is_empty() || !e.scope.plan.inlining.is_inlined(array) {
        return elements(e, known, (array, fields), index, comb, out);
    }
    let mut then = Vec::new();
    known.open();
    elements(e, known, (array, fields), index, comb, &mut then)?;
    let computed = fields.iter().map(|f| known.get((array, *f), index));
    let computed: Vec<Option<Atom>> = computed.collect();
    known.close();
    let mut results = Vec::new();
    for (field, value) in fields.iter().zip(computed) {
        let ty = e.scope.graph.node(array).types[*field as usize];
        let zero: Atom = Const::zero(ty).into();
        let elt = e.scalar("elt", comb, ty);
        results.push((elt, value.unwrap_or(zero), zero));
        known.set((array, *field), index, elt.into());
    }
    let stmt = |kind| Stmt { comb, kind };
    if e.scope.plan.inlining.may_trap(array) {
        out.push(stmt(StmtKind::If {
            cond: inside,
            then,
            other: Vec::new(),
            results,
        }));
        return Ok(());
    }
    out.extend(then);
    for (elt, value, zero) in results {
        let select = Args::from_slice(&[inside, value, zero]);
        out.push(stmt(StmtKind::Let(elt, Op::Select, select)));
    }
    Ok(())
}

/// The row of an element, and the index within it. They come from the flat index's operands, or
/// from a division.
fn taken_apart(
    e: &mut Emission<'_>,
    index: Atom,
    lengths: FieldRef,
    comb: CombId,
    out: &mut Vec<Stmt>,
) -> (Atom, Atom) {
    let length = e.one_length(lengths);
    if let Some(flat) = e.values.flat.get(&index).filter(|f| f.length == length) {
        return (flat.outer, flat.inner);
    }
    let [outer, inner] = [("row", Op::Div), ("col", Op::Rem)].map(|(base, op)| {
        let var = e.scalar(base, comb, Ty::U64);
        let kind = StmtKind::Let(var, op, Args::from_slice(&[index, length]));
        out.push(Stmt { comb, kind });
        var.into()
    });
    (outer, inner)
}

/// Computes fields of an inlined array's element at an index.
fn compute(
    e: &mut Emission<'_>,
    known: &mut KnownElements,
    (id, fields): (NodeId, &[u32]),
    index: Atom,
    out: &mut Vec<Stmt>,
) -> Lower {
    let graph = e.scope.graph;
    let node = &graph.nodes[id.index()];
    let mut all = node.node.kind.bodies();
    let (Some(body), last) = (all.pop(), all.len()) else {
        return Ok(());
    };
    let comb = e.comb(id);
    let mut inline = Inline::new(id, last, comb, Section::Body);
    let width = node.node.types.len() as u32;
    inline.wanted = Some((0..width).map(|f| fields.contains(&f)).collect());
    let columns: Vec<FieldRef> = e.scope.all_columns(id).iter().map(|c| c.field).collect();
    let mut args: Vec<Atom> = vec![index];
    if let Kind::Expand(_) = node.node.kind {
        let (outer, inner) = taken_apart(e, index, columns[0], comb, out);
        args = body.params.iter().map(|t| Const::zero(*t).into()).collect();
        args[0] = inner;
        let used = body::used_params(body, inline.wanted.as_deref());
        for k in used.into_iter().filter(|k| *k > 0) {
            let (n, field) = columns[k];
            elements(e, known, (n, &[field]), outer, comb, out)?;
            if let Some(elt) = known.get(columns[k], outer) {
                args[k] = elt;
            }
        }
    } else if !node.inputs.is_empty() {
        args = body.params.iter().map(|t| Const::zero(*t).into()).collect();
        let used = body::used_params(body, inline.wanted.as_deref());
        let columns: Vec<(usize, FieldRef)> = used.iter().map(|k| (*k, columns[*k])).collect();
        for (_, (n, _)) in &columns {
            let of_it = columns.iter().filter(|(_, c)| c.0 == *n);
            let fields: Vec<u32> = of_it.map(|(_, c)| c.1).collect();
            elements(e, known, (*n, &fields), index, comb, out)?;
        }
        for (k, column) in columns {
            if let Some(elt) = known.get(column, index) {
                args[k] = elt;
            }
        }
    }
    let (stmts, values) = body::statements_knowing(e, known, &inline, body, &args, "elt")?;
    out.extend(stmts);
    for field in fields {
        known.set((id, *field), index, values[*field as usize]);
    }
    Ok(())
}
