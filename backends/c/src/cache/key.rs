//! What a compiled library depends on.

use super::cpu;
use crate::compiler::Compiler;
use livefusion_tile::target::Target;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// Everything that went into compiled code, as text, and the name of its entry.
#[derive(Debug)]
pub struct Key {
    /// All of it; two keys are the same if this is.
    pub(super) text: String,
    /// The name of the entry: a hash of the text.
    pub(super) name: String,
}

impl Key {
    /// The key of what a compiler makes of a source for a target; none if the compiler or the processor, at which it
    /// looks, cannot be told from another.
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

    /// The key of what is made of all that a text says.
    pub fn of_text(text: String) -> Key {
        let digest = Sha256::digest(&text);
        let name = digest.iter().map(|b| format!("{b:02x}")).collect();
        Key { text, name }
    }
}
