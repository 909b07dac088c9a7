//! Literature programs: minimal loops, one counter per rate, no duplicated work.
//!
//! Nothing unrequested is in memory, and nothing is read or computed twice. Results equal those of
//! plain Rust, on every backend and under every clustering.

mod exits;
mod flow;
mod graphs;
mod numbers;
mod passes;
mod ranks;
mod requests;
mod rules;
mod segments;
mod sides;
mod streams;

use livefusion::ast::Node;
use livefusion::{Clustering, Engine, Force, stages};
use livefusion_interp::InterpBackend;
use livefusion_tests::catalog;
use livefusion_tests::catalog::counting::{Work, work};
use livefusion_tests::catalog::shape::Shape;
use livefusion_tests::forms::{Recording, golden};
use livefusion_tests::rng::Rng;
use loop_lang::ir::{Atom, Group, Loop, RateKind, StmtKind};
use loop_lang::{Const, Op};
use std::path::Path;
use std::sync::Arc;

fn roots(results: &impl Force) -> Vec<Arc<Node>> {
    let mut roots = Vec::new();
    results.nodes(&mut roots);
    roots
}

/// Checks the numbers of loops, counters and intermediate arrays of a program, and that its
/// schedule is optimal. The results must satisfy `check` on every engine. Returns the counts of its
/// run.
fn program<R: Force>(
    build: impl Fn() -> R,
    [loops, counters, intermediates]: [usize; 3],
    check: impl Fn(R::Out),
) -> Work {
    let (shape, code) =
        Shape::with_loops(&roots(&build()), Clustering::default()).expect("planned");
    let text: Vec<String> = code.iter().map(Loop::to_string).collect();
    let (text, found) = (
        text.join("\n"),
        [shape.loops, shape.counters, shape.intermediates],
    );
    assert_eq!(found, [loops, counters, intermediates], "{text}");
    assert!(shape.is_proven(), "{shape:?}");
    for l in &code {
        assert!(counting(l) <= l.rates.len(), "something else counts:\n{l}");
    }
    let results = |engine: &Engine| build().force_with(engine).expect("it runs");
    for clustering in [Clustering::Unfused, Clustering::Greedy] {
        let interp = Arc::new(InterpBackend::new());
        let engine = Engine::builder()
            .backend(interp)
            .clustering(clustering)
            .threads(1);
        check(results(&engine.build()));
    }
    check(results(&Engine::c()));
    work(|engine| check(results(engine)))
}

/// The number of variables that increase by one, except per-segment element counts, which are
/// results.
fn counting(program: &Loop) -> usize {
    let one = Const::u64(1).into();
    let blocks = program.blocks.iter().flat_map(|(_, block)| &block.stmts);
    let incremented = blocks.filter_map(|s| match &s.kind {
        StmtKind::Let(v, Op::Add, args) if args.contains(&one) => Some(Atom::from(*v)),
        _ => None,
    });
    let incremented: Vec<Atom> = incremented.collect();
    let is_per_segment = |g: &&Group| matches!(program.rate(g.owner).kind, RateKind::Nested { .. });
    let groups = program.groups.iter().filter(|g| !is_per_segment(g));
    groups.filter(|g| incremented.contains(&g.next[0])).count()
}

/// The table in the documentation. `LOOP_BLESS=1` rewrites it.
#[test]
fn the_table_is_that_of_the_docs() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/programs.md");
    let docs = std::fs::read_to_string(path).expect("the page");
    let (text, old) = docs.split_at(docs.find("| program | combinators |").expect("a table"));
    let table = catalog::table().expect("planned");
    if std::env::var_os("LOOP_BLESS").is_some() {
        std::fs::write(path, format!("{text}{table}")).expect("written");
    } else {
        assert_eq!(
            old, table,
            "docs/programs.md differs; LOOP_BLESS=1 writes it anew"
        );
    }
}

/// The placement of each program's loops, the loops, and their C shapes match the golden files.
/// `LOOP_BLESS=1` rewrites these.
#[test]
fn placements_loops_and_their_shapes() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/forms");
    let text = |program: &catalog::Program| {
        let recording = Arc::new(Recording::default());
        let engine = Engine::builder().backend(recording.clone()).build();
        engine.explain(&program.roots).expect("it is planned");
        let graph = stages::graph_of(&program.roots).expect("it is recovered");
        let plan = graph.plan(Clustering::default());
        let placements = plan.place().expect("what is planned is placed");
        (program.name, format!("{placements}\n{}", recording.text()))
    };
    let texts: Vec<(&str, String)> = catalog::all().iter().map(text).collect();
    golden(Path::new(folder), &texts);
}

/// The number of elements of the programs' inputs.
const N: usize = 1000;

/// The number of items, as counters have it.
fn count<T>(of: impl IntoIterator<Item = T>) -> u64 {
    of.into_iter().count() as u64
}

/// Numbers from -100 to 100.
fn numbers(seed: u64, n: usize) -> Vec<i64> {
    let mut rng = Rng::new(seed);
    (0..n).map(|_| rng.range(0, 200) as i64 - 100).collect()
}

/// Whole numbers from -100 to 100, whose sums and products are exact in any order.
fn floats(seed: u64, n: usize) -> Vec<f64> {
    numbers(seed, n).into_iter().map(|x| x as f64).collect()
}
