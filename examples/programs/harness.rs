//! Timing of two forms of a program in turn, and comparison of their results.

use livefusion::array::Dim;
use livefusion::prelude::*;
use livefusion::runtime::{ExplainedApart, Explanation};
use livefusion_examples::{Outcome, timed};
use std::time::{Duration, Instant};

/// Names the columns of the table.
pub const HEADER: &str = "\
| name | elements | fused, ns | plain Rust, ns | ratio | loops | arrays | calls |
| --- | --: | --: | --: | --: | --: | --: | --: |";

/// Runs programs on an engine, with inputs of one scale.
pub struct Bench {
    engine: Engine,
    is_small: bool,
    rounds: u32,
    /// The shortest time of the first calls, in which the engine compiles C in the background.
    settling: Duration,
}

impl Bench {
    /// Measures large inputs on one thread.
    pub fn full() -> Bench {
        Bench {
            engine: Engine::builder().threads(1).build(),
            is_small: false,
            rounds: 5,
            settling: Duration::from_secs(2),
        }
    }

    /// Checks small inputs on one thread.
    pub fn small() -> Bench {
        Bench::small_on(Engine::builder().threads(1).build())
    }

    fn small_on(engine: Engine) -> Bench {
        Bench {
            engine,
            is_small: true,
            rounds: 1,
            settling: Duration::ZERO,
        }
    }

    /// Chooses the size of an input.
    pub fn size(&self, full: usize, small: usize) -> usize {
        if self.is_small { small } else { full }
    }

    /// Compares the results of both forms, then times them in turn.
    ///
    /// Floats may differ by `tolerance`, relative to the larger one. The time of the fused form
    /// includes its graph.
    pub fn compare<F: Force, P>(
        &self,
        elements: usize,
        tolerance: f64,
        fused: impl Fn() -> F,
        plain: impl Fn() -> P,
    ) -> Outcome<Measured>
    where
        F::Out: Agree<P>,
    {
        if let Some(difference) = self.settle(&fused)?.differs(&plain(), tolerance) {
            return Err(format!("the forms differ: {difference}").into());
        }
        let mut best = [Duration::MAX; 2];
        for _ in 0..self.rounds {
            let (result, time) = timed(|| fused().force_with(&self.engine));
            drop(result?);
            let (result, plain_time) = timed(&plain);
            drop(result);
            best = [best[0].min(time), best[1].min(plain_time)];
        }
        Ok(Measured {
            elements,
            fused: best[0],
            plain: best[1],
            explanation: fused().explain_with(&self.engine)?,
        })
    }

    /// Forces a program once or more, until the engine had time to compile it.
    fn settle<F: Force>(&self, fused: impl Fn() -> F) -> livefusion::Result<F::Out> {
        let start = Instant::now();
        loop {
            let result = fused().force_with(&self.engine)?;
            if start.elapsed() >= self.settling {
                return Ok(result);
            }
        }
    }
}

/// Counts the parts of a plan. A step of a loop over arrays counts once.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The loops over elements.
    pub loops: usize,
    /// The arrays that they write, a field each, with the results.
    pub arrays: usize,
    /// The calls of functions outside of loops, such as sorts.
    pub calls: usize,
}

impl Plan {
    fn of(explanation: &Explanation) -> Plan {
        let mut plan = Plan {
            loops: explanation.loops.len(),
            arrays: explanation.loops.iter().map(|l| l.arrays_written).sum(),
            calls: 0,
        };
        for apart in &explanation.apart {
            plan.calls += usize::from(matches!(apart, ExplainedApart::External(_)));
            for part in apart.parts().into_iter().map(Plan::of) {
                plan.loops += part.loops;
                plan.arrays += part.arrays;
                plan.calls += part.calls;
            }
        }
        plan
    }
}

/// Holds the measurements of a program.
pub struct Measured {
    elements: usize,
    fused: Duration,
    plain: Duration,
    /// The loops of the fused form.
    pub explanation: Explanation,
}

impl Measured {
    /// Formats a row of the table.
    pub fn row(&self, name: &str) -> String {
        let [fused, plain] = [self.fused, self.plain]
            .map(|time| time.as_secs_f64() * 1e9 / self.elements.max(1) as f64);
        let Plan {
            loops,
            arrays,
            calls,
        } = Plan::of(&self.explanation);
        format!(
            "| {name} | {} | {fused:.3} | {plain:.3} | {:.2} | {loops} | {arrays} | {calls} |",
            self.elements,
            fused / plain
        )
    }
}

