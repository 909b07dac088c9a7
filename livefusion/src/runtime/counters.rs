//! What an engine has done so far, in numbers.

use livefusion_backend::TierRuns;
use std::fmt;
use std::time::Duration;

/// What the kernel cache has done so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Forces that found their program compiled.
    pub hits: u64,
    /// Forces that compiled theirs.
    pub misses: u64,
    /// Those of the hits whose graph was like one forced before, by the same code: it was not even recovered.
    pub recognised: u64,
    /// Programs that are kept.
    pub programs: u64,
    /// Programs that were dropped because others came, up to the
    /// [limit](crate::runtime::EngineBuilder::program_limit).
    pub evicted: u64,
    /// Time spent planning, lowering and compiling.
    pub compile_time: Duration,
    /// Runs of loops that several threads shared.
    pub parallel_loops: u64,
    /// Chunks of 16384 steps that these consisted of.
    pub parallel_chunks: u64,
    /// Arrays of results that [`call_into`](crate::prepare::Program::call_into) wrote over old ones.
    pub written_over: u64,
    /// Arrays that loops changed in place: what nobody needed as it was, and the state of
    /// [loops over arrays](crate::iterate).
    pub in_place: u64,
    /// Bytes of arrays that were copied to change the copies.
    pub copied: u64,
    /// How often an array grew that had [begun short](crate::runtime::EngineBuilder::memory_limit), since little may be kept of
    /// much.
    pub grown: u64,
    /// Compiled files that the [`KernelCache`](crate::KernelCache) on disk had.
    pub disk_hits: u64,
    /// Entries of that cache that were damaged, or that another user can have written; they were made anew.
    pub disk_refused: u64,
    /// Files that the C compiler made.
    pub compiler_runs: u64,
    /// Files that the C compiler refused, or did not finish within its limits. [`Engine::fallback`] says why,
    /// where their loops run without it.
    ///
    /// [`Engine::fallback`]: super::Engine::fallback
    pub compiler_failures: u64,
    /// Spans of loops that each tier ran, if the engine is tiered.
    pub tiers: TierRuns,
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} hits, {} misses, {:.1?} compiling, {} files compiled, {} from disk",
            self.hits, self.misses, self.compile_time, self.compiler_runs, self.disk_hits
        )?;
        if self.evicted > 0 {
            write!(
                f,
                ", {} of {} programs kept",
                self.programs,
                self.programs + self.evicted
            )?;
        }
        if self.compiler_failures > 0 {
            write!(
                f,
                ", {} that the compiler failed at",
                self.compiler_failures
            )?;
        }
        if self.parallel_loops > 0 {
            let (n, chunks) = (self.parallel_loops, self.parallel_chunks);
            write!(f, ", {n} loops of {chunks} chunks shared")?;
        }
        if self.written_over > 0 {
            write!(f, ", {} results written over old ones", self.written_over)?;
        }
        if self.in_place > 0 {
            write!(f, ", {} arrays changed in place", self.in_place)?;
        }
        if self.copied > 0 {
            write!(f, ", {} bytes copied to be changed", self.copied)?;
        }
        if self.grown > 0 {
            write!(f, ", {} times an array grew", self.grown)?;
        }
        match self.tiers {
            TierRuns {
                interp: 0,
                jit: 0,
                c: 0,
            } => Ok(()),
            TierRuns { interp, jit, c } => {
                write!(
                    f,
                    "; {interp} spans interpreted, {jit} on Cranelift's code, {c} on C"
                )
            }
        }
    }
}
