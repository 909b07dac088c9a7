//! Random and golden loops under random schedules, in C.
//!
//! The evaluator tells which decisions took steps.

use super::{IN_ZIPS, STEPS, number};
use livefusion_backend::{Backend, Kernel, Pass};
use livefusion_interp::InterpBackend;
use livefusion_tests::backends::Cut;
use livefusion_tests::loops::{self, chained, nested, plain, random, rows, short, zipped};
use livefusion_tests::mutants::{arguments, golden_loops};
use livefusion_tests::rng::Rng;
use livefusion_tests::tiles::{Drawn, Evaluated, draw};
use livefusion_tile::schedule::Schedules;
use loop_lang::Loop;

/// The number of loops in one run of the compiler.
const BATCH: usize = 40;
const COMPILED: u64 = 170;

/// Loops under schedules, compiled to C in few runs of the compiler.
#[test]
fn in_c() {
    let (first, count) = (number("LOOP_SEED", 0), number("LOOP_PROGRAMS", COMPILED));
    let golden = golden_loops()
        .into_iter()
        .enumerate()
        .map(|(k, (_, program))| {
            let args = arguments(&program, &mut Rng::new(k as u64));
            (program, args)
        });
    let random = (first..first + count).map(|seed| {
        let l = match seed % 6 {
            0 => random(seed),
            1 | 4 => zipped(seed),
            3 => loops::runs(seed),
            5 => chained(seed),
            _ => plain(seed),
        };
        (l.program, l.args)
    });
    let segments = (first..first + count.div_ceil(4)).map(|seed| {
        let l = match seed % 3 {
            0 => nested(seed),
            1 => short(seed),
            _ => rows(seed),
        };
        (l.program, l.args)
    });
    let mut loops: Vec<_> = golden.chain(random).chain(segments).collect();
    let mut drawn = Drawn::default();
    let interp = InterpBackend::new();
    for (turn, some) in loops.chunks_mut(BATCH).enumerate() {
        let mut schedules = Schedules::default();
        let mut decided = Vec::new();
        for (k, (program, _)) in some.iter_mut().enumerate() {
            program.name = format!("loop_{k}");
            let mut rng = Rng::new(first + (turn * BATCH + k) as u64);
            let schedule = draw(program, &mut rng, &mut drawn);
            schedules = schedules.with(program, &schedule);
            decided.push(schedule);
        }
        let backend = livefusion_tests::backends::c().with_schedules(schedules);
        let programs: Vec<&Loop> = some.iter().map(|(p, _)| p).collect();
        let kernels = backend.compile_batch(&programs);
        let kernels: Result<Vec<_>, _> = kernels.into_iter().collect();
        let kernels = kernels.unwrap_or_else(|e| {
            // One failing loop spoils its batch; find it.
            let fails = |program: &&Loop| backend.compile_batch(&[*program])[0].is_err();
            let k = programs.iter().position(fails).unwrap_or(0);
            panic!("{e}\n{}\n{}", decided[k].show(programs[k]), programs[k]);
        });
        for (k, (kernel, (program, args))) in kernels.into_iter().zip(some).enumerate() {
            let args: Vec<_> = args.iter().map(|a| a.arg()).collect();
            let alone = interp.compile(program).expect("it is interpreted");
            let want = loops::run(&*alone, Pass::Emit, STEPS, &args);
            // The evaluator tells which decisions took steps.
            let tiled = Evaluated::new(program, &decided[k], alone.clone(), k as u64);
            loops::run(&tiled, Pass::Emit, STEPS, &args);
            tiled.note_end("c", &want.outcome, &decided[k], &mut drawn);
            let cut = Cut::new(vec![kernel.clone(), alone], k as u64);
            for kernel in [&*kernel, &cut as &dyn Kernel] {
                let got = loops::run(kernel, Pass::Emit, STEPS, &args);
                if let Some(differs) = want.differs(&got) {
                    let (schedule, turn) = (decided[k].show(program), turn * BATCH + k);
                    panic!("{turn}: {differs}\n{schedule}\n{program}");
                }
            }
        }
    }
    println!("{drawn:#?}");
    let never = drawn.never_ended("c", &IN_ZIPS);
    assert_eq!(never, Vec::<String>::new(), "{drawn:#?}");
}
