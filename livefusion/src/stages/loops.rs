//! The fourth stage: loops of the Loop language.

use super::{Code, Lowered, Plan, Tiles};
use crate::error::Result;
use crate::runtime::Engine;
use std::fmt;

/// Holds the loops of a plan in the Loop language.
///
/// They are as lowered or, after [`optimize`](Loops::optimize), as compilers get them. `loop_lang`
/// parses their text.
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::{Clustering, stages};
/// let xs = Array::from(vec![1.0f64, 2.0]);
/// let mut loops = stages::graph(&(&xs.sum(), &xs.max()))?.plan(Clustering::default()).lower()?;
/// assert_eq!(loops.len(), 1);
/// loops.optimize();
/// let one = loops.iter().next().expect("a loop");
/// assert_eq!((one.program.rates.len(), one.results.len()), (1, 2));
/// assert_eq!(loop_lang::verify::verify(&one.program), Ok(()));
/// # Ok::<(), livefusion::Error>(())
/// ```
#[derive(Clone)]
pub struct Loops {
    pub(super) plan: Plan,
    pub(super) loops: Vec<Lowered>,
}

impl Loops {
    /// Returns the plan of these loops.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Iterates over the loops in the order in which they run.
    pub fn iter(&self) -> std::slice::Iter<'_, Lowered> {
        self.loops.iter()
    }

    /// Counts the loops.
    pub fn len(&self) -> usize {
        self.loops.len()
    }

    /// Tells whether there are no loops.
    pub fn is_empty(&self) -> bool {
        self.loops.is_empty()
    }

    /// Runs the passes over each loop.
    pub fn optimize(&mut self) {
        self.loops.iter_mut().for_each(Lowered::optimize);
    }

    /// Schedules the loops, the next stage.
    ///
    /// The loops should be [optimised](Loops::optimize), as compilers get them.
    ///
    /// # Errors
    /// The engine's requested schedule does not parse, or is not legal for one of the loops.
    pub fn tiles(&self, engine: &Engine) -> Result<Tiles> {
        Tiles::new(engine, &self.loops)
    }

    /// Compiles the loops with an engine's backend, the last stage.
    ///
    /// The engine neither uses nor keeps this code for a force.
    ///
    /// # Errors
    /// An error of the backend, for example a missing C compiler.
    pub fn code(&self, engine: &Engine) -> Result<Code> {
        let kernels = engine.compile_all(&self.loops)?;
        Ok(Code::new(engine, &self.loops, &kernels))
    }
}

impl<'a> IntoIterator for &'a Loops {
    type Item = &'a Lowered;
    type IntoIter = std::slice::Iter<'a, Lowered>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Debug for Loops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Loops({})", self.len())
    }
}

impl fmt::Display for Loops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        LoopTexts(&self.loops).fmt(f)
    }
}

/// The text of loops. A sizing loop comes before its main loop.
pub(crate) struct LoopTexts<'a>(pub &'a [Lowered]);

impl fmt::Display for LoopTexts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.0.iter().flat_map(Lowered::programs);
        for (k, program) in all.enumerate() {
            write!(f, "{}{program}", if k > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}
