//! Loops in chunks, summarised and emitted in random order: the bits of one pass.
//!
//! Loops that cannot be chunked run in random spans, alternating with their summary form.

use crate::written::Input;
use livefusion::Engine;
use livefusion::ast::Node;
use livefusion::runtime::force_nodes;
use livefusion_backend::{Arg, Backend, Buffer, Frame, Outcome, Pass, Value};
use livefusion_interp::InterpBackend;
use livefusion_jit::JitBackend;
use livefusion_tests::check::{agree, check_all, data, run};
use livefusion_tests::chunked::{Chunked, Tally, Turns};
use livefusion_tests::loops::{self, Ended};
use livefusion_tests::mutants::{complete, golden};
use livefusion_tests::naive::Data;
use livefusion_tests::program::{Options, Way, programs};
use livefusion_tests::rng::Rng;
use livefusion_tests::scalar::{self, same};
use loop_lang::chunkable::Reason;
use loop_lang::gotos::Tree;
use loop_lang::ir::{Combine, ParamKind, Place, RateId, RateKind, StmtKind, Var};
use loop_lang::types::{Const, Ty};
use loop_lang::{Loop, Op};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Small chunks, so that small arrays have many: smaller than lanes, equal to a block, and an odd
/// number.
const GRIDS: [u64; 3] = [8, 16, 13];

/// Arrays of several such chunks.
const LENGTHS: Options = Options {
    steps: 12,
    lengths: &[0, 5, 40, 48, 64, 65, 100, 130],
    way: Way::Drawn,
};

/// An engine that passes each loop to its backend as one run, which the backend splits.
fn alone(backend: Arc<dyn Backend>) -> Engine {
    Engine::builder().backend(backend).threads(1).build()
}

#[test]
fn random_programs() {
    let mut total = Tally::default();
    for (i, chunk) in GRIDS.into_iter().enumerate() {
        let inner = Arc::new(InterpBackend::with_chunk(chunk));
        let whole = alone(inner.clone());
        let chunked = Chunked::new(inner.clone(), chunk, 0);
        let check = |seed, p: &_| {
            let one = run(p, &whole)?;
            let grid = alone(Arc::new(chunked.reseeded(seed)));
            agree(&one, &run(p, &grid)?)?;
            let turns = alone(Arc::new(Turns::new(inner.clone(), seed)));
            agree(&one, &run(p, &turns)?)
        };
        let all = programs(150 * (i as u64 + 1), LENGTHS);
        check_all(all.skip(150 * i), check, |_, ()| {});
        total.add(&chunked.tally());
    }
    println!("{total:#?}");
    if std::env::var_os("LOOP_PROGRAMS").is_none() {
        let Tally {
            shuffled, joined, ..
        } = total;
        assert!(
            shuffled > 250 && joined > 3000 && total.trapped > 5,
            "{total:#?}"
        );
    }
}

/// Programs over segments and streams.
#[test]
fn written_programs() {
    let (mut total, mut errors) = (Tally::default(), 0);
    for chunk in GRIDS {
        let backends = Backends::of(chunk);
        let whole = alone(backends.inner.clone());
        for (name, make) in crate::written::ALL {
            for seed in 0..6 {
                let input = Input::random(&mut Rng::new(seed));
                let grid = alone(Arc::new(backends.chunked.reseeded(seed)));
                let turns = alone(Arc::new(Turns::new(backends.inner.clone(), seed)));
                let expected = forced(&whole, make(&input));
                errors += usize::from(expected.is_err());
                for engine in [grid, turns] {
                    let name = format!("{name}, seed {seed}, {}", engine.backend_name());
                    same_words(&name, &expected, &forced(&engine, make(&input)));
                }
            }
        }
        total.add(&backends.chunked.tally());
    }
    println!("{errors} errors, {total:#?}");
    assert!(total.shuffled > 200 && total.nested > 80, "{total:#?}");
    assert!((1..20).contains(&errors), "{errors}");
}

/// Each root's columns as words with their types.
type Columns = Vec<(Vec<Ty>, Data)>;

fn forced(engine: &Engine, nodes: Vec<Arc<Node>>) -> Result<Columns, String> {
    let values = force_nodes(engine, &nodes).map_err(|e| e.to_string())?;
    let columns = nodes.iter().zip(&values);
    Ok(columns.map(|(n, v)| (n.types.to_vec(), data(v))).collect())
}

