//! Demand: finds the fields of each node that have a consumer. Other fields are not stored.

use super::inline::{Inlining, KnownExtent};
use super::rates::Rates;
use crate::ast::{Consumes, Kind, MERGE_CHECK, Term, TermId};
use crate::sharing::{FieldRef, Graph, NodeId};
use rustc_hash::FxHashSet;

/// Holds the demand for every node's fields.
#[derive(Clone, Debug, Default)]
pub struct Demand {
    /// Per node: the fields of other nodes that it reads, in the same loop or from an earlier one.
    /// These edges carry data. An inlined array is replaced by the operands of its elements.
    pub uses: Vec<Vec<FieldRef>>,
    /// Per node: the fields of other nodes that it computes with, including inlined ones.
    pub needs: Vec<Vec<FieldRef>>,
    /// Per node: its own fields that have a consumer. Other fields are not computed, and do not
    /// trap.
    pub fields: Vec<FxHashSet<u32>>,
}

/// Propagates demand from the roots to the leaves.
///
/// `loop_of` gives the loops of nodes. Nodes without a loop are recomputed, or are mere aliases.
pub fn demand(
    graph: &Graph,
    rates: &Rates,
    loop_of: &[Option<usize>],
    inlining: &Inlining,
) -> Demand {
    let mut demanded: Vec<FxHashSet<u32>> = vec![FxHashSet::default(); graph.nodes.len()];
    for r in &graph.roots {
        for (n, f) in graph.fields(*r) {
            demanded[n.index()].insert(f);
        }
    }
    let mut needs = vec![NeededFields::default(); graph.nodes.len()];
    for id in graph.ids().rev() {
        if graph.nodes[id.index()].leaf {
            continue;
        }
        let in_a_loop = loop_of[id.index()].is_some();
        let mut mine = needs_of(graph, inlining, id, &demanded[id.index()], in_a_loop);
        mine.read_at_positions(graph, rates, id);
        for (n, f) in mine.in_step.iter().chain(&mine.at_an_index) {
            demanded[n.index()].insert(*f);
        }
        needs[id.index()] = mine;
    }
    Demand {
        uses: uses(graph, loop_of, inlining, &needs),
        needs: needs.iter().map(NeededFields::all).collect(),
        fields: demanded,
    }
}

/// The fields that a node needs.
#[derive(Clone, Debug, Default)]
struct NeededFields {
    /// As its inputs, element by element.
    in_step: FxHashSet<FieldRef>,
    /// From its closures: elements at an index, delayed scalars.
    at_an_index: FxHashSet<FieldRef>,
}

impl NeededFields {
    /// Moves inputs that a merge reads at positions of its own from `in_step` to `at_an_index`.
    fn read_at_positions(&mut self, graph: &Graph, rates: &Rates, id: NodeId) {
        let inputs = graph.nodes[id.index()].inputs.iter().enumerate();
        let read = inputs.filter(|(k, _)| rates.is_at_position(graph, id, *k));
        for field in read.flat_map(|(_, input)| graph.fields(*input)) {
            if self.in_step.remove(&field) {
                self.at_an_index.insert(field);
            }
        }
    }

    fn all(&self) -> Vec<FieldRef> {
        sorted(
            self.in_step
                .iter()
                .chain(&self.at_an_index)
                .copied()
                .collect(),
        )
    }
}

/// The fields that each node reads from its own loop or an earlier one, including the operands of
/// inlined arrays.
fn uses(
    graph: &Graph,
    loop_of: &[Option<usize>],
    inlining: &Inlining,
    needs: &[NeededFields],
) -> Vec<Vec<FieldRef>> {
    let mut uses: Vec<Vec<FieldRef>> = Vec::with_capacity(graph.nodes.len());
    // The fields that an inlined computation of each node reads.
    let mut behind: Vec<Vec<FieldRef>> = Vec::with_capacity(graph.nodes.len());
    for id in graph.ids() {
        let needs = &needs[id.index()];
        let through = |fields: &mut dyn Iterator<Item = &FieldRef>| {
            let mut found = Vec::new();
            for field in fields {
                match behind.get(field.0.index()) {
                    Some(behind) if inlining.stands_for_others(field.0) => found.extend(behind),
                    _ => found.push(*field),
                }
            }
            found
        };
        let at_an_index = through(&mut needs.in_step.iter().chain(&needs.at_an_index));
        let mut used = at_an_index.clone();
        if loop_of[id.index()].is_some() {
            used = through(&mut needs.at_an_index.iter());
            used.extend(&needs.in_step);
        }
        behind.push(sorted(at_an_index));
        uses.push(sorted(used));
    }
    uses
}

