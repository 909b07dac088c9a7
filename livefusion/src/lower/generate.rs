//! Generators: arrays given by a length and a function of the index.
//!
//! A generator opens a root rate, or joins a root of its length.

use super::body::{self, Inline};
use super::emission::Emission;
use super::placement::{Act, LengthSource, Opening, Placer, Point, no_root};
use super::scope::{InputColumn, LoopScope};
use super::{Lower, Source};
use crate::ast::{Kind, Len};
use crate::fusion::ClassId;
use crate::fusion::inline::KnownExtent;
use crate::fusion::rates::indexed_array;
use crate::sharing::{FieldRef, NodeId};
use loop_lang::ir::*;

/// Places a generator or a gather.
///
/// Generators are `generate`, `iota` and `replicate`. Gathers read other arrays by index.
pub fn place(p: &mut Placer<'_>, id: NodeId) -> Lower {
    if let Some(columns) = p.scope.reversed(id) {
        return place_reversed(p, id, &columns);
    }
    p.enter(id, &[id])?;
    let class = p.scope.plan.rates.output(id).ok_or_else(no_root)?;
    let point = p.point(id, class, &[])?;
    place_at(p, (id, 0).into(), point)?;
    Ok(())
}

/// Places a `reverse` in the loop of its source.
fn place_reversed(p: &mut Placer<'_>, id: NodeId, columns: &[InputColumn]) -> Lower {
    let makers: Vec<NodeId> = columns.iter().map(|c| c.field.0).collect();
    p.enter(id, &makers)?;
    let class = p.scope.plan.rates.output(id).ok_or_else(no_root)?;
    let needs = p.needs(columns);
    let point = p.point(id, class, &needs)?;
    for (field, demanded) in p.scope.demanded(id).into_iter().enumerate() {
        if demanded {
            p.elt(columns[field], point)?;
        }
    }
    p.run(id, point);
    p.know_all(id, point);
    Ok(())
}

/// Emits a `reverse` in the loop of its source.
///
/// Its elements are those of its source.
pub fn emit_reversed(e: &mut Emission<'_>, id: NodeId, point: Point) -> Lower {
    e.comb_at(id, point);
    let columns = e.scope.reversed(id).unwrap_or_default();
    let demanded = e.scope.demanded(id);
    for (field, column) in (0..).zip(columns).filter(|(f, _)| demanded[*f as usize]) {
        let value = e.elt(column, point)?;
        e.values.set_column((id, field).into(), point, value);
    }
    Ok(())
}

/// Opens the root rate over a generator's indices.
pub fn open(p: &mut Placer<'_>, id: NodeId) -> Lower {
    if let Some((array, _)) = indexed_here(p, id) {
        // The search may come back to this generator, if its elements are the lengths of segments.
        // Then it cannot be the root.
        if !p.opening.insert(id) {
            return Ok(());
        }
        p.enter(id, &[array])?;
        p.opening.remove(&id);
    }
    if p.open_root().is_none() {
        let len = p.generator_len(id);
        p.open_over(id, Opening::Indices(len));
    }
    Ok(())
}

/// Places elements for use at a program point.
///
/// They are computed in the generator's rate around the use. For an unfused input, the rate is the
/// consumer's. Returns the program point of their definition.
pub fn place_at(p: &mut Placer<'_>, column: InputColumn, at: Point) -> Lower<Point> {
    let id = column.field.0;
    let array = indexed_here(p, id);
    let own = match array {
        Some((_, class)) => class,
        None => p.scope.plan.rates.output(id).ok_or_else(no_root)?,
    };
    let around = p
        .placed
        .tree
        .around(at.rate, column.unfused_at.unwrap_or(own));
    let point = match around {
        Some(rate) => Point::first(rate),
        None => Point::first(p.root()?),
    };
    let len = array.is_none().then(|| p.generator_len(id));
    if column.unfused_at.is_none() {
        p.runs_over(id, point);
    }
    p.act(id, Act::Generate(column, point, len));
    for field in 0..p.scope.graph.node(id).types.len() as u32 {
        let field = (id, field);
        p.know(InputColumn { field, ..column }, point);
    }
    Ok(point)
}

/// The array that a generator counts, if this loop has the array's rate. Then its length need not
/// be known at loop entry.
fn indexed_here(p: &Placer<'_>, id: NodeId) -> Option<(NodeId, ClassId)> {
    let (graph, plan) = (p.scope.graph, p.scope.plan);
    let array = indexed_array(graph, id)?;
    let class = plan.rates.output(array)?;
    (!is_known_at_entry(&p.scope, id) || p.placed.tree.is_open(class)).then_some((array, class))
}

/// Returns whether a generator's length is known at loop entry.
pub fn is_known_at_entry(scope: &LoopScope<'_>, id: NodeId) -> bool {
    let length = scope.graph.nodes[id.index()].length;
    length.is_none_or(|by| is_made_before(scope, by))
}

