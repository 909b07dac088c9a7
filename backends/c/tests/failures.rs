//! Traps, the memory limit, bad arguments, missing and failing compilers.

use crate::common::*;
use livefusion_backend::{Arg, Backend, CompileError, Frame, Memory, Outcome, Pass, View};
use livefusion_c::CBackend;
use livefusion_interp::InterpBackend;
use loop_lang::{Const, Loop, Ty};

fn both(program: &Loop, data: &[Data], spans: &[u64]) -> (Outcome, Vec<Words>) {
    let args = args(data);
    let interp = InterpBackend::new().compile(program).unwrap();
    let want = run_by_turns(&[&*interp], spans, &args);
    for backend in [CBackend::new(), CBackend::new().without_tiles()] {
        let kernel = backend.compile(program).unwrap();
        assert_eq!(
            run_by_turns(&[&*kernel], spans, &args),
            want,
            "{}",
            program.name
        );
    }
    want
}

#[test]
fn a_gather_outside_traps() {
    let program = loop_file("gather_trap");
    let table = Data::F64((0..100).map(f64::from).collect());
    let indices = |last| Data::U64((0..999).map(|i| i % 100).chain([last]).collect());
    assert_eq!(
        both(&program, &[indices(99), table.clone()], &[u64::MAX]).0,
        Outcome::Done
    );
    for last in [100, u64::MAX, 1 << 63] {
        for spans in [&[u64::MAX][..], &[7]] {
            let outcome = both(&program, &[indices(last), table.clone()], spans).0;
            assert_eq!(outcome, Outcome::Trapped(None));
        }
    }
    // An empty table is never read.
    let outcome = both(&program, &[indices(0), Data::F64(vec![])], &[u64::MAX]).0;
    assert_eq!(outcome, Outcome::Trapped(None));
    assert_eq!(
        both(&program, &[Data::U64(vec![]), Data::F64(vec![])], &[3]).0,
        Outcome::Done
    );
}

#[test]
fn a_key_outside_of_the_bins_traps() {
    let program = loop_file("counts");
    let scalars = |bins| {
        let by = Const::int(Ty::I64, 7);
        [Data::Scalar(Const::u64(bins)), Data::Scalar(by)]
    };
    for (key, at) in [(50, 0), (50, 998), (u64::MAX, 500), (1 << 32, 999)] {
        let mut keys: Vec<u64> = (0..1000).map(|i| i % 50).collect();
        keys[at] = key;
        let [bins, by] = scalars(50);
        for spans in [&[u64::MAX][..], &[7]] {
            let data = [Data::U64(keys.clone()), bins.clone(), by.clone()];
            let outcome = both(&program, &data, spans).0;
            assert_eq!(outcome, Outcome::Trapped(None));
        }
    }
    let [bins, by] = scalars(0);
    let outcome = both(&program, &[Data::U64(vec![0]), bins, by], &[u64::MAX]).0;
    assert_eq!(outcome, Outcome::Trapped(None));
}

#[test]
fn a_trap_in_a_piece_ends_the_loop() {
    let program = loop_file("long_chain");
    for bad in [0, 255, 256, 700, 20_000] {
        let mut xs = vec![1.0; 20_001];
        let scalars = [0.5, 1.0, 0.0].map(|x| Data::Scalar(Const::f64(x)));
        for (x, outcome) in [(1.0, Outcome::Done), (-1.0, Outcome::Trapped(None))] {
            xs[bad] = x;
            let data = [&[Data::F64(xs.clone())], &scalars[..]].concat();
            for spans in [&[u64::MAX][..], &[1000, 31]] {
                assert_eq!(both(&program, &data, spans).0, outcome, "{bad} {x}");
            }
        }
    }
}

#[test]
fn lengths_that_differ_trap() {
    let program = loop_file("dot");
    let short = || Data::F64(vec![1.0; 10]);
    let long = || Data::F64(vec![1.0; 100]);
    let start = || Data::Scalar(Const::f64(0.0));
    for data in [[short(), long(), start()], [long(), short(), start()]] {
        assert_eq!(both(&program, &data, &[u64::MAX]).0, Outcome::Trapped(None));
    }
}

#[test]
fn segments_that_do_not_fit_trap() {
    let program = loop_file("segmented");
    let start = || Data::Scalar(Const::f64(0.0));
    for lengths in [vec![5, 6], vec![5, 4], vec![u64::MAX, 11], vec![]] {
        let data = [
            Data::U64(lengths),
            Data::F64(vec![1.0; 10]),
            start(),
            start(),
        ];
        assert_eq!(both(&program, &data, &[u64::MAX]).0, Outcome::Trapped(None));
        assert_eq!(both(&program, &data, &[1]).0, Outcome::Trapped(None));
    }
}

/// A stream that is shorter than the bound gives zeros, and writes beyond an array are dropped.
#[test]
fn short_arrays_are_safe() {
    let program = loop_file("short");
    for (n, m) in [(100, 100), (100, 30), (30, 100), (0, 0), (100, 0)] {
        let scalar = |x| Data::Scalar(Const::u64(x));
        let data = [Data::F64(vec![1.0; 50]), scalar(n), scalar(m)];
        for spans in [&[u64::MAX][..], &[9, 1]] {
            assert_eq!(both(&program, &data, spans).0, Outcome::Done);
        }
    }
}

