//! Demand: which fields of each node anything asks for. What nobody asks for is not stored.

use crate::ast::{Kind, Term, TermId};
use crate::sharing::{FieldRef, Graph, NodeId, bodies};
use rustc_hash::FxHashSet;

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Demand {
    /// Per node: the fields of others that it needs. These are the edges that carry data.
    pub uses: Vec<Vec<FieldRef>>,
    /// Per node: its own fields that somebody needs. The rest is not computed, and does not trap.
    pub fields: Vec<FxHashSet<u32>>,
}

/// Follows demand from the roots to the leaves. `loop_of` says which nodes are in a loop: the others are
/// recomputed, or nothing but names.
pub fn demand(graph: &Graph, loop_of: &[Option<usize>]) -> Demand {
    let mut demanded: Vec<FxHashSet<u32>> = vec![FxHashSet::default(); graph.nodes.len()];
    for r in &graph.roots {
        for (n, f) in graph.fields(*r) {
            demanded[n.index()].insert(f);
        }
    }
    let mut uses = vec![Vec::new(); graph.nodes.len()];
    for id in graph.ids().rev() {
        if graph.nodes[id.index()].leaf {
            continue;
        }
        let in_a_loop = loop_of[id.index()].is_some();
        let needs = needs_of(graph, id, &demanded[id.index()], in_a_loop);
        for (n, f) in &needs {
            demanded[n.index()].insert(*f);
        }
        uses[id.index()] = needs;
    }
    Demand {
        uses,
        fields: demanded,
    }
}

fn needs_of(
    graph: &Graph,
    id: NodeId,
    demanded: &FxHashSet<u32>,
    in_a_loop: bool,
) -> Vec<FieldRef> {
    let node = &graph.nodes[id.index()];
    let columns: Vec<FieldRef> = node.inputs.iter().flat_map(|i| graph.fields(*i)).collect();
    let mut needs: FxHashSet<FieldRef> = FxHashSet::default();
    let passed = |needs: &mut FxHashSet<FieldRef>| {
        needs.extend(
            demanded
                .iter()
                .filter_map(|f| columns.get(*f as usize).copied()),
        );
    };
    match &node.node.kind {
        Kind::Zip | Kind::Fields(_) => {}
        Kind::Filter(_) => passed(&mut needs),
        Kind::Pack => {
            passed(&mut needs);
            needs.extend(graph.fields(node.inputs[1]));
        }
        Kind::Fold(_) | Kind::Scan(..) | Kind::ScanTotal | Kind::Scatter(_) => {
            needs.extend(columns.iter().copied());
        }
        Kind::Len => needs.extend(columns.first().copied()),
        _ => {}
    }
    for (i, body) in bodies(&node.node.kind).into_iter().enumerate() {
        let wanted: Vec<TermId> = match &node.node.kind {
            // Only the demanded results of a map; a generator's and a scalar's likewise.
            Kind::Map(_) | Kind::Compute(_) | Kind::Generate(..)
                if i + 1 == node.captures.len() =>
            {
                body.results
                    .iter()
                    .enumerate()
                    .filter(|(f, _)| demanded.contains(&(*f as u32)))
                    .map(|(_, t)| *t)
                    .collect()
            }
            _ => body.results.clone(),
        };
        let live = body.live_terms(wanted.into_iter());
        for (data, _) in body.terms.iter().zip(&live).filter(|(_, live)| **live) {
            match data.term {
                Term::Param(k) if matches!(node.node.kind, Kind::Map(_) | Kind::Filter(_)) => {
                    needs.extend(columns.get(k as usize).copied());
                }
                Term::Scalar { capture, field } | Term::At { capture, field, .. } => {
                    needs.insert(graph.resolve(node.captures[i][capture as usize], field));
                }
                _ => {}
            }
        }
    }
    needs.extend(node.length.map(|n| graph.resolve(n, 0)));
    // How many elements an input has is asked for even where none of them is.
    for input in node.inputs.iter().filter(|_| in_a_loop) {
        let fields = graph.fields(*input);
        if !fields.iter().any(|f| needs.contains(f)) {
            needs.extend(fields.first());
        }
    }
    let mut needs: Vec<FieldRef> = needs.into_iter().collect();
    needs.sort_unstable();
    needs
}
