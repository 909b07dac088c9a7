//! Any legal schedule gives the interpreter's bits.
//!
//! Covered: random loops, loops of random programs, and golden loops, under random schedules.

#[path = "schedules/in_c.rs"]
mod in_c;
#[path = "schedules/named.rs"]
mod named;

use livefusion::Engine;
use livefusion_backend::{Arg, Backend, Kernel, Pass};
use livefusion_interp::InterpBackend;
use livefusion_jit::JitBackend;
use livefusion_tests::backends::Cut;
use livefusion_tests::check::{agree, check_all, run};
use livefusion_tests::loops::{self, Ended, chained, nested, plain, random, rows, short, zipped};
use livefusion_tests::mutants::{arguments, golden_loops};
use livefusion_tests::program::{Options, Program, programs};
use livefusion_tests::rng::Rng;
use livefusion_tests::threads;
use livefusion_tests::tiles::{Drawn, Evaluated, Tiled, draw, has_dry_run, mutant, tiles};
use livefusion_tile::parse::parse;
use livefusion_tile::schedule::Schedule;
use loop_lang::Loop;
use loop_lang::ir::RateId;
use std::collections::HashMap;
use std::sync::Arc;

const LOOPS: u64 = 400;
/// The number of tileable loops, enough to run every decision and every pair of decisions.
const PLAIN: u64 = 300;
/// The number of loops with runs.
const RUNS: u64 = 150;
/// A chunk size that fits the largest number of parallel runs.
const LONG_CHUNK: u64 = 512;
/// The number of loops with long conditions.
const CHAINED: u64 = 300;
/// The number of zips with long inputs.
const ZIPPED: u64 = 150;
/// The number of loops over segments.
const NESTED: u64 = 300;
/// The number of loops over short rows.
const SHORT: u64 = 150;
/// The number of random programs of each kind, of seeds for each, and of programs per batch.
const PROGRAMS: u64 = 1500;
const SEEDS: u64 = 6;
const TOGETHER: usize = 60;
/// The number of plain loops whose tiles are mutated.
const CHANGED: u64 = 60;
const SCHEDULES: u64 = 3;
/// The number of random splits of loops with a dry run.
const CUTS: u64 = 8;
/// Decisions of zips that finish with results in both compiled backends.
const IN_ZIPS: [&str; 9] = [
    "buffer",
    "branch in buffer",
    "mask in buffer",
    "compact in buffer",
    "unroll",
    "vectorise 2",
    "vectorise 4",
    "vectorise 8",
    "fission",
];
/// The limit on steps: arguments are random, and some are long.
const STEPS: u64 = 3000;
/// Small chunks, so that small arrays have several.
const CHUNK: u64 = 96;

