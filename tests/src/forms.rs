//! Golden files of a program's loops, and of their C shapes.

use crate::tiles::tiles;
use livefusion_backend::{Backend, CompileError, Kernel};
use livefusion_c::CBackend;
use livefusion_interp::InterpBackend;
use livefusion_tile::region::Region;
use livefusion_tile::schedule::{Aim, Schedule, Schedules, choose};
use livefusion_tile::target::Target;
use loop_lang::Loop;
use loop_lang::state::Layout;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Wraps the interpreter, and records each loop.
#[derive(Default)]
pub struct Recording {
    inner: InterpBackend,
    /// Loops, with the C techniques for each with AVX2.
    seen: Mutex<Vec<(Loop, String)>>,
}

impl Recording {
    fn seen(&self) -> Vec<(Loop, String)> {
        let seen = self.seen.lock();
        seen.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Formats the recorded loops in order.
    ///
    /// A line before each lists the C techniques for it with AVX2.
    pub fn text(&self) -> String {
        let seen = self.seen().into_iter();
        seen.map(|(program, ideas)| format!("# C: {ideas}\n{program}\n"))
            .collect()
    }

    /// Formats the schedule and tiles of each loop for each target.
    ///
    /// Targets with equal ones share a section.
    pub fn scheduled(&self, targets: &[Target]) -> String {
        self.by_target(targets, scheduled)
    }

    /// Formats the C of each loop's tiles under that schedule.
    pub fn in_c(&self, targets: &[Target]) -> String {
        self.by_target(targets, in_c)
    }

    fn by_target(&self, targets: &[Target], of: impl Fn(&Loop, &Target) -> String) -> String {
        let mut out = String::new();
        for (program, _) in self.seen() {
            let mut found: Vec<(String, Vec<&str>)> = Vec::new();
            for target in targets {
                let text = of(&program, target);
                match found.iter_mut().find(|(t, _)| *t == text) {
                    Some((_, names)) => names.push(target.name()),
                    None => found.push((text, vec![target.name()])),
                }
            }
            for (text, names) in found {
                let _ = writeln!(out, "# {} for {}\n{text}", program.name, names.join(", "));
            }
        }
        out
    }
}

/// The limit on lines of tiles and functions; the omitted lines are repetitive.
const LINES: usize = 100;
/// The limit on functions, for bodies that are split into many.
const FUNCTIONS: usize = 4;

/// The schedule of a loop for a target, optimised for speed.
fn chosen(program: &Loop, target: &Target) -> Schedule {
    let layout = Layout::of(program);
    let region = Region::of(program, &layout.arrays, &layout.held).expect("a region");
    choose(&region, target, Aim::Speed)
}

/// A loop's schedule and its tiles.
fn scheduled(program: &Loop, target: &Target) -> String {
    let schedule = chosen(program, target);
    let mut out = match schedule.show(program) {
        said if said.is_empty() => "step by step\n".to_string(),
        said => said,
    };
    for tile in tiles(program, &schedule) {
        let _ = write!(out, "\n{}", cut(&tile.show(program).to_string()));
    }
    out
}

/// The functions of a loop's tiles in C.
fn in_c(program: &Loop, target: &Target) -> String {
    let schedules = Schedules::default().with(program, &chosen(program, target));
    let backend = CBackend::new()
        .with_target(target.clone())
        .with_schedules(schedules);
    let text = backend.text(program).expect("C");
    let functions = text.split("\n\n").filter(|f| f.contains("_tile_"));
    let functions =
        functions.filter_map(|f| Some((f.find("static __attribute__((noinline))")?, f)));
    let all: Vec<(usize, &str)> = functions.collect();
    let some = all.iter().take(FUNCTIONS);
    let mut out: String = some.map(|(at, f)| cut(&f[*at..]) + "\n").collect();
    if all.len() > FUNCTIONS {
        let _ = writeln!(out, "... {} functions more", all.len() - FUNCTIONS);
    }
    out
}

fn cut(text: &str) -> String {
    let all = text.lines().count();
    let lines = text.lines().take(LINES);
    let mut out: String = lines.map(|l| format!("{l}\n")).collect();
    if all > LINES {
        let _ = writeln!(out, "... {} lines more", all - LINES);
    }
    out
}

impl Backend for Recording {
    fn name(&self) -> &'static str {
        "recording"
    }

    fn compile(&self, program: &Loop) -> Result<Arc<dyn Kernel>, CompileError> {
        // A fixed target gives the same result on every machine.
        let ideas = CBackend::new().with_target(Target::avx2()).ideas(program)?;
        let ideas: Vec<String> = ideas.iter().map(ToString::to_string).collect();
        let ideas = match &ideas[..] {
            [] => "state machine".into(),
            ideas => ideas.join(", "),
        };
        let seen = self.seen.lock();
        let mut seen = seen.unwrap_or_else(PoisonError::into_inner);
        seen.push((program.clone(), ideas));
        self.inner.compile(program)
    }
}

/// Compares texts with golden files, one for each name in a folder.
///
/// The folder has no other files. `LOOP_BLESS` rewrites them.
///
/// # Panics
/// Panics if they differ.
pub fn golden(folder: &Path, texts: &[(&str, String)]) {
    let mut left: BTreeSet<_> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be read").path())
        .collect();
    for (name, got) in texts {
        let path = folder.join(file_name(name));
        if std::env::var_os("LOOP_BLESS").is_some() {
            std::fs::write(&path, got).expect("golden file");
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        let file = path.display();
        assert_eq!(
            *got, expected,
            "{file} differs; LOOP_BLESS=1 writes it anew"
        );
        left.remove(&path);
    }
    assert!(left.is_empty(), "nothing has these forms: {left:?}");
}

/// Compares texts with golden files, most of them by hash.
///
/// The named shapes are compared in full, as in [`golden`]. The others are hashes, the lines of
/// `others.txt`. `LOOP_TEXTS` names a folder to which all texts are written in full. A comparison
/// of these folders of two commits shows the effect of a change.
///
/// # Panics
/// Panics if they differ.
pub fn golden_of_shapes(folder: &Path, texts: &[(&str, String)], shapes: &[&str]) {
    if let Some(all) = std::env::var_os("LOOP_TEXTS") {
        let all = Path::new(&all).join(folder.file_name().expect("a folder's name"));
        std::fs::create_dir_all(&all).expect("a folder for texts");
        for (name, text) in texts {
            std::fs::write(all.join(file_name(name)), text).expect("a text");
        }
    }
    let is_shape = |text: &&(&str, String)| shapes.contains(&text.0);
    let mut held: Vec<_> = texts.iter().filter(is_shape).cloned().collect();
    assert_eq!(held.len(), shapes.len(), "a shape is no case");
    let others = texts.iter().filter(|text| !is_shape(text));
    let lines = others.map(|(name, text)| format!("{:016x} {name}\n", hash(text)));
    held.push(("others", lines.collect()));
    golden(folder, &held);
}

/// The golden file of a name.
fn file_name(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|w| !w.is_empty()).collect();
    words.join("_").to_lowercase() + ".txt"
}

/// Hashes a text with FNV-1a, which is stable across versions.
pub fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}
