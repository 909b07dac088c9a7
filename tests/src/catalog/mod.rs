//! Fusion programs from the literature, as functions of their inputs.
//!
//! The catalogue also measures their loops under each clustering, and their work at run time.
//!
//! | module | programs |
//! | --- | --- |
//! | [`flow`] | flow fusion: filters, folds and maps with several consumers |
//! | [`graphs`] | graph reduction: a kernel, unfused cases, maximum segment sum |
//! | [`rules`] | the rules of graph reduction, one by one |
//! | [`segments`] | segments: QuickHull's core, sparse matrices, softmax, sorts |
//! | [`streams`] | appends, packs and prefixes: streams with different rates |
//! | [`numbers`] | statistics, k-means, primes |
//! | [`exits`] | early exits: a filter, a flat-map, then `take` |
//! | [`sides`] | zips and merges: filters, segmentations, runs |
//! | [`passes`] | sequences: appends of filters, runs, scans from the end |
//! | [`ranks`] | matrices: products, folds along axes, closures on rows |
//! | [`requests`] | common requests: price paths, largest elements, joins, quantiles |
//! | [`shape`] | loops, counters and intermediate arrays of a program |
//! | [`counting`] | an engine that counts reads, writes and evaluations |

pub mod counting;
pub mod exits;
pub mod flow;
pub mod graphs;
pub mod numbers;
pub mod passes;
pub mod ranks;
pub mod requests;
pub mod rules;
pub mod segments;
pub mod shape;
pub mod sides;
pub mod streams;

use livefusion::ast::Node;
use livefusion::runtime::Place;
use livefusion::{Clustering, Engine, Force, Result};
use shape::Shape;
use std::sync::Arc;

/// Holds a program with small inputs, for structural checks.
pub struct Program {
    /// Its name.
    pub name: &'static str,
    /// Its results.
    pub roots: Vec<Arc<Node>>,
}

impl Program {
    /// Creates a program of these results.
    pub fn new(name: &'static str, results: impl Force) -> Program {
        let mut roots = Vec::new();
        results.nodes(&mut roots);
        Program { name, roots }
    }

    /// Counts the combinators that its user called.
    ///
    /// # Errors
    /// Returns errors of the program.
    pub fn combinators(&self) -> Result<usize> {
        let explained = Engine::interp().explain(&self.roots)?;
        let calls = explained.calls().iter();
        Ok(calls.filter(|c| c.place != Place::Input).count())
    }
}

/// Lists all programs, family by family.
pub fn all() -> Vec<Program> {
    let families = [
        flow::all(),
        graphs::all(),
        rules::all(),
        segments::all(),
        streams::all(),
        numbers::all(),
        exits::all(),
        sides::all(),
        passes::all(),
        ranks::all(),
        requests::all(),
    ];
    families.into_iter().flatten().collect()
}

/// Lists the three strategies, the baseline first.
pub const STRATEGIES: [Clustering; 3] = [
    Clustering::Unfused,
    Clustering::Greedy,
    Clustering::Optimal {
        steps: Clustering::STEPS,
    },
];

/// Formats the table of all programs in Markdown.
///
/// For each strategy, it has the loops, counters and intermediate arrays. It also tells whether the
/// optimal schedule is proven.
///
/// # Errors
/// Returns errors of the programs.
pub fn table() -> Result<String> {
    let mut lines = vec![
        "| program | combinators | unfused | greedy | optimal | gap |".to_string(),
        "| --- | --: | --: | --: | --: | --- |".to_string(),
    ];
    for program in all() {
        lines.push(row(&program)?);
    }
    Ok(lines.join("\n") + "\n")
}

fn row(program: &Program) -> Result<String> {
    let shapes = STRATEGIES.map(|strategy| Shape::of(&program.roots, strategy));
    let [unfused, greedy, optimal] = shapes;
    let optimal = optimal?;
    Ok(format!(
        "| {} | {} | {} | {} | {optimal} | {} |",
        program.name,
        program.combinators()?,
        unfused?,
        greedy?,
        optimal.gap()
    ))
}
