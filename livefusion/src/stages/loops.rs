//! The fourth stage: loops of the Loop language.

use super::{Code, Lowered, Plan, Tiles};
use crate::error::Result;
use crate::runtime::Engine;
use std::fmt;

/// The loops of a plan, as they were put together of their combinators or, from [`optimize`](Loops::optimize)
/// on, as compilers get them. Its text is theirs, which `loop_lang` reads.
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
    /// The plan that these loops are of.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The loops in the order in which they run.
    pub fn iter(&self) -> std::slice::Iter<'_, Lowered> {
        self.loops.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.loops.len()
    }

    /// Whether nothing has to be computed.
    pub fn is_empty(&self) -> bool {
        self.loops.is_empty()
    }

    /// Runs the passes over each loop.
    pub fn optimize(&mut self) {
        self.loops.iter_mut().for_each(Lowered::optimize);
    }

    /// The next stage: what the loops are scheduled as. They should be [optimised](Loops::optimize): these are the
    /// loops that compilers get.
    ///
    /// # Errors
    /// What the engine is asked for is no schedule, or not legal for one of the loops.
    pub fn tiles(&self, engine: &Engine) -> Result<Tiles> {
        Tiles::new(engine, &self.loops)
    }

    /// The last stage: what an engine's backend makes of the loops. The engine neither takes nor keeps any of
    /// it for a force.
    ///
    /// # Errors
    /// What the backend says: that there is no C compiler, for example.
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
        Programs(&self.loops).fmt(f)
    }
}

/// The text of loops. A loop that only counts stands before the one that it counts for.
pub(crate) struct Programs<'a>(pub &'a [Lowered]);

impl fmt::Display for Programs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.0.iter().flat_map(Lowered::programs);
        for (k, program) in all.enumerate() {
            write!(f, "{}{program}", if k > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}
