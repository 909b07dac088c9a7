//! Requested schedules: equal bits, errors for illegal ones, and their traces in reports.

use livefusion::prelude::*;
use livefusion::runtime::EngineBuilder;
use livefusion::{Clustering, Error, ErrorKind, Ix0, KernelCache, stages};

/// The requested schedule for the loop of `kept`. It need not be fast on any machine.
const ASKED: &str = "loop_0\n  r0 vectorise 16 unroll 2\n  r1 compact\n";

/// A filter whose result is written, and its sum: one loop.
fn kept(xs: &Array<f64>) -> (Array<f64>, Array<f64, Ix0>) {
    let kept = xs.filter(|x| x.gt(-0.25));
    let sum = kept.sum();
    (kept, sum)
}

/// A C-only engine with a requested schedule and an empty kernel cache.
fn asked(text: &str) -> EngineBuilder {
    let builder = Engine::builder().kernel_cache(KernelCache::off());
    builder.only_c().schedule(text)
}

fn numbers(n: usize) -> Array<f64> {
    let numbers = crate::common::filters::numbers(n as u64, n);
    numbers.into_iter().map(|x| x as f64 / 99.0).collect()
}

fn bits(engine: &Engine, n: usize) -> (Vec<u64>, u64) {
    let (kept, sum) = kept(&numbers(n));
    let (kept, sum) = (kept, sum).force_with(engine).expect("it runs");
    (kept.iter().map(|x| x.to_bits()).collect(), sum.to_bits())
}

/// The reason why an engine refuses `kept`, which then runs without a schedule.
fn refused(engine: &Engine) -> String {
    let xs = numbers(100);
    let (kept, sum) = kept(&xs);
    let error: Error = (&kept, &sum).force_with(engine).expect_err("refused");
    assert_eq!(error, (&kept, &sum).explain_with(engine).expect_err("too"));
    assert_eq!(engine.counters().compiler_runs, 0);
    assert!((&kept, &sum).force_with(&Engine::interp()).is_ok());
    assert!(xs.sum().force_with(&Engine::interp()).is_ok());
    match error.kind {
        ErrorKind::Schedule(why) => why,
        other => panic!("{other}"),
    }
}

#[test]
fn the_bits_are_the_interpreters() {
    let scheduled = asked(ASKED).threads(1).build();
    let shared = asked(ASKED).threads(3).eager().build();
    for n in [0, 1, 31, 32, 33, 1000, 100_000] {
        let want = bits(&Engine::interp(), n);
        assert_eq!(bits(&scheduled, n), want, "{n}");
        assert_eq!(bits(&shared, n), want, "{n}, shared");
    }
    assert!(shared.counters().parallel_loops > 0);
}

#[test]
fn schedule_that_is_illegal_is_an_error_with_a_reason() {
    let wrong = "loop_0\n  r0 vectorise 3 unroll 8\n";
    let why = "the schedule of loop_0 is refused: r0 vectorise 3 unroll 8: lanes are a power of two, from 2 to 64";
    assert_eq!(refused(&asked(wrong).build()), why);
    // The error does not depend on the tier that runs the loop first, nor on whether C is ever
    // compiled.
    assert_eq!(refused(&Engine::builder().schedule(wrong).build()), why);
    let both = "loop_0\n  r1 vectorise 4 unroll 8\n  r0 compact\n";
    let why = "the schedule of loop_0 is refused: r1 vectorise 4 unroll 8: the rate is no innermost loop; \
               r0 compact: the rate is no sub rate of an innermost loop that tests";
    assert_eq!(refused(&asked(both).build()), why);
}

#[test]
fn schedule_that_does_not_parse_is_an_error_with_a_place() {
    let why = "the schedule cannot be read: line 2: expected a loop's name before its decisions, got `r0 branch`";
    assert_eq!(refused(&asked("\n  r0 branch\n").build()), why);
    let why = "the schedule of loop_0 is refused: line 2: expected a rate of r0, r1, got `r7`";
    assert_eq!(refused(&asked("loop_0\n  r7 mask\n").build()), why);
    let why = refused(&asked("loop_0\n  r1 masked\n").build());
    assert!(why.ends_with("got `masked`"), "{why}");
}