/// A scalar loop that would not end after its division has trapped.
#[test]
fn trapped_scalar_loops_end() {
    let program = loop_file("halves");
    for (values, outcome) in [
        (vec![2, 3, 10], Outcome::Done),
        (vec![2, 0, 2], Outcome::Trapped(None)),
    ] {
        let args = [Arg::Array(View::new::<i32>(&values))];
        let interp = InterpBackend::new().compile(&program).unwrap();
        let c = CBackend::new().compile(&program).unwrap();
        let got = run(&*c, &args);
        assert_eq!(got, run(&*interp, &args));
        assert_eq!(got.0, outcome);
    }
}

#[test]
fn the_memory_limit_holds() {
    let program = loop_file("filter_max");
    let kernel = CBackend::new().compile(&program).unwrap();
    let interp = InterpBackend::new().compile(&program).unwrap();
    let xs = vec![1i64; 1000];
    let int = |x| Arg::Scalar(Const::int(Ty::I64, x));
    let args = [Arg::Array(View::new(&xs)), int(1), int(0), int(0), int(0)];
    for left in [0, 7999, 8000, 15999, 16000, 17000] {
        let mut outcomes = Vec::new();
        for k in [&kernel, &interp] {
            let mut frame = Frame::new(k.layout());
            frame.memory = Memory::limited(left);
            outcomes.push(k.run(Pass::Emit, u64::MAX, &mut frame, &args));
            outcomes.push(Outcome::BadArgs(frame.memory.left().to_string()));
        }
        assert_eq!(outcomes[0], outcomes[2], "{left}");
        if outcomes[0] == Outcome::Done {
            assert_eq!(outcomes[1], outcomes[3]);
        }
        assert_eq!(outcomes[0] == Outcome::Done, left >= 16000);
    }
}

#[test]
fn wrong_arguments_and_frames_are_refused() {
    let program = loop_file("map");
    let kernel = CBackend::new().compile(&program).unwrap();
    let xs = vec![1.0f64; 10];
    let good = [Arg::Array(View::new(&xs)), Arg::Scalar(Const::f64(2.0))];
    let bad = [Arg::Scalar(Const::f64(2.0)), Arg::Scalar(Const::f64(2.0))];
    let refused = |o| matches!(o, Outcome::BadArgs(_));
    let mut frame = Frame::new(kernel.layout());
    assert!(refused(kernel.run(Pass::Emit, 1, &mut frame, &bad)));
    assert!(refused(kernel.run(Pass::Emit, 1, &mut frame, &good[..1])));
    assert!(refused(kernel.run(
        Pass::Emit,
        1,
        &mut Frame::default(),
        &good
    )));
    for (word, value) in [(0, 17), (1, u64::MAX)] {
        let mut frame = Frame::new(kernel.layout());
        frame.words[word] = value;
        assert!(refused(kernel.run(Pass::Emit, 1, &mut frame, &good)));
    }
    // Resuming from random words is safe.
    for seed in 0..50 {
        let mut numbers = Numbers(seed);
        let mut frame = Frame::new(kernel.layout());
        frame
            .words
            .iter_mut()
            .for_each(|w| *w = numbers.next() << 16);
        (frame.words[0], frame.words[1]) = (1, 0);
        let outcome = kernel.run(Pass::Emit, 1000, &mut frame, &good);
        assert!(
            matches!(outcome, Outcome::Done | Outcome::Paused),
            "{outcome:?}"
        );
    }
}

#[test]
fn a_missing_compiler_is_unavailable() {
    let backend = CBackend::with_compiler("/nowhere/cc");
    match backend.compile(&loop_file("map")).err() {
        Some(CompileError::Unavailable { backend: "c", why }) => {
            assert!(why.contains("/nowhere/cc") && why.contains("CC"), "{why}");
        }
        other => panic!("{other:?}"),
    }
}

#[cfg(unix)]
#[test]
fn a_failing_compiler_is_quoted() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("cc");
    std::fs::write(
        &script,
        "#!/bin/sh\necho 'kernel.c:1: out of coffee' >&2\nexit 1\n",
    )
    .unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    match CBackend::with_compiler(&script)
        .compile(&loop_file("map"))
        .err()
    {
        Some(CompileError::Failed { compiler, stderr }) => {
            assert_eq!(compiler, script.display().to_string());
            assert_eq!(stderr, "kernel.c:1: out of coffee\n");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_malformed_loop_does_not_hold_up_a_batch() {
    let (good, mut bad) = (loop_file("map"), loop_file("dot"));
    bad.roots.clear();
    let kernels = CBackend::new().compile_batch(&[&bad, &good, &good]);
    assert!(matches!(kernels[0], Err(CompileError::Malformed(_))));
    assert!(kernels[1].is_ok() && kernels[2].is_ok());
}
