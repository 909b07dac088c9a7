//! Measures the errors of the transcendental functions in units in the last place.
//!
//! One-argument `f32` functions are measured for all 2^32 operands, the others for many. Run with
//! `--release`. Arguments:
//!
//! * the number of operands of each `f64` function that are compared with the reference (default
//!   10^5);
//! * `quick`, to take only every 1009th `f32` operand;
//! * names of functions, to measure only these.

#[path = "../tests/ulps/mod.rs"]
mod ulps;

use loop_lang::{Op, Ty};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use ulps::*;

/// The largest error and its operands.
#[derive(Clone, Copy, Default)]
struct Worst {
    error: f64,
    at: (f64, f64),
}

impl Worst {
    fn add(&mut self, error: f64, at: (f64, f64)) {
        if error > self.error {
            *self = Worst { error, at };
        }
    }
}

/// Runs parts of a measurement on all cores.
fn parallel(parts: u64, part: impl Fn(u64) -> Worst + Sync) -> Worst {
    let (next, worst) = (AtomicU64::new(0), Mutex::new(Worst::default()));
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= parts {
                        break;
                    }
                    let found = part(i);
                    let mut worst = worst.lock().unwrap_or_else(|e| e.into_inner());
                    worst.add(found.error, found.at);
                }
            });
        }
    });
    worst.into_inner().unwrap_or_else(|e| e.into_inner())
}

fn single(op: Op, step: usize) -> Worst {
    let measure = |worst: &mut Worst, x: f32, y: f32| {
        let at = (f64::from(x), f64::from(y));
        let got = value(op, Ty::F32, at.0, at.1);
        worst.add(error_f32(got, std_value(op, at.0, at.1)), at);
    };
    parallel(256, |i| {
        let mut worst = Worst::default();
        if op.arity() == 1 {
            for low in (0..1u32 << 24).step_by(step) {
                measure(&mut worst, f32::from_bits((i as u32) << 24 | low), 0.0);
            }
        } else {
            let mut random = Random(i);
            for _ in 0..(1 << 20) / step {
                let [x, y] = [(); 2].map(|()| random.operand(op) as f32);
                measure(&mut worst, x, y);
            }
        }
        worst
    })
}

fn double(op: Op, count: u64) -> Worst {
    parallel(64, |i| {
        let (mut random, mut reference) = (Random(i), Reference::new());
        let mut worst = Worst::default();
        for _ in 0..count / 64 {
            let at = (random.operand(op), random.operand(op));
            let near = std_value(op, at.0, at.1);
            if !near.is_finite() || near == 0.0 {
                continue;
            }
            let want = reference.value(op, at.0, at.1);
            worst.add(error_f64(value(op, Ty::F64, at.0, at.1), &want), at);
        }
        worst
    })
}

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let number = args.iter().find_map(|a| a.parse().ok());
    let step = if args.iter().any(|a| a == "quick") {
        1009
    } else {
        1
    };
    args.retain(|a| BOUNDS.iter().any(|(op, ..)| op.name() == a));
    println!("| function | f32 | f64 | worst f32 at | worst f64 at |");
    println!("| --- | --- | --- | --- | --- |");
    for (op, ..) in BOUNDS {
        if !args.is_empty() && !args.iter().any(|a| a == op.name()) {
            continue;
        }
        let (s, d) = (single(*op, step), double(*op, number.unwrap_or(100_000)));
        let shown = |w: Worst| match op.arity() {
            1 => format!("{:e}", w.at.0),
            _ => format!("{:e}, {:e}", w.at.0, w.at.1),
        };
        println!(
            "| `{}` | {:.3} | {:.3} | {} | {} |",
            op.name(),
            s.error,
            d.error,
            shown(s),
            shown(d)
        );
    }
}