/// Checks a program on small inputs on two engines. Its plan has at most these parts.
#[cfg(test)]
pub fn check(compare: impl Fn(&Bench) -> Outcome<Measured>, most: Plan) {
    for engine in [Engine::interp(), Engine::builder().threads(1).build()] {
        let measured = compare(&Bench::small_on(engine)).expect("equal results");
        let Plan {
            loops,
            arrays,
            calls,
        } = Plan::of(&measured.explanation);
        let is_small = loops <= most.loops && arrays <= most.arrays && calls <= most.calls;
        assert!(is_small, "{loops} loops, {arrays} arrays, {calls} calls");
    }
}

/// Compares the results of two programs.
pub trait Agree<P> {
    /// Describes the first difference.
    fn differs(&self, plain: &P, tolerance: f64) -> Option<String>;
}

macro_rules! integers {
    ($($t:ty)*) => {$(
        impl Agree<$t> for $t {
            fn differs(&self, plain: &$t, _: f64) -> Option<String> {
                (self != plain).then(|| format!("{self} fused, {plain} in plain Rust"))
            }
        }
    )*};
}

macro_rules! floats {
    ($($t:ty)*) => {$(
        impl Agree<$t> for $t {
            fn differs(&self, plain: &$t, tolerance: f64) -> Option<String> {
                let most = tolerance * f64::from(self.abs().max(plain.abs()));
                let near = self == plain || f64::from((self - plain).abs()) <= most;
                (!near).then(|| format!("{self} fused, {plain} in plain Rust"))
            }
        }
    )*};
}

macro_rules! tuples {
    ($($($F:ident $P:ident $i:tt),*;)*) => {$(
        impl<$($P, $F: Agree<$P>),*> Agree<($($P,)*)> for ($($F,)*) {
            fn differs(&self, plain: &($($P,)*), tolerance: f64) -> Option<String> {
                None$(.or_else(|| {
                    let difference = self.$i.differs(&plain.$i, tolerance)?;
                    Some(format!("part {}: {difference}", $i))
                }))*
            }
        }
    )*};
}

integers!(u16 u32 u64 i64);
floats!(f32 f64);
tuples! {
    A P 0, B Q 1;
    A P 0, B Q 1, C R 2;
    A P 0, B Q 1, C R 2, D S 3;
    A P 0, B Q 1, C R 2, D S 3, E T 4;
}

impl<T: Elt + Agree<T>, D: Dim> Agree<Vec<T>> for Manifest<T, D> {
    fn differs(&self, plain: &Vec<T>, tolerance: f64) -> Option<String> {
        let fused = match self.to_vec() {
            Ok(fused) => fused,
            Err(error) => return Some(error.to_string()),
        };
        if fused.len() != plain.len() {
            let lengths = (fused.len(), plain.len());
            return Some(format!(
                "{} elements fused, {} in plain Rust",
                lengths.0, lengths.1
            ));
        }
        let mut pairs = fused.iter().zip(plain).enumerate();
        pairs.find_map(|(at, (fused, plain))| {
            let difference = fused.differs(plain, tolerance)?;
            Some(format!("element {at}: {difference}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agree__floats__differ_beyond_the_tolerance() {
        assert_eq!(1.0f64.differs(&(1.0 + 1e-10), 1e-9), None);
        assert!(1.0f64.differs(&(1.0 + 1e-10), 0.0).is_some());
        assert!(1.0f64.differs(&1.1, 1e-9).is_some());
        assert!(f64::NAN.differs(&1.0, 1e-9).is_some());
    }

    #[test]
    fn agree__arrays__names_the_first_difference() {
        let fused = Array::from(vec![1i64, 2, 3]).force().expect("in memory");
        assert_eq!(fused.differs(&vec![1, 2, 3], 0.0), None);
        let difference = (fused.clone(), 5u64).differs(&(vec![1, 7, 8], 5), 0.0);
        let expected = "part 0: element 1: 2 fused, 7 in plain Rust";
        assert_eq!(difference.as_deref(), Some(expected));
        assert!(fused.differs(&vec![1, 2], 0.0).is_some());
    }

    #[test]
    fn compare__results_that_differ__is_an_error() {
        let xs = Array::from(vec![1i64, 2]);
        let bench = Bench::small();
        assert!(bench.compare(2, 0.0, || xs.sum(), || 3i64).is_ok());
        assert!(bench.compare(2, 0.0, || xs.sum(), || 4i64).is_err());
    }
    #[test]
    #[should_panic(expected = "1 loops, 0 arrays, 0 calls")]
    fn check__a_plan_of_more_loops__fails() {
        let xs = Array::from(vec![1i64, 2]);
        let none = Plan {
            loops: 0,
            arrays: 0,
            calls: 0,
        };
        check(|bench| bench.compare(2, 0.0, || xs.sum(), || 3i64), none);
    }
}
