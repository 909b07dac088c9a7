//! The bandwidth roof: memory throughput without computation.

use crate::data::{Input, uniform};
use crate::kernels::{Kernels, Outcome, Outputs};
use crate::measure::{Contender, Effort, Role, median, rounds};
use loop_lang::types::Ty;
use std::cell::RefCell;
use std::time::Duration;

/// Elements of each column: 80 MB.
const LENGTH: usize = 10_000_000;

/// Holds the bandwidth with a number of threads, in bytes per second.
#[derive(Clone, Debug)]
pub struct Roof {
    /// The number of threads.
    pub threads: usize,
    /// By kind of traffic: `read`, `copy`, `triad`.
    pub kinds: Vec<(String, f64)>,
}

impl Roof {
    /// Returns the largest bandwidth of all kinds.
    pub fn bytes_per_s(&self) -> f64 {
        self.kinds.iter().map(|(_, b)| *b).fold(0.0, f64::max)
    }
}

/// Measures the roof for each number of threads.
pub fn measure(kernels: &mut Kernels, threads: &[usize], effort: Effort) -> Outcome<Vec<Roof>> {
    let input: Input = vec![uniform(1, LENGTH), uniform(2, LENGTH)];
    let variants = kernels.variants("roof.c", "roof")?;
    let outputs = RefCell::new(Outputs::new(&vec![(Ty::F64, LENGTH)])?);
    let effort = Effort {
        rounds: (effort.rounds.0, effort.rounds.0),
        budget: Duration::ZERO,
        ..effort
    };
    let mut roofs = Vec::new();
    for &threads in threads {
        let one = |variant| {
            let (input, outputs) = (&input, &outputs);
            move || {
                outputs.borrow_mut().run(variant, input, LENGTH, threads);
            }
        };
        let contender = |variant: &crate::kernels::Variant| variant.name.clone();
        let mut contenders: Vec<Contender<'_>> = variants
            .iter()
            .map(|v| Contender {
                name: contender(v),
                role: Role::Fresh,
                parallel: threads > 1,
                run: Box::new(one(v)),
            })
            .collect();
        let timings = rounds(&mut contenders, effort);
        let columns = [1.0, 2.0, 3.0];
        let bytes = columns.map(|c| c * 8.0 * LENGTH as f64);
        let kinds = timings.iter().zip(bytes);
        roofs.push(Roof {
            threads,
            kinds: kinds
                .map(|(t, bytes)| (t.name.clone(), bytes / (median(&t.samples) * 1e-9)))
                .collect(),
        });
    }
    Ok(roofs)
}
