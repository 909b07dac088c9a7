//! Counters of an engine's work.

use livefusion_backend::TierRuns;
use std::fmt;
use std::time::Duration;

/// Counts the work of an engine's caches, threads and compilers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Forces whose program was already compiled.
    pub hits: u64,
    /// Forces that compiled their program.
    pub misses: u64,
    /// Hits whose graph was recognised from an earlier force by the same code. Its recovery was
    /// skipped.
    pub recognised: u64,
    /// Programs in the cache.
    pub programs: u64,
    /// Programs evicted from the cache at its
    /// [limit](crate::runtime::EngineBuilder::program_limit).
    pub evicted: u64,
    /// Time spent planning, lowering and compiling.
    pub compile_time: Duration,
    /// Runs of loops that several threads shared.
    pub parallel_loops: u64,
    /// Chunks of 16384 steps in those runs.
    pub parallel_chunks: u64,
    /// Result arrays that [`call_into`](crate::prepare::Program::call_into) wrote over old ones.
    pub written_over: u64,
    /// Arrays that loops updated in place: bases without other uses, and the state of [loops over
    /// arrays](crate::iterate).
    pub in_place: u64,
    /// Bytes copied because an array could not be updated in place.
    pub copied: u64,
    /// Growth steps of arrays that [began short](crate::runtime::EngineBuilder::memory_limit).
    pub grown: u64,
    /// Compiled files found in the [`KernelCache`](crate::KernelCache) on disk.
    pub disk_hits: u64,
    /// Entries of that cache that were damaged, or writable by another user. They were compiled
    /// again.
    pub disk_refused: u64,
    /// Files that the C compiler compiled.
    pub compiler_runs: u64,
    /// Files that the C compiler rejected or did not finish within its limits. [`Engine::fallback`]
    /// gives the reason if their loops run without C.
    ///
    /// [`Engine::fallback`]: super::Engine::fallback
    pub compiler_failures: u64,
    /// Spans of loops run by each tier, if the engine is tiered.
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
