//! Cache keys: the inputs of a compiled library.

use super::cpu;
use crate::compiler::Compiler;
use livefusion_tile::target::Target;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// Holds all inputs of compiled code as text, and the name of its entry.
#[derive(Debug)]
pub struct Key {
    /// The whole text. Keys are equal if their texts are.
    pub(super) text: String,
    /// The name of the entry: a hash of the text.
    pub(super) name: String,
}

impl Key {
    /// Returns the key of a source compiled for a target.
    ///
    /// Returns `None` if the compiler, or the processor that it inspects, cannot be identified.
    pub(crate) fn of(
        compiler: &Compiler,
        target: &Target,
        flags: &[&str],
        source: &str,
    ) -> Option<Key> {
        static CPU: LazyLock<Option<String>> = LazyLock::new(cpu::identity);
        Some(Key::of_text(format!(
            "livefusion {}\nplatform {} {} {}\ncpu {}\ntarget {target}\ncompiler {}\nflags {}\n\n{source}",
            env!("CARGO_PKG_VERSION"),
            std::env::consts::OS,
            std::env::consts::ARCH,
            if cfg!(target_env = "musl") {
                "musl"
            } else {
                ""
            },
            CPU.as_deref()?,
            compiler.identity()?,
            flags.join(" "),
        )))
    }

    /// Returns the key of a text that lists all inputs.
    pub fn of_text(text: String) -> Key {
        let digest = Sha256::digest(&text);
        let name = digest.iter().map(|b| format!("{b:02x}")).collect();
        Key { text, name }
    }
}