/// An explicit backend has its own schedules, and gives the same errors.
#[test]
fn given_backends_have_their_own() {
    let schedules =
        livefusion_tile::schedule::Schedules::parse("loop_0\n  r0 vectorise 3 unroll 8\n");
    let backend = livefusion_c::CBackend::new().with_schedules(schedules.expect("it is read"));
    let builder = Engine::builder().backend(std::sync::Arc::new(backend));
    let why = refused(&builder.schedule(ASKED).build());
    assert!(why.contains("r0 vectorise 3 unroll 8: lanes"), "{why}");
}

#[test]
fn explain_says_what_is_asked_of_which_loop() {
    let engine = asked(&format!("{ASKED}loop_7\n  r0 branch\n")).build();
    let (kept, sum) = kept(&numbers(10));
    let explained = (&kept, &sum).explain_with(&engine).expect("it is planned");
    let report = explained.to_string();
    assert!(
        report.contains("\nloop_0: 2 counters\n  r0: root"),
        "{report}"
    );
    let scheduled = "\n  schedule:\n    loop_0\n      r0 vectorise 16 unroll 2\n      r1 compact\n";
    assert!(report.contains(scheduled), "{report}");
    assert!(
        report.ends_with("\nscheduled, but in no loop here: loop_7\n"),
        "{report}"
    );
    assert_eq!(explained.loops[0].schedule.as_deref(), Some(ASKED));
    assert_eq!(explained.absent, ["loop_7"]);
    let report = (&kept, &sum).explain_with(&Engine::c()).expect("planned");
    let chosen = report.loops[0].schedule.as_deref().expect("C");
    assert!(
        chosen.starts_with("loop_0 # chosen for this machine\n"),
        "{chosen}"
    );
    let report = report.to_string();
    assert!(report.contains("\n  schedule:\n    loop_0 # chosen"));
    assert!(!report.contains("in no loop here"), "{report}");
    // Requesting the chosen schedule gives the same C.
    let source = |engine: &Engine| {
        let explained = (&kept, &sum).explain_with(engine).expect("planned");
        explained.loops[0].source.clone().expect("C")
    };
    assert_eq!(source(&asked(chosen).build()), source(&Engine::c()));
    let report = (&kept, &sum)
        .explain_with(&Engine::interp())
        .expect("planned");
    assert_eq!(report.loops[0].schedule, None);
}

/// Loop-carried values have tiles too, and schedule decisions affect them.
#[test]
fn scans_are_scheduled() {
    let engine = asked("loop_0\n  r1 branch\n").build();
    let sums = || numbers(1000).filter(|x| x.gt(0.0)).cumsum();
    let explained = sums().explain_with(&engine).expect("it is planned");
    let schedule = explained.loops[0].schedule.as_deref();
    assert_eq!(schedule, Some("loop_0\n  r1 branch\n"));
    let bits = |engine: &Engine| {
        let sums = sums().force_with(engine).expect("it runs");
        sums.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
    };
    assert_eq!(bits(&engine), bits(&Engine::interp()));
}

/// Sizing loops have names and schedules too.
#[test]
fn loops_that_count_are_scheduled_by_their_own_names() {
    let many = |engine: &Engine| {
        let xs = Array::from(vec![0.5f64, 0.001, 0.25]);
        let many = Segmented::replicate(&Array::from(vec![2u64, 0, 1]), &xs);
        let explained = many.data().explain_with(engine)?;
        Ok::<_, Error>((explained, many.data().force_with(engine)?[..].to_vec()))
    };
    let (explained, made) =
        many(&asked("size_0\n  r1 vectorise 2 unroll 1\n").build()).expect("it runs");
    assert_eq!(made, [0.5, 0.5, 0.25]);
    let schedule = explained.loops[0].schedule.as_deref();
    let asked_for = "size_0\n  r1 vectorise 2 unroll 1\nloop_0 # chosen for this machine\n";
    let said = schedule.expect("C");
    assert!(said.starts_with(asked_for), "{said}");
    let report = explained.to_string();
    assert!(
        report.contains("\n  counted first: size_0, which"),
        "{report}"
    );
    let error = many(&asked("size_0\n  r1 vectorise 3 unroll 1\n").build()).expect_err("refused");
    assert!(
        error.to_string().contains("of size_0 is refused"),
        "{error}"
    );
}

