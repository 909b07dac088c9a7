//! Golden loops on all backends, and mutants of their texts.
//!
//! A mutant that verifies must end the same on every backend, before and after every pass.
//!
//! | module | contents |
//! | --- | --- |
//! | `careful` | mutations that respect types, scopes and places |
//! | `edit` | wild mutations of a text |
//! | `tame` | bounds for scalar loops |
//! | [`hunt`] | many mutants, compared with the interpreter |

mod careful;
mod edit;
pub mod hunt;
mod tame;

use crate::loops::{self, Argument, joined};
use crate::program::buffer;
use crate::rng::Rng;
use crate::scalar;
use loop_lang::Loop;
use loop_lang::ir::{Atom, RateKind, Type};
use loop_lang::parse::parse;
use loop_lang::types::{Const, Ty, canonical};
use loop_lang::verify::verify;
use std::path::{Path, PathBuf};

/// Holds a golden loop.
pub struct Golden {
    /// Its file, from the repository's root.
    pub name: String,
    /// Its text, without the expectations of its test.
    pub text: String,
}

/// Lists every golden loop that verifies, by name.
///
/// They come from the tests of the Loop language and of the backends.
pub fn golden() -> Vec<Golden> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for folder in ["loop-lang/tests/files", "backends/c/tests/loops"] {
        collect(&root.join(folder), &mut files);
    }
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a golden file can be read");
        let text = text
            .split("\n# ----")
            .next()
            .unwrap_or_default()
            .to_string();
        if complete(&text).is_some() {
            let name = file.strip_prefix(&root).unwrap_or(&file);
            let name = name.to_string_lossy().into_owned();
            all.push(Golden { name, text });
        }
    }
    all
}

/// Lists golden loops as complete loops, with gotos and levels.
///
/// Their scalar loops terminate for all arguments.
pub fn golden_loops() -> Vec<(String, Loop)> {
    let tamed = |g: Golden| Some((g.name, tamed(&g.text)?));
    golden().into_iter().filter_map(tamed).collect()
}

/// Parses a loop like [`complete`], and bounds its scalar loops.
pub fn tamed(text: &str) -> Option<Loop> {
    let mut program = complete(text)?;
    tame::tame(&mut program);
    Some(program)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("the folder of golden files");
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "loop") {
            files.push(path);
        }
    }
}

/// Parses a loop, and derives gotos and levels where its own do not verify.
///
/// Returns `None` if the loop does not verify.
pub fn complete(text: &str) -> Option<Loop> {
    let mut program = parse(text).ok()?;
    if verify(&program).is_ok() {
        return Some(program);
    }
    loop_lang::gotos::derive_gotos(&mut program);
    loop_lang::chunkable::raise_levels(&mut program);
    verify(&program).is_ok().then_some(program)
}

/// A mutated loop.
struct Mutated {
    text: String,
    /// The kinds of its mutations, by index in `careful::EDITS`; the next index means wild ones.
    kinds: Vec<usize>,
}

/// The sources of mutants.
struct Stock {
    golden: Vec<(Golden, Loop)>,
}

impl Stock {
    fn new() -> Stock {
        let complete = |g: Golden| complete(&g.text).map(|l| (g, l));
        Stock {
            golden: golden().into_iter().filter_map(complete).collect(),
        }
    }

    /// A golden loop, two of them as phases, or a random loop, with some mutations. Most are
    /// careful.
    fn mutant(&self, rng: &mut Rng) -> Mutated {
        let (golden, first) = &self.golden[rng.below(self.golden.len())];
        if rng.chance(12) {
            let changes = rng.pick(&[1, 1, 1, 2, 2, 3, 5]);
            return Mutated {
                text: edit::wild(&golden.text, changes, rng),
                kinds: vec![careful::EDITS.len()],
            };
        }
        let mut program = match rng.weighted(&[60, 15, 25]) {
            0 => first.clone(),
            1 => {
                let (_, second) = &self.golden[rng.below(self.golden.len())];
                joined(first, second).unwrap_or_else(|| first.clone())
            }
            _ => loops::random(rng.word() % 100_000).program,
        };
        let changes = rng.pick(&[1, 1, 1, 2, 2, 3, 5, 8]);
        let mut kinds: Vec<usize> = (0..changes)
            .filter_map(|_| careful::change(&mut program, rng))
            .collect();
        let mut text = program.to_string();
        if rng.chance(7) {
            text = edit::wild(&text, 1, rng);
            kinds.push(careful::EDITS.len());
        }
        kinds.sort_unstable();
        kinds.dedup();
        Mutated { text, kinds }
    }
}

/// Returns random arguments for a loop's parameters.
///
/// Arrays are short, and most have one length. Most possible lengths are small, and iteration
/// counts always are.
pub fn arguments(program: &Loop, rng: &mut Rng) -> Vec<Argument> {
    let common = rng.pick(&[0, 1, 3, 8, 31, 32, 33, 64, 70, 131]);
    let argument = |rng: &mut Rng, ty: Type| match ty {
        Type::Scalar(ty) => Argument::Scalar(Const::new(ty, word(rng, ty))),
        Type::Array(ty) => {
            let other = rng.below(140);
            let n = if rng.chance(80) { common } else { other };
            let words: Vec<u64> = (0..n).map(|_| word(rng, ty)).collect();
            Argument::Array(buffer(ty, &words))
        }
    };
    let bounds = program.rates.iter().filter_map(|rate| match rate.kind {
        RateKind::Root { bound, .. } | RateKind::Nested { bound, .. } => Some(bound),
        RateKind::Sub { .. } | RateKind::Cursor { .. } => None,
    });
    let bounds: Vec<Atom> = bounds.collect();
    let params = program
        .params
        .iter()
        .map(|p| match bounds.contains(&p.var.into()) {
            true => Argument::Scalar(Const::u64(rng.below(140) as u64)),
            false => argument(rng, program.ty(p.var)),
        });
    params.collect()
}

fn word(rng: &mut Rng, ty: Ty) -> u64 {
    match ty {
        Ty::U64 if rng.chance(90) => rng.below(7) as u64,
        _ => canonical(ty, scalar::random(rng, ty)),
    }
}
