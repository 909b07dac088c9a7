//! Records of the texts that NVRTC has compiled, and that passed the test's checks.
//!
//! A record has one hash for each text, architecture and compiler. A recorded text is not compiled again, unless
//! `LIVEFUSION_CUDA_ALL` is set. `LOOP_BLESS=1` writes the records anew.

use livefusion_cuda::driver::nvrtc::Nvrtc;
use livefusion_tests::forms::hash;
use std::collections::BTreeSet;
use std::env::var_os;
use std::fs;
use std::path::{Path, PathBuf};

/// Holds the record of one test.
pub struct Compiled {
    compiler: String,
    file: PathBuf,
    known: BTreeSet<String>,
    seen: BTreeSet<String>,
}

impl Compiled {
    /// Reads the record of a test.
    pub fn by(nvrtc: &Nvrtc, test: &str) -> Compiled {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compiled");
        let file = folder.join(test).with_extension("txt");
        let text = match var_os("LIVEFUSION_CUDA_ALL") {
            Some(_) => String::new(),
            None => fs::read_to_string(&file).unwrap_or_default(),
        };
        Compiled {
            compiler: nvrtc.identity(),
            file,
            known: text.lines().map(str::to_string).collect(),
            seen: BTreeSet::new(),
        }
    }

    /// Returns whether the record lacks a text, which must be compiled then.
    pub fn lacks(&mut self, text: &str, architecture: &str) -> bool {
        let hash = hash(&[&self.compiler, architecture, text].join("\n"));
        let line = format!("{architecture} {hash:016x}");
        let lacks = !self.known.contains(&line);
        self.seen.insert(line);
        lacks
    }

    /// Returns the number of texts. All of them passed: writes the record if asked to.
    pub fn passed(self) -> usize {
        if var_os("LOOP_BLESS").is_some() {
            let lines: Vec<String> = self.seen.iter().cloned().collect();
            fs::write(&self.file, lines.join("\n") + "\n").expect("a record is written");
        }
        self.seen.len()
    }
}
