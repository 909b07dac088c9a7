//! Tests of observers: the reported steps, and unchanged results.

use crate::support::*;
use livefusion_backend::{Frame, Kernel, Outcome, Pass};
use livefusion_interp::InterpBackend;
use livefusion_interp::observe::{Event, Observer, Step};
use loop_lang::ir::{Place, StmtKind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Counts steps, and ends the run after a limit.
struct Until(u64, AtomicU64);

impl Observer for Until {
    fn observe(&self, _: &Step<'_>) -> bool {
        self.1.fetch_add(1, Ordering::Relaxed) + 1 < self.0
    }
}

#[test]
fn changes_nothing() {
    let mut rng = Rng(7);
    for (name, text) in golden_texts() {
        let program = parse(&text);
        let observed = InterpBackend::observed(Arc::new(Until(u64::MAX, AtomicU64::new(0))));
        let observed = observed.compile_kernel(&program).expect(&name);
        for _ in 0..8 {
            let args = random_args(&program, &mut rng);
            let plain = run(&kernel(&program), &args);
            assert_eq!(run(&observed, &args), plain, "{name}");
            let cut = run_cut(&observed, &args, || 3);
            assert_eq!(cut.1, plain.1, "{name}, in spans");
        }
    }
}

/// Records assignments with their values, and places.
struct Notes(Mutex<Vec<String>>);

impl Observer for Notes {
    fn observe(&self, step: &Step<'_>) -> bool {
        let values = || {
            let value = |(v, c): &(_, _)| format!("{}={c}", step.program.name(*v));
            step.values.iter().map(value).collect::<Vec<_>>().join(" ")
        };
        let note = match step.event {
            Event::Statement(s) if matches!(s.kind, StmtKind::Assign(..)) => values(),
            Event::Return => format!("return {}", values()),
            Event::Enter if step.place == Place::Init => "init".into(),
            _ => return true,
        };
        self.0.lock().expect("no panic").push(note);
        true
    }
}

/// A sum in lanes is reported as one sum.
#[test]
fn says_what_is_assigned() {
    let text = "\
loop f
comb 0 sum at r0
param xs: [f64] stream r0
rate r0 root ix_0 < n_0 { stage 0 }
group acc_0 owner r0 step r0 start 0.0 id 0.0 next new_0 combine add level 0 lanes 8
init_0:
  let n_0 = arrayLength xs
  carry ix_0 = 0
  carry acc_0 = 0.0
guard_0:
  let more_0 = lt ix_0 n_0
  unless more_0
body_0:
  let elt_0 = readArray xs ix_0
  let new_0 = add acc_0 elt_0
yield_0:
bottom_0:
  acc_0 := new_0
  let nix_0 = add ix_0 1
  ix_0 := nix_0
done_0:
  return acc_0
";
    let notes = Arc::new(Notes(Mutex::default()));
    let kernel = InterpBackend::observed(notes.clone());
    let kernel = kernel.compile_kernel(&parse(text)).expect("it verifies");
    let (outcome, _) = run(&kernel, &[array(&[0.5, 0.25])]);
    assert_eq!(outcome, Outcome::Done);
    let told = notes.0.lock().expect("no panic");
    let wanted = [
        "init",
        "new_0=0.5 acc_0=0.5",
        "nix_0=1 ix_0=1",
        "new_0=0.25 acc_0=0.25",
        "nix_0=2 ix_0=2",
        "return acc_0=0.75",
    ];
    assert_eq!(*told, wanted);
}

#[test]
fn ends_the_run() {
    let program = golden("to_percentages");
    let until = Arc::new(Until(5, AtomicU64::new(0)));
    let kernel = InterpBackend::observed(until.clone());
    let kernel = kernel.compile_kernel(&program).expect("it verifies");
    let args = random_args(&program, &mut Rng(1));
    let mut frame = Frame::new(kernel.layout());
    let outcome = kernel.run(Pass::Emit, u64::MAX, &mut frame, &borrow(&args));
    assert_eq!(outcome, Outcome::Paused);
    assert_eq!(until.1.load(Ordering::Relaxed), 5);
}