fn sorted(mut fields: Vec<FieldRef>) -> Vec<FieldRef> {
    fields.sort_unstable();
    fields.dedup();
    fields
}

fn needs_of(
    graph: &Graph,
    inlining: &Inlining,
    id: NodeId,
    demanded: &FxHashSet<u32>,
    in_a_loop: bool,
) -> NeededFields {
    let node = &graph.nodes[id.index()];
    let columns: Vec<FieldRef> = node.inputs.iter().flat_map(|i| graph.fields(*i)).collect();
    let mut needs: FxHashSet<FieldRef> = FxHashSet::default();
    let mut at_an_index: FxHashSet<FieldRef> = FxHashSet::default();
    if let Some(source) = inlining.reversals.source(id) {
        let all = demanded.iter().map(|f| graph.resolve(source, *f));
        return NeededFields {
            in_step: all.collect(),
            at_an_index,
        };
    }
    let facts = node.node.kind.facts();
    match facts.consumes {
        // The columns that bodies use follow below.
        Consumes::Names | Consumes::Bodies => {}
        Consumes::Own => {
            let own = demanded.iter().filter_map(|f| columns.get(*f as usize));
            needs.extend(own.copied());
            let tags = node.inputs.iter().skip(1).filter(|_| facts.passes_on);
            needs.extend(tags.flat_map(|tags| graph.fields(*tags)));
        }
        Consumes::Parts => {
            let parts = node.inputs.iter();
            needs.extend(parts.flat_map(|part| demanded.iter().map(|f| graph.resolve(*part, *f))));
        }
        Consumes::All => needs.extend(columns.iter().copied()),
        // A length that is known without a loop needs no element.
        Consumes::Number => match inlining.own_extent(node.inputs[0]) {
            Some(KnownExtent::Of(_)) => {}
            Some(KnownExtent::Scalar(by)) => at_an_index.extend([by]),
            Some(KnownExtent::Rows(_)) | None => needs.extend(columns.first().copied()),
        },
        Consumes::Lengths => needs.extend(columns.first().copied()),
    }
    for (i, body) in node.node.kind.bodies().into_iter().enumerate() {
        let wanted: Vec<TermId> = match &node.node.kind {
            _ if facts.by_field && i + 1 == node.captures.len() => body
                .results
                .iter()
                .enumerate()
                .filter(|(f, _)| demanded.contains(&(*f as u32)))
                .map(|(_, t)| *t)
                .collect(),
            // The choice of elements is always needed, even where no result is.
            Kind::Merge(_) => {
                let first = node.inputs.len() + MERGE_CHECK;
                let field = |at: &usize| at.checked_sub(first).map(|f| f as u32);
                let made = (0..body.results.len())
                    .filter(|at| field(at).is_none_or(|f| demanded.contains(&f)));
                made.map(|at| body.results[at]).collect()
            }
            _ => body.results.to_vec(),
        };
        let live = body.live_terms(wanted.into_iter());
        for (data, _) in body.terms.iter().zip(&live).filter(|(_, live)| **live) {
            match data.term {
                Term::Param(k) if facts.columns.is_some_and(|first| k >= first) => {
                    needs.extend(columns.get(k as usize).copied());
                }
                Term::Scalar { capture, field } | Term::At { capture, field, .. } => {
                    at_an_index.insert(graph.resolve(node.captures[i][capture as usize], field));
                }
                _ => {}
            }
        }
    }
    at_an_index.extend(node.length.map(|n| graph.resolve(n, 0)));
    // The number of an input's elements is needed, even if no element is.
    for input in node.inputs.iter().filter(|_| in_a_loop) {
        let fields = graph.fields(*input);
        if !fields.iter().any(|f| needs.contains(f)) {
            needs.extend(fields.first());
        }
    }
    NeededFields {
        in_step: needs,
        at_an_index,
    }
}