/// Runs a loop under some schedules, whole and split at random guards, alternating with the
/// interpreter. Its tiles are evaluated, and compiled by Cranelift, which uses the usual chunk
/// size. Returns the number of steps of the evaluated tiles.
fn agrees(program: &Loop, args: &[Arg<'_>], seed: u64, chunk: u64, drawn: &mut Drawn) -> u64 {
    let interp = |backend: InterpBackend| {
        let kernel = backend.compile(program).expect("it is interpreted");
        let want = loops::run(&*kernel, Pass::Emit, STEPS, args);
        (kernel, want)
    };
    let small = interp(InterpBackend::with_chunk(chunk));
    let usual = interp(InterpBackend::new());
    let mut taken = 0;
    for k in 0..SCHEDULES {
        let mut rng = Rng::new(seed * SCHEDULES + k);
        let schedule = draw(program, &mut rng, drawn);
        round_trips(program, &schedule);
        let agree = |kernel: Arc<dyn Kernel>, (interp, want): &(Arc<dyn Kernel>, Ended)| {
            let cut = Cut::new(vec![kernel.clone(), interp.clone()], seed);
            for kernel in [&*kernel, &cut] {
                let got = loops::run(kernel, Pass::Emit, STEPS, args);
                if let Some(differs) = want.differs(&got) {
                    let tiles = tiles(program, &schedule);
                    let tiles: Vec<String> =
                        tiles.iter().map(|t| t.show(program).to_string()).collect();
                    let (schedule, tiles) = (schedule.show(program), tiles.join("\n"));
                    panic!("seed {seed}.{k}: {differs}\n{schedule}\n{tiles}\n{program}");
                }
            }
        };
        let tiled = Arc::new(Evaluated::new(program, &schedule, small.0.clone(), seed));
        agree(tiled.clone(), &small);
        taken += tiled.count(&schedule, drawn);
        let jit = JitBackend::new().compile_under(program, &schedule);
        agree(jit.expect("it compiles"), &usual);
        tiled.note_end("jit", &usual.1.outcome, &schedule, drawn);
    }
    taken
}

/// Checks that each tile's text parses into the same tile.
fn round_trips(program: &Loop, schedule: &Schedule) {
    for tile in tiles(program, schedule) {
        let text = tile.show(program).to_string();
        match parse(&text, program) {
            Ok(again) => assert_eq!(again, tile, "{text}\n{program}"),
            Err(e) => panic!("{e}\n{text}\n{program}"),
        }
    }
}

#[test]
fn random_loops() {
    let mut drawn = Drawn::default();
    let (first, count) = (number("LOOP_SEED", 0), number("LOOP_PROGRAMS", LOOPS));
    let mut taken = 0;
    for seed in first..first + count {
        let l = random(seed);
        taken += agrees(&l.program, &l.args(), seed, CHUNK, &mut drawn);
    }
    println!("{taken} steps, {drawn:#?}");
}

#[test]
fn loops_over_segments() {
    let mut drawn = Drawn::default();
    let (first, count) = (number("LOOP_SEED", 0), number("LOOP_PROGRAMS", NESTED));
    let mut taken = 0;
    for seed in first..first + count {
        let l = nested(seed);
        let sound = loop_lang::verify::verify(&l.program);
        assert_eq!(sound, Ok(()), "seed {seed}\n{}", l.text);
        taken += agrees(&l.program, &l.args(), seed, CHUNK, &mut drawn);
    }
    println!("{taken} steps, {drawn:#?}");
    // Most steps are in tiles of the inner loops alone, if these have vectors or rolled-back steps.
    assert!(drawn.in_segments > taken / 8, "{drawn:#?}");
    for word in [
        "segment in vectors",
        "segment again",
        "segment aligned",
        "single-trip segment",
        "segment in a segment",
        "dryrun",
        "halves beat",
        "leave of a segment",
        "capacity at a sum",
        "capacity at a sum in vectors",
        "exit around segments in vectors",
        "filter beside segments",
        "scalar epilogue",
        "shared lanes",
        "shared lanes in vectors",
        "scalar epilogue beside shared lanes",
        "shared lanes beside few",
        "shared lanes beside few in vectors",
        "buffer",
    ] {
        assert!(drawn.said.contains(word), "{word}: {drawn:#?}");
    }
    assert!(drawn.rolled_back > 20, "{drawn:#?}");
}

/// Updates of array elements by nested segments happen once, wherever spans end.
#[test]
fn segments_with_a_dry_run() {
    let (first, count) = (number("LOOP_SEED", 0), number("LOOP_PROGRAMS", NESTED));
    let mut dry_runs = 0;
    for seed in first..first + 6 * count {
        let l = nested(seed);
        let tiles = tiles(&l.program, &Schedule::new());
        if !tiles.iter().any(has_dry_run) {
            continue;
        }
        dry_runs += 1;
        let interp = InterpBackend::new().compile(&l.program);
        let interp = interp.expect("it is interpreted");
        let want = loops::run(&*interp, Pass::Emit, STEPS, &l.args());
        let jit = JitBackend::new().compile_under(&l.program, &Schedule::new());
        let jit = jit.expect("it compiles");
        for k in 0..CUTS {
            let cut = Cut::new(vec![jit.clone()], seed * CUTS + k);
            let got = loops::run(&cut, Pass::Emit, STEPS, &l.args());
            assert_eq!(want.differs(&got), None, "seed {seed}.{k}\n{}", l.program);
        }
    }
    println!("{dry_runs} loops");
    assert!(dry_runs > 50, "{dry_runs} loops");
}

#[test]
fn loops_over_rows() {
    let mut drawn = Drawn::default();
    let (first, count) = (number("LOOP_SEED", 0), number("LOOP_PROGRAMS", NESTED));
    let mut taken = 0;
    for seed in first..first + count {
        let l = rows(seed);
        let sound = loop_lang::verify::verify(&l.program);
        assert_eq!(sound, Ok(()), "seed {seed}\n{}", l.text);
        taken += agrees(&l.program, &l.args(), seed, CHUNK, &mut drawn);
    }
    println!("{taken} steps, {drawn:#?}");
    let word = "one segment for several steps";
    assert!(drawn.said.contains(word), "{drawn:#?}");
}

/// Rows that only read and fold, side by side.
#[test]
fn loops_over_short_rows() {
    let mut drawn = Drawn::default();
    let (first, count) = (number("LOOP_SEED", 0), number("LOOP_PROGRAMS", SHORT));
    let mut taken = 0;
    for seed in first..first + count {
        let l = short(seed);
        let sound = loop_lang::verify::verify(&l.program);
        assert_eq!(sound, Ok(()), "seed {seed}\n{}", l.text);
        taken += agrees(&l.program, &l.args(), seed, CHUNK, &mut drawn);
    }
    println!("{taken} steps, {drawn:#?}");
    let ran = drawn.ran.get("rows").copied().unwrap_or(0);
    assert!(ran > count / 2, "{drawn:#?}");
}

#[test]
fn loops_that_tiles_take() {
    let mut drawn = Drawn::default();
    let (first, count) = (number("LOOP_SEED", 0), number("LOOP_PROGRAMS", 0));
    let mut taken = 0;
    for seed in first..first + count.max(PLAIN) {
        let l = plain(seed);
        let sound = loop_lang::verify::verify(&l.program);
        assert_eq!(sound, Ok(()), "seed {seed}\n{}", l.text);
        taken += agrees(&l.program, &l.args(), seed, CHUNK, &mut drawn);
    }
    println!("{taken} steps, {drawn:#?}");
    assert_eq!(drawn.missing(), Vec::<String>::new(), "never ran");
}

/// Long conditions in pieces.
#[test]
fn filters_in_filters() {
    let mut drawn = Drawn::default();
    let (first, count) = (number("LOOP_SEED", 0), number("LOOP_PROGRAMS", 0));
    let mut taken = 0;
    for seed in first..first + count.max(CHAINED) {
        let l = chained(seed);
        let sound = loop_lang::verify::verify(&l.program);
        assert_eq!(sound, Ok(()), "seed {seed}\n{}", l.text);
        taken += agrees(&l.program, &l.args(), seed, CHUNK, &mut drawn);
    }
    println!("{taken} steps, {drawn:#?}");
    let word = "guard within guards";
    assert!(drawn.said.contains(word), "{drawn:#?}");
}

#[test]
fn zips_through_buffers() {
    let mut drawn = Drawn::default();
    let (first, count) = (number("LOOP_SEED", 0), number("LOOP_PROGRAMS", ZIPPED));
    let mut taken = 0;
    for seed in first..first + count {
        let l = zipped(seed);
        let sound = loop_lang::verify::verify(&l.program);
        assert_eq!(sound, Ok(()), "seed {seed}\n{}", l.text);
        taken += agrees(&l.program, &l.args(), seed, CHUNK, &mut drawn);
    }
    println!("{taken} steps, {drawn:#?}");
    let never = drawn.never_ended("jit", &IN_ZIPS);
    assert_eq!(never, Vec::<String>::new(), "{drawn:#?}");
}

#[test]
fn loops_that_fold_in_runs() {
    let mut drawn = Drawn::default();
    let (first, count) = (number("LOOP_SEED", 0), number("LOOP_PROGRAMS", 0));
    let mut taken = 0;
    for seed in first..first + count.max(RUNS) {
        let l = loops::runs(seed);
        let sound = loop_lang::verify::verify(&l.program);
        assert_eq!(sound, Ok(()), "seed {seed}\n{}", l.text);
        let chunk = if seed % 3 == 0 { CHUNK } else { LONG_CHUNK };
        taken += agrees(&l.program, &l.args(), seed, chunk, &mut drawn);
    }
    println!("{taken} steps, {drawn:#?}");
    let runs = [2, 4, 8, 16].map(|n| format!("runs {n}"));
    let missing: Vec<&String> = (runs.iter())
        .filter(|name| !drawn.ran.contains_key(*name))
        .collect();
    assert_eq!(missing, Vec::<&String>::new(), "never ran");
    for word in ["across", "lane", "gather in lanes"] {
        assert!(drawn.said.contains(word), "{word}: {drawn:#?}");
    }
}

/// A seed with which a loop of a program should run one of these decisions or pairs, if one of a
/// few seeds does.
fn promises(p: &Program, missing: &[String]) -> Option<u64> {
    let explained = Engine::interp().explain(&p.build().roots);
    let mut loops = explained.map_or(Vec::new(), |e| e.loops);
    // Single decisions run soon. The remaining ones are pairs of a subrate and its surrounding
    // rate.
    loops.retain(|l| l.program.rates.iter().any(|r| r.kind.is_sub()));
    let promises = |seed: &u64| {
        loops.iter().any(|l| {
            let (mut drawn, rng) = (Drawn::default(), &mut Rng::new(*seed));
            let schedule = draw(&l.program, rng, &mut Drawn::default());
            let rates = (0..l.program.rates.len()).map(RateId::new);
            rates.for_each(|rate| drawn.count(&l.program, &schedule, rate));
            missing.iter().any(|name| drawn.ran.contains_key(name))
        })
    };
    (0..SEEDS).find(promises)
}

/// Loops of user-style programs: some at first, then loops that may cover missing decisions.
#[test]
fn random_programs() {
    let mut drawn = Drawn::default();
    let wired = programs(PROGRAMS, Options::WIRED).map(|(seed, p)| (seed + 2_000_000, p));
    let programs = programs(PROGRAMS, Options::SMALL).zip(wired);
    let mut programs = programs.flat_map(<[_; 2]>::from);
    let interp = Engine::interp();
    let mut ran = 0;
    loop {
        let mut missing = drawn.undecided();
        // Only loops of programs have cursors.
        missing.extend((drawn.zipped == 0).then(|| "buffer".to_string()));
        // Arrays are short here, so vectors of one width represent all widths.
        missing.retain(|name| {
            let sub = name.split_once(" in vectorise").map(|(sub, _)| sub);
            let pair = sub.map(|sub| format!("{sub} in vectorise"));
            pair.is_none_or(|pair| !drawn.ran.keys().any(|ran| ran.starts_with(&pair)))
        });
        let some: Vec<(u64, Program)> = programs.by_ref().take(TOGETHER).collect();
        if missing.is_empty() || some.is_empty() {
            println!("{ran} programs, {drawn:#?}");
            if std::env::var_os("LOOP_PROGRAMS").is_none() {
                assert_eq!(missing, Vec::<String>::new(), "never ran");
            }
            return;
        }
        let draws = threads::map(&some, |(seed, p)| match ran {
            0 => Some(*seed),
            _ => promises(p, &missing),
        });
        let draws = some.into_iter().zip(draws);
        let draws = draws.filter_map(|(p, draw)| Some((p, draw?)));
        let (some, draws): (Vec<(u64, Program)>, Vec<u64>) = draws.unzip();
        ran += some.len();
        let seeds = some.iter().map(|p| p.0).zip(draws);
        let seeds: HashMap<u64, u64> = seeds.collect();
        let check = |seed, p: &Program| {
            let tiled = Arc::new(Tiled::new(InterpBackend::new(), seeds[&seed]));
            let got = run(p, &Engine::new(tiled.clone()))?;
            agree(&run(p, &interp)?, &got).map(|()| tiled)
        };
        check_all(some, check, |_, tiled| tiled.count(&mut drawn));
    }
}

/// Mutated tiles that verify stay within their memory, or the evaluator reports the violation.
/// Their results are arbitrary.
#[test]
fn changed_tiles_stay_inside() {
    let (mut ran, mut drawn) = (0, Drawn::default());
    for k in 0..2 * CHANGED {
        let seed = k / 2;
        let l = match (k % 2, seed % 4) {
            (0, 3) => loops::runs(seed),
            (0, _) => plain(seed),
            _ => nested(seed),
        };
        let interp = InterpBackend::with_chunk(CHUNK);
        let interp = interp.compile(&l.program).expect("it is interpreted");
        let mut rng = Rng::new(seed);
        let schedule = draw(&l.program, &mut rng, &mut drawn);
        for tile in tiles(&l.program, &schedule) {
            for _ in 0..40 {
                let Some(changed) = mutant(&tile, &l.program, &mut rng) else {
                    continue;
                };
                let kernel = Evaluated::of(&l.program, vec![changed], interp.clone(), seed);
                loops::run(&kernel, Pass::Emit, STEPS, &l.args());
                ran += usize::from(!kernel.taken().is_empty());
            }
        }
    }
    println!("{ran} changed tiles took steps");
    assert!(ran > 80, "{ran} changed tiles took steps");
}

#[test]
fn golden_loops_too() {
    let mut drawn = Drawn::default();
    let mut taken = 0;
    for (k, (_, program)) in golden_loops().into_iter().enumerate() {
        for turn in 0..4 {
            let seed = k as u64 * 4 + turn;
            let args = arguments(&program, &mut Rng::new(seed));
            let args: Vec<_> = args.iter().map(|a| a.arg()).collect();
            taken += agrees(&program, &args, seed, CHUNK, &mut drawn);
        }
    }
    println!("{taken} steps, {drawn:#?}");
}

fn number(name: &str, usual: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(usual, |n| n.parse().expect("a number"))
}
