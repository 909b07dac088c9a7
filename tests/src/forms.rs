//! The loops of a program, and the shapes that C gives them, as golden files.

use livefusion_backend::{Backend, CompileError, Kernel};
use livefusion_c::CBackend;
use livefusion_interp::InterpBackend;
use loop_lang::Loop;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A backend that interprets, and writes down each loop that it is given.
#[derive(Default)]
pub struct Recording {
    inner: InterpBackend,
    seen: Mutex<String>,
}

impl Recording {
    /// Each loop so far, in the order in which it came, behind a line with the ideas that C makes use of for it.
    pub fn text(&self) -> String {
        let seen = self.seen.lock();
        seen.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Backend for Recording {
    fn name(&self) -> &'static str {
        "recording"
    }

    fn compile(&self, program: &Loop) -> Result<Arc<dyn Kernel>, CompileError> {
        let ideas = CBackend::new().ideas(program)?;
        let ideas: Vec<String> = ideas.iter().map(ToString::to_string).collect();
        let ideas = match &ideas[..] {
            [] => "state machine".into(),
            ideas => ideas.join(", "),
        };
        let seen = self.seen.lock();
        let mut seen = seen.unwrap_or_else(PoisonError::into_inner);
        let _ = writeln!(seen, "# C: {ideas}\n{program}");
        self.inner.compile(program)
    }
}

/// Holds texts against the golden files of their names in a folder, which has no others; or writes them there if
/// `LOOP_BLESS` is set.
///
/// # Panics
/// They differ.
pub fn golden(folder: &Path, texts: &[(&str, String)]) {
    let mut left: BTreeSet<_> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be read").path())
        .collect();
    for (name, got) in texts {
        let words = name.split(|c: char| !c.is_ascii_alphanumeric());
        let words: Vec<&str> = words.filter(|w| !w.is_empty()).collect();
        let path = folder.join(words.join("_").to_lowercase() + ".txt");
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