fn same_words(name: &str, a: &Result<Columns, String>, b: &Result<Columns, String>) {
    let (a, b) = match (a, b) {
        (Ok(a), Ok(b)) => (a, b),
        (Err(a), Err(b)) => return assert_eq!(a, b, "{name}"),
        (a, b) => panic!("{name}: {b:?}, not {a:?}"),
    };
    for (k, ((types, a), (_, b))) in a.iter().zip(b).enumerate() {
        let (a, b) = (words(a), words(b));
        assert_eq!(a.len(), b.len(), "{name}: fields of root {k}");
        for ((ty, a), b) in types.iter().zip(&a).zip(&b) {
            let equal = a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(*ty, *a, *b));
            assert!(equal, "{name}: root {k} is {b:x?}, not {a:x?}");
        }
    }
}

fn words(data: &Data) -> Vec<Vec<u64>> {
    match data {
        Data::Scalar(fields) => fields.iter().map(|w| vec![*w]).collect(),
        Data::Array(columns, _) => columns.clone(),
    }
}

/// With the language's chunk size, and compiled.
#[test]
fn long_arrays() {
    let inner: [Arc<dyn Backend>; 2] = [
        Arc::new(InterpBackend::new()),
        Arc::new(livefusion_tests::backends::c()),
    ];
    let whole = Engine::interp();
    for inner in inner {
        let chunked = Chunked::on(inner, 0);
        let check = |seed, p: &_| {
            let engine = alone(Arc::new(chunked.reseeded(seed)));
            agree(&run(p, &whole)?, &run(p, &engine)?)
        };
        check_all(programs(6, Options::CHUNKS), check, |_, ()| {});
        let tally = chunked.tally();
        assert!(tally.shuffled >= 3, "{tally:#?}");
    }
}

#[test]
fn random_loops() {
    let mut total = Tally::default();
    for (i, chunk) in GRIDS.into_iter().enumerate() {
        let backends = Backends::of(chunk);
        let first = 2000 * i as u64;
        for seed in first..first + 450 {
            let made = loops::random(seed);
            let program = written_once(&made.program);
            check(
                &format!("seed {seed}"),
                &program,
                &made.args(),
                &backends,
                seed,
            );
        }
        total.add(&backends.chunked.tally());
    }
    println!("{total:#?}");
    assert!(
        total.shuffled > 140 && total.nested > 40 && total.levelled > 15,
        "{total:#?}"
    );
    assert!(
        total.joined > 10_000 && total.restarted > 1000 && total.within > 2000,
        "{total:#?}"
    );
}

#[test]
fn loops_in_files() {
    let mut total = Tally::default();
    for chunk in GRIDS {
        let backends = Backends::of(chunk);
        for (name, program) in in_files() {
            for seed in 0..12 {
                let owned = arguments(&program, &mut Rng::new(seed));
                let args: Vec<Arg<'_>> = owned.iter().map(Owned::arg).collect();
                check(
                    &format!("{name}, seed {seed}"),
                    &program,
                    &args,
                    &backends,
                    seed,
                );
            }
        }
        total.add(&backends.chunked.tally());
    }
    println!("{total:#?}");
    assert!(
        total.shuffled > 350 && total.nested > 120 && total.trapped > 2,
        "{total:#?}"
    );
    // These loops report that they cannot be chunked: loops with cursors, two scatters, a
    // sequential product, and a write at a separate index.
    let reasons: Vec<(Reason, usize)> = total.in_order.into_iter().collect();
    let expected = [
        (Reason::Sequential, 36),
        (Reason::Cursor, 16 * 36),
        (Reason::Scatter, 2 * 36),
        (Reason::Writes, 36),
    ];
    assert_eq!(reasons, expected);
    for kind in [
        "append",
        "filter",
        "fold",
        "fold_s",
        "min_index",
        "scan",
        "scan_s",
        "take_while",
    ] {
        assert!(
            total.kinds.get(kind).is_some_and(|n| *n >= 10),
            "{kind}: {:?}",
            total.kinds
        );
    }
}

/// Compiled code continues after a paused summary, or begins after a summarised chunk. A summary
/// drops reads of a value that the emit form reads again.
#[test]
fn compiled_code_goes_on_from_summaries() {
    let jit: Arc<dyn Backend> = Arc::new(JitBackend::new());
    let agree = |name: &str, program: &Loop, args: &[Arg<'_>], parts: &dyn Backend| {
        let whole = run_loop(program, args, &InterpBackend::new());
        let parts = run_loop(program, args, parts);
        if let Some(why) = whole.differs(&parts) {
            panic!("{name}: {why}\n{program}");
        }
    };
    for seed in 0..150 {
        let made = loops::random(seed);
        let turns = Turns::new(jit.clone(), seed);
        agree(&format!("seed {seed}"), &made.program, &made.args(), &turns);
    }
    // Chunks that end in the inner loop, with the language's chunk size.
    let chunked = Chunked::on(jit.clone(), 0);
    for name in ["read_behind", "later_phase"] {
        let text = golden()
            .into_iter()
            .find(|g| g.name.contains(&format!("liveness/{name}.")));
        let program = text
            .and_then(|g| complete(&g.text))
            .expect("it is there and verifies");
        let args = [Arg::Scalar(Const::u64(300))];
        agree(name, &program, &args, &chunked);
        agree(name, &program, &args, &Turns::new(jit.clone(), 0));
    }
    assert_eq!(chunked.tally().shuffled, 2);
}

