//! Memory accesses of a loop's steps, and their staging by tiles.
//!
//! Staged arrays are those accessed at the counter, and those that filters fill in order. All other
//! accesses go directly to memory.

use crate::threads::plan::Work;
use crate::threads::shape::Shape;
use livefusion_backend::facts::Source;
use loop_lang::ir::{Atom, Place, RateId, RateKind, Stmt, StmtKind, Var};
use loop_lang::walk;
use rustc_hash::FxHashMap;

/// Lists arrays with elements that are staged by tiles.
#[derive(Debug, Default)]
pub struct Streams {
    /// Arrays that any step may read at its counter, and no step writes.
    pub reads: Vec<Var>,
    /// Arrays that every step writes at its counter, and no step reads.
    pub writes: Vec<Var>,
    /// Arrays that an admitted step writes at its rate's count, with that count; no step reads
    /// them.
    pub keeps: Vec<(Var, Var)>,
}

/// An access to an array.
pub(super) struct ArrayAccess {
    pub array: Var,
    pub at: Atom,
    pub is_write: bool,
    /// The rate with this access in every step; none under a condition.
    pub always: Option<RateId>,
}

impl Streams {
    /// Finds the staged arrays of a loop.
    pub fn of(shape: &Shape<'_>) -> Streams {
        let mut streams = Streams::default();
        // A step that exits early has done only part of its writes; a row has many elements.
        if shape.exits.any || shape.work != Work::Steps || shape.is_wide() {
            return streams;
        }
        for all in in_places(shape) {
            streams.add(shape, &all);
        }
        streams
    }

    /// Adds the accesses to one piece of memory.
    fn add(&mut self, shape: &Shape<'_>, all: &[ArrayAccess]) {
        let counter = Atom::Var(shape.counter);
        let Some(array) = all.iter().map(|a| a.array).next() else {
            return;
        };
        if all.iter().all(|a| !a.is_write) {
            let streamed = all.iter().filter(|a| a.at == counter);
            for a in streamed {
                if !self.reads.contains(&a.array) {
                    self.reads.push(a.array);
                }
            }
            return;
        }
        let one_name = all.iter().all(|a| a.array == array);
        if !one_name || all.iter().any(|a| !a.is_write) {
            return;
        }
        let every = |a: &ArrayAccess| a.at == counter && a.always == Some(shape.root);
        if all.iter().all(every) {
            self.writes.push(array);
        } else if let [
            ArrayAccess {
                at: Atom::Var(count),
                always: Some(rate),
                ..
            },
        ] = all
            && shape.program.rate(*rate).kind.is_sub()
            && matches!(shape.program.rate(*rate).kind, RateKind::Sub { count: Some(c), .. } if c == *count)
            && shape.level_of(*count).is_some()
        {
            self.keeps.push((array, *count));
        }
    }

    /// Removes arrays until an element needs at most this many bytes in a buffer.
    pub fn shrink(&mut self, shape: &Shape<'_>, most: u32) {
        while self.read_bytes(shape) > most {
            self.reads.pop();
        }
        while self.kept_bytes(shape) > most {
            self.keeps.pop();
        }
    }

    /// Returns the bytes of an element over all arrays that are read.
    pub fn read_bytes(&self, shape: &Shape<'_>) -> u32 {
        self.reads.iter().map(|v| bytes(shape, *v)).sum()
    }

    /// Returns the bytes of an element over all arrays written at the counter.
    pub fn write_bytes(&self, shape: &Shape<'_>) -> u32 {
        self.writes.iter().map(|v| bytes(shape, *v)).sum()
    }

    /// Returns the bytes of the widest element accessed at the counter.
    pub fn widest(&self, shape: &Shape<'_>) -> u32 {
        let all = self.reads.iter().chain(&self.writes);
        all.map(|v| bytes(shape, *v)).max().unwrap_or(1)
    }

    fn kept_bytes(&self, shape: &Shape<'_>) -> u32 {
        self.keeps.iter().map(|(v, _)| bytes(shape, *v)).sum()
    }

    /// Returns the bytes that an element needs in a staging buffer.
    ///
    /// All reads share it, or all packed arrays do, or it holds one written array.
    pub fn room_bytes(&self, shape: &Shape<'_>) -> u32 {
        let written = self.writes.iter().map(|v| bytes(shape, *v));
        self.read_bytes(shape)
            .max(self.kept_bytes(shape))
            .max(written.max().unwrap_or(0))
    }
}

/// Returns the bytes of an array's elements.
pub(super) fn bytes(shape: &Shape<'_>, v: Var) -> u32 {
    shape.program.ty(v).elem().size() as u32
}

/// Lists all accesses of steps, grouped by memory.
pub(super) fn in_places(shape: &Shape<'_>) -> Vec<Vec<ArrayAccess>> {
    let mut by_memory: FxHashMap<Source, usize> = FxHashMap::default();
    let mut all: Vec<Vec<ArrayAccess>> = Vec::new();
    for access in accesses(shape) {
        let Some(source) = shape.facts.source.get(&access.array) else {
            continue;
        };
        let at = *by_memory.entry(*source).or_insert(all.len());
        if at == all.len() {
            all.push(Vec::new());
        }
        all[at].push(access);
    }
    all
}

/// Lists all accesses of steps.
fn accesses(shape: &Shape<'_>) -> Vec<ArrayAccess> {
    let mut all = Vec::new();
    for placed in shape.steps() {
        if let Place::At { rate, .. } = placed.place {
            find(&placed.block.stmts, Some(rate), &mut all);
        }
    }
    all
}

fn find(stmts: &[Stmt], always: Option<RateId>, all: &mut Vec<ArrayAccess>) {
    for s in stmts {
        let (array, at, is_write) = match s.kind {
            StmtKind::ReadArray(_, array, at) => (array, at, false),
            StmtKind::WriteArray(array, at, _) => (array, at, true),
            _ => {
                for region in walk::regions(&s.kind) {
                    find(region, None, all);
                }
                continue;
            }
        };
        all.push(ArrayAccess {
            array,
            at,
            is_write,
            always,
        });
    }
}