/// Returns whether earlier loops made the operands of a length.
///
/// This holds for all lengths that a loop makes or consumes. But a zip in a later loop may have an
/// input whose length this loop computes.
pub fn is_there(scope: &LoopScope<'_>, length: LengthSource) -> bool {
    let made_before = |n: NodeId| is_made_before(scope, n);
    match length {
        LengthSource::Scalar((n, _)) => made_before(n),
        LengthSource::Checked(id) => {
            let captures = scope.graph.nodes[id.index()].captures.first();
            let captured = captures.into_iter().flatten();
            let mut fields = captured.flat_map(|n| scope.graph.fields(*n));
            fields.all(|(n, _)| match scope.plan.inlining.stands_for_others(n) {
                true => scope
                    .plan
                    .inlining
                    .behind(n)
                    .iter()
                    .copied()
                    .all(made_before),
                false => made_before(n),
            })
        }
        LengthSource::Row(lengths) | LengthSource::Rows(lengths) => {
            let behind = scope.plan.inlining.behind(lengths.0).iter();
            behind.copied().all(made_before)
        }
        LengthSource::Array(_) | LengthSource::Param(_) | LengthSource::Nothing => true,
    }
}

/// Whether only earlier loops make a node.
fn is_made_before(scope: &LoopScope<'_>, id: NodeId) -> bool {
    scope.plan.loop_of[id.index()].is_none_or(|l| l < scope.at)
}

/// Returns the length of a generator as known at loop entry.
pub fn length(scope: &LoopScope<'_>, id: NodeId) -> LengthSource {
    let node = &scope.graph.nodes[id.index()];
    match (&node.node.kind, node.length) {
        (Kind::Generate(Len::Delayed(_), _), Some(by)) => {
            delayed(scope, scope.graph.resolve(by, 0))
        }
        (Kind::Generate(Len::Checked(_), _), _) => LengthSource::Checked(id),
        _ => LengthSource::Param(Source::Length(id)),
    }
}

/// Returns the length of an inlined array (an index function).
pub fn length_of_inlined(scope: &LoopScope<'_>, array: NodeId) -> Option<LengthSource> {
    let inlining = &scope.plan.inlining;
    Some(
        match inlining
            .extent(array)
            .filter(|_| inlining.is_inlined(array))?
        {
            KnownExtent::Of(array) => LengthSource::Param(Source::Length(array)),
            KnownExtent::Scalar(field) => delayed(scope, field),
            KnownExtent::Rows(lengths) => LengthSource::Rows(lengths),
        },
    )
}

/// A delayed length. It is a parameter if it is the length of an array with a known length.
fn delayed(scope: &LoopScope<'_>, mut field: FieldRef) -> LengthSource {
    loop {
        let node = &scope.graph.nodes[field.0.index()];
        let known = match node.node.kind {
            Kind::Len if !node.leaf => scope.plan.inlining.own_extent(node.inputs[0]),
            _ => None,
        };
        match known {
            Some(KnownExtent::Of(array)) => return LengthSource::Param(Source::Length(array)),
            Some(KnownExtent::Scalar(other)) => field = other,
            Some(KnownExtent::Rows(_)) | None => return LengthSource::Scalar(field),
        }
    }
}

/// Emits the root rate over a generator's indices.
pub fn emit_open(e: &mut Emission<'_>, id: NodeId, len: LengthSource) -> Lower {
    let comb = e.unhomed_comb(id);
    let bound = e.length(len, comb)?;
    e.open_root(comb, bound);
    Ok(())
}

/// Emits a generator's elements at a rate's counter.
pub fn emit(
    e: &mut Emission<'_>,
    column: InputColumn,
    point: Point,
    len: Option<LengthSource>,
) -> Lower {
    let id = column.field.0;
    let Kind::Generate(_, body) = &e.scope.graph.node(id).kind else {
        return Ok(());
    };
    let comb = e.comb_at(id, point);
    let index = e.index_of(column, point.rate)?;
    if let Some(len) = len {
        e.length(len, comb)?;
    }
    let inline = Inline::new(id, last_body(e, id), comb, Section::Body).demanded(e);
    let values = body::inline(e, &inline, body, &[index], "elt")?;
    for (field, value) in values.into_iter().enumerate() {
        let field = (id, field as u32);
        e.values
            .set_column(InputColumn { field, ..column }, point, value);
    }
    Ok(())
}

/// Returns the index of the generator body that computes elements.
pub fn last_body(e: &Emission<'_>, id: NodeId) -> usize {
    e.scope.graph.nodes[id.index()].captures.len() - 1
}

/// Emits a checked length, once.
pub fn emit_checked(e: &mut Emission<'_>, id: NodeId) -> Lower<Atom> {
    if let Some(known) = e.values.checked.get(&id) {
        return Ok(*known);
    }
    let Kind::Generate(Len::Checked(body), _) = &e.scope.graph.node(id).kind else {
        return Err(no_root());
    };
    let comb = e.comb(id);
    let inline = Inline::new(id, 0, comb, Section::Init);
    let values = body::inline(e, &inline, body, &[], "len")?;
    let payload = &values[2..5];
    e.trap(
        comb,
        Section::Init,
        TrapKind::SliceRange,
        values[1],
        payload,
    );
    e.values.checked.insert(id, values[0]);
    Ok(values[0])
}