/// A schedule changes the source, and with it the cache key on disk.
#[test]
fn each_schedule_has_entries_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let uses = |builder: EngineBuilder| {
        let cache = KernelCache::in_folder(folder.path().join("kernels"));
        let engine = builder.only_c().kernel_cache(cache).threads(1).build();
        assert_eq!(bits(&engine, 1000), bits(&Engine::interp(), 1000));
        (engine.counters().disk_hits, engine.counters().compiler_runs)
    };
    let scheduled = |text| uses(Engine::builder().schedule(text));
    assert_eq!(uses(Engine::builder()), (0, 1));
    assert_eq!(scheduled(ASKED), (0, 1));
    assert_eq!(scheduled("loop_0\n  r1 mask\n"), (0, 1));
    assert_eq!(scheduled("loop_0"), (0, 1));
    for text in [
        ASKED,
        "loop_0\n  r1 mask\n",
        "loop_0",
        "",
        "loop_1\n  r0 branch\n",
    ] {
        assert_eq!(scheduled(text), (1, 0), "{text}");
    }
}

/// Engines compile for themselves: schedules do not leak between them.
#[test]
fn engines_do_not_share_what_they_compiled() {
    let (usual, scheduled) = (asked("").build(), asked(ASKED).build());
    let source = |engine: &Engine| {
        let (kept, sum) = kept(&numbers(10));
        let explained = (&kept, &sum).explain_with(engine).expect("it is planned");
        explained.loops[0].source.clone().expect("C")
    };
    let (before, after) = (source(&usual), source(&scheduled));
    assert_ne!(before, after);
    assert_eq!(before, source(&Engine::c()));
    // The last tier of the default engine receives the same source.
    let (kept, sum) = kept(&numbers(10));
    let graph = stages::graph(&(&kept, &sum)).expect("a graph");
    let mut loops = graph.plan(Clustering::default()).lower().expect("a loop");
    loops.optimize();
    let tiered = Engine::builder().schedule(ASKED).build();
    let code = loops.code(&tiered).expect("C");
    assert_eq!(code.sources().flatten().collect::<Vec<_>>(), [after]);
}

#[test]
fn the_text_of_schedules_is_one_that_an_engine_takes() {
    let (kept, sum) = kept(&numbers(10));
    let graph = stages::graph(&(&kept, &sum)).expect("a graph");
    let mut loops = graph.plan(Clustering::default()).lower().expect("a loop");
    loops.optimize();
    let tiles = loops.tiles(&asked(ASKED).build()).expect("legal");
    assert_eq!(tiles.schedules(), ASKED);
    let again = loops.tiles(&asked(&tiles.schedules()).build());
    assert_eq!(again.expect("legal").to_string(), tiles.to_string());
    assert!(
        tiles
            .to_string()
            .contains("compress p_1 elt_0 -> out_1[ix_1]")
    );
    let chosen = loops.tiles(&Engine::c()).expect("nothing is asked");
    let head =
        "# loop_0, under the schedule that is chosen for this machine\ntile loop_0_r0 at r0\n";
    assert!(chosen.to_string().starts_with(head), "{chosen}");
    let again = loops.tiles(&asked(&chosen.schedules()).build());
    let asked_for = again.expect("legal").to_string();
    assert_eq!(
        asked_for.split_once('\n').map(|t| t.1),
        chosen.to_string().split_once('\n').map(|t| t.1)
    );
    let error = loops.tiles(&asked("loop_0\n  r0 vectorise 3 unroll 8").build());
    assert!(matches!(
        error.expect_err("refused").kind,
        ErrorKind::Schedule(_)
    ));
}