/// Wrong group declarations give other bits, and the comparison detects them.
#[test]
fn wrong_groups_are_noticed() {
    let changes = [
        ("filter_max", Op::Max, Op::Add),
        ("running", Op::Xor, Op::Add),
    ];
    let backends = Backends::of(8);
    for (name, right, wrong) in changes {
        let all = in_files();
        let (_, mut program) = all
            .into_iter()
            .find(|(n, _)| n == name)
            .expect("it is there");
        for group in &mut program.groups {
            if group.combine == Some(Combine::Op(right)) {
                group.combine = Some(Combine::Op(wrong));
            }
        }
        let noticed = (0..20).filter(|seed| {
            let owned = arguments(&program, &mut Rng::new(*seed));
            let args: Vec<Arg<'_>> = owned.iter().map(Owned::arg).collect();
            let chunked: &dyn Backend = &backends.chunked.reseeded(*seed);
            matches!(
                outcome(name, &program, &args, chunked).0,
                Outcome::BadArgs(_)
            )
        });
        assert!(noticed.count() > 3, "{name}");
    }
}

/// A backend for whole loops, and a chunked one.
struct Backends {
    inner: Arc<InterpBackend>,
    chunked: Chunked,
}

impl Backends {
    fn of(chunk: u64) -> Backends {
        let inner = Arc::new(InterpBackend::with_chunk(chunk));
        let chunked = Chunked::new(inner.clone(), chunk, 0);
        Backends { inner, chunked }
    }
}

