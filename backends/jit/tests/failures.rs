//! Traps, the memory limit, bad arguments and frames, malformed loops.

use crate::common::*;
use livefusion_backend::{Arg, Backend, CompileError, Frame, Memory, Outcome, Pass, View};
use livefusion_interp::InterpBackend;
use livefusion_jit::JitBackend;
use loop_lang::{Const, Loop, Ty};

fn both(program: &Loop, data: &[Data], spans: &[u64]) -> Outcome {
    let args = args(data);
    let interp = InterpBackend::new().compile(program).unwrap();
    let jit = JitBackend::new().compile(program).unwrap();
    let want = run_by_turns(&[&*interp], spans, &args);
    let got = run_by_turns(&[&*jit], spans, &args);
    assert_eq!(got, want, "{}", program.name);
    want.0
}

#[test]
fn a_gather_outside_traps() {
    let program = loop_file("gather_trap");
    let table = Data::F64((0..100).map(f64::from).collect());
    let indices = |last| Data::U64((0..999).map(|i| i % 100).chain([last]).collect());
    let inside = both(&program, &[indices(99), table.clone()], &[u64::MAX]);
    assert_eq!(inside, Outcome::Done);
    for last in [100, u64::MAX, 1 << 63] {
        for spans in [&[u64::MAX][..], &[7]] {
            let outcome = both(&program, &[indices(last), table.clone()], spans);
            assert_eq!(outcome, Outcome::Trapped(None));
        }
    }
    // An empty table is never read.
    let empty = || Data::F64(vec![]);
    let outcome = both(&program, &[indices(0), empty()], &[u64::MAX]);
    assert_eq!(outcome, Outcome::Trapped(None));
    let outcome = both(&program, &[Data::U64(vec![]), empty()], &[3]);
    assert_eq!(outcome, Outcome::Done);
}

#[test]
fn lengths_and_segments_that_differ_trap() {
    let dot = loop_file("dot");
    let (short, long) = (Data::F64(vec![1.0; 10]), Data::F64(vec![1.0; 100]));
    let start = Data::Scalar(Const::f64(0.0));
    for data in [[&short, &long, &start], [&long, &short, &start]] {
        let outcome = both(&dot, &data.map(Clone::clone), &[u64::MAX]);
        assert_eq!(outcome, Outcome::Trapped(None));
    }
    let segmented = loop_file("segmented");
    for lengths in [vec![5, 6], vec![5, 4], vec![u64::MAX, 11], vec![]] {
        let lengths = Data::U64(lengths);
        let data = [&lengths, &short, &start, &start].map(Clone::clone);
        for spans in [[u64::MAX], [1]] {
            assert_eq!(both(&segmented, &data, &spans), Outcome::Trapped(None));
        }
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
            assert_eq!(both(&program, &data, spans), Outcome::Done);
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
        let jit = JitBackend::new().compile(&program).unwrap();
        let got = run(&*jit, &args);
        assert_eq!(got, run(&*interp, &args));
        assert_eq!(got.0, outcome);
    }
}

#[test]
fn the_memory_limit_holds() {
    let program = loop_file("filter_max");
    let kernel = JitBackend::new().compile(&program).unwrap();
    let interp = InterpBackend::new().compile(&program).unwrap();
    let xs = vec![1i64; 1000];
    let int = |x| Arg::Scalar(Const::int(Ty::I64, x));
    let args = [Arg::Array(View::new(&xs)), int(1), int(0), int(0), int(0)];
    for left in [0, 7999, 8000, 15999, 16000, 17000] {
        let ended = [&kernel, &interp].map(|k| {
            let mut frame = Frame::new(k.layout());
            frame.memory = Memory::limited(left);
            let outcome = k.run(Pass::Emit, u64::MAX, &mut frame, &args);
            let left = (outcome == Outcome::Done).then_some(frame.memory.left());
            (outcome, left)
        });
        assert_eq!(ended[0], ended[1], "{left}");
        assert_eq!(ended[0].0 == Outcome::Done, left >= 16000);
    }
}

#[test]
fn wrong_arguments_and_frames_are_refused() {
    let program = loop_file("map");
    let kernel = JitBackend::new().compile(&program).unwrap();
    let xs = vec![1.0f64; 10];
    let good = [Arg::Array(View::new(&xs)), Arg::Scalar(Const::f64(2.0))];
    let bad = [Arg::Scalar(Const::f64(2.0)), Arg::Scalar(Const::f64(2.0))];
    let refused = |frame: &mut Frame, args: &[Arg<'_>]| {
        let outcome = kernel.run(Pass::Emit, 1, frame, args);
        assert!(matches!(outcome, Outcome::BadArgs(_)), "{outcome:?}");
    };
    refused(&mut Frame::new(kernel.layout()), &bad);
    refused(&mut Frame::new(kernel.layout()), &good[..1]);
    refused(&mut Frame::default(), &good);
    for (word, value) in [(0, 17), (1, u64::MAX)] {
        let mut frame = Frame::new(kernel.layout());
        frame.words[word] = value;
        refused(&mut frame, &good);
    }
}

#[test]
fn any_words_are_safe_to_resume_from() {
    for (program, data) in crate::common::cases::cases(100) {
        let kernel = JitBackend::new().compile(&program).unwrap();
        let args = args(&data);
        for seed in 0..50 {
            let mut numbers = Numbers(seed);
            let mut frame = Frame::new(kernel.layout());
            for word in &mut frame.words {
                *word = numbers.next() << (numbers.below(4) * 16);
            }
            frame.words[0] = 1 + numbers.below(kernel.layout().resume.len() as u64);
            frame.words[1] = numbers.below(1 << 40);
            let outcome = kernel.run(Pass::Emit, 1000, &mut frame, &args);
            assert!(!matches!(outcome, Outcome::BadArgs(_)), "{outcome:?}");
        }
    }
}

#[test]
fn a_malformed_loop_is_refused() {
    let mut bad = loop_file("dot");
    bad.roots.clear();
    let refused = JitBackend::new().compile(&bad).err();
    assert!(matches!(refused, Some(CompileError::Malformed(_))));
}

/// Dropped kernels free the memory of their code.
#[test]
fn kernels_give_their_memory_back() {
    let program = loop_file("map");
    let backend = JitBackend::new();
    let resident = || {
        let text = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        text.lines().filter(|l| l.contains("r-xp")).count()
    };
    let before = resident();
    for _ in 0..300 {
        backend.compile(&program).unwrap();
    }
    assert!(resident() < before + 150, "{before}, then {}", resident());
}