/// Runs a loop as one span, in chunks, and in alternating spans.
fn check(name: &str, program: &Loop, args: &[Arg<'_>], backends: &Backends, seed: u64) {
    let whole = outcome(name, program, args, &*backends.inner);
    let turns = Turns::new(backends.inner.clone(), seed);
    let parts: [&dyn Backend; 2] = [&backends.chunked.reseeded(seed), &turns];
    for backend in parts {
        let name = format!("{name}, {}", backend.name());
        let (ending, results) = outcome(&name, program, args, backend);
        assert_eq!(whole.0, ending, "{name}\n{program}");
        assert_eq!(whole.1.len(), results.len(), "{name}");
        for (k, (a, b)) in whole.1.iter().zip(&results).enumerate() {
            assert!(
                equal(a, b),
                "{name}: result {k} is {b:?}, not {a:?}\n{program}"
            );
        }
    }
}

fn outcome(
    name: &str,
    program: &Loop,
    args: &[Arg<'_>],
    backend: &dyn Backend,
) -> (Outcome, Vec<Value>) {
    let kernel = backend
        .compile(program)
        .unwrap_or_else(|e| panic!("{name}: {e}\n{program}"));
    let mut frame = Frame::new(kernel.layout());
    let outcome = kernel.run(Pass::Emit, u64::MAX, &mut frame, args);
    (ending(outcome), frame.results.into_vec())
}

fn run_loop(program: &Loop, args: &[Arg<'_>], backend: &dyn Backend) -> Ended {
    let kernel = backend.compile(program).expect("it verifies");
    loops::run(&*kernel, Pass::Emit, u64::MAX, args)
}

/// An exited loop may have been split after the exit, so it counts as done.
fn ending(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Exited => Outcome::Done,
        other => other,
    }
}

fn equal(a: &Value, b: &Value) -> bool {
    let word = |b: &Buffer, i| b.get_word(i).unwrap_or_default();
    match (a, b) {
        (Value::Scalar(a), Value::Scalar(b)) => same(a.ty, a.bits, b.bits),
        (Value::Array(a), Value::Array(b)) => {
            let mut all = 0..a.len().max(b.len());
            a.len() == b.len() && all.all(|i| same(a.ty(), word(a, i), word(b, i)))
        }
        _ => false,
    }
}

/// A loop that writes every array by one statement or not at all. The index is a continuing
/// counter, its reversal, or a subrate's count.
fn written_once(program: &Loop) -> Loop {
    let mut once = program.clone();
    let tree = Tree::of(program);
    let started: HashSet<Var> = starts(program);
    let named = |name: String| program.vars.iter().position(|v| v.name == name);
    let counter = |rate: RateId, array: Var| {
        let of = program.rate(tree.loop_rate(rate));
        let counter = of
            .kind
            .counter()
            .filter(|c| matches!(of.kind, RateKind::Root { .. }) || started.contains(c));
        match program.rate(rate).kind {
            RateKind::Sub { count: Some(n), .. } if array.index().is_multiple_of(3) => Some(n),
            _ if array.index().is_multiple_of(2) => counter,
            // Rates are named after their combinators.
            _ => counter.map(|c| named(format!("rix_{}", &of.name[1..])).map_or(c, Var::new)),
        }
    };
    let places: Vec<Option<Place>> = program
        .blocks
        .iter()
        .map(|(labels, _)| labels.first().map(|l| tree.place(program, *l)))
        .collect();
    let mut written = HashSet::new();
    for (block, place) in once.blocks.values_mut().zip(places) {
        let Some(Place::At { rate, .. }) = place else {
            continue;
        };
        block.stmts.retain_mut(|stmt| match &mut stmt.kind {
            StmtKind::WriteArray(a, i, _) => match counter(rate, *a) {
                Some(c) if written.insert(*a) => {
                    *i = c.into();
                    true
                }
                _ => false,
            },
            StmtKind::ScatterArray { .. } => false,
            _ => true,
        });
    }
    once
}

/// The variables carried by `init`.
fn starts(program: &Loop) -> HashSet<Var> {
    let stmts = program.blocks.iter().take(1).flat_map(|(_, b)| &b.stmts);
    let carried = stmts.filter_map(|s| match s.kind {
        StmtKind::Carry(v, _) => Some(v),
        _ => None,
    });
    carried.collect()
}

/// The loops of the papers' examples and of these tests, by name.
fn in_files() -> Vec<(String, Loop)> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["../loop-lang/tests/files/golden", "tests/chunked"] {
        let folder = std::fs::read_dir(here.join(folder)).expect("the folder is there");
        files.extend(folder.map(|e| e.expect("it can be read").path()));
    }
    files.retain(|f: &PathBuf| f.extension().is_some_and(|e| e == "loop"));
    files.sort();
    let mut loops = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("it can be read");
        let text = text.split("\n# ----").next().unwrap_or_default();
        let mut program = loop_lang::parse::parse(text)
            .unwrap_or_else(|faults| panic!("{}: {faults:#?}", file.display()));
        loop_lang::gotos::complete_blocks(&mut program);
        loop_lang::gotos::derive_gotos(&mut program);
        loops.push((program.name.clone(), program));
    }
    loops
}

enum Owned {
    Scalar(Const),
    Array(Buffer),
}

impl Owned {
    fn arg(&self) -> Arg<'_> {
        match self {
            Owned::Scalar(c) => Arg::Scalar(*c),
            Owned::Array(b) => Arg::Array(b.view()),
        }
    }
}

/// Arguments for a loop: arrays of one length, except that arrays after segment lengths have their
/// sum as length. Rows are short, because all their steps add up.
fn arguments(program: &Loop, rng: &mut Rng) -> Vec<Owned> {
    let rows = program.rates.iter().filter(|r| r.kind.is_uniform());
    let rows: Vec<_> = rows.filter_map(|r| r.kind.bound()?.var()).collect();
    let mut len = rng.range(0, 200);
    let long = rng.chance(50);
    let mut args = Vec::new();
    for p in &program.params {
        let ty = program.ty(p.var).elem();
        if p.kind == ParamKind::Scalar {
            let bits = match ty {
                Ty::U64 if rows.contains(&p.var) => rng.below(8) as u64,
                Ty::U64 => rng.below(600) as u64,
                _ => scalar::random(rng, ty),
            };
            args.push(Owned::Scalar(Const { ty, bits }));
            continue;
        }
        let mut buffer = Buffer::zeroed(ty, len).expect("it is small");
        for i in 0..len {
            let segment = if long && rng.chance(5) { 90 } else { 4 };
            let word = match ty {
                Ty::U64 => rng.below(segment) as u64,
                _ => scalar::random(rng, ty),
            };
            buffer.set_word(i, word);
        }
        if let Some(lengths) = buffer.as_slice::<u64>() {
            len = lengths.iter().sum::<u64>() as usize;
        }
        args.push(Owned::Array(buffer));
    }
    args
}
