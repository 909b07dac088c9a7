//! Compiler flags of a target.

use super::Extension::Avx512vbmi2;
use super::{Arch, Extensions, HERE, Target};

/// The micro-architecture levels of x86-64 (psABI) with their extensions, highest first.
const LEVELS: [(&str, Extensions); 4] = [
    ("-march=x86-64-v4", super::AVX512),
    ("-march=x86-64-v3", super::AVX2),
    ("-march=x86-64-v2", super::SSE42),
    ("-march=x86-64", super::SSE2),
];

impl Target {
    /// Returns the gcc and clang flags for this machine.
    ///
    /// For [`here`](Target::here), the compiler detects the processor. It also chooses the width of
    /// vectors for plain loops. On many machines with AVX-512, gcc and clang choose 32 bytes
    /// (`-march=icelake-server`, for example), which `-mprefer-vector-width=512` would change.
    /// Explicit vectors keep their width in any case. For named machines, the flag sets the width.
    ///
    /// `-march=x86-64-v2` and `-v3` need gcc 11 or clang 12; `-mprefer-vector-width` needs gcc 8 or
    /// clang 6. Older compilers reject these flags. `here` uses none of them.
    pub fn c_flags(&self) -> Vec<&'static str> {
        match self.arch {
            _ if self.name == HERE => vec!["-march=native"],
            Arch::X86_64 => self.x86_flags(),
            Arch::Aarch64 => vec!["-march=armv8-a"],
            Arch::Other => Vec::new(),
        }
    }

    fn x86_flags(&self) -> Vec<&'static str> {
        let mut levels = LEVELS.into_iter();
        let level = levels.find(|(_, has)| self.extensions.has_all(*has));
        let (march, _) = level.unwrap_or(LEVELS[3]);
        let width = match self.vector_bytes() {
            64 => "-mprefer-vector-width=512",
            32 => "-mprefer-vector-width=256",
            _ => "-mprefer-vector-width=128",
        };
        let more = self.has(Avx512vbmi2).then_some("-mavx512vbmi2");
        [march, width].into_iter().chain(more).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_say_the_level_the_width_and_what_is_more() {
        let of = |t: Target| t.c_flags().join(" ");
        assert_eq!(of(Target::here()), "-march=native");
        assert_eq!(
            of(Target::avx512vbmi2()),
            "-march=x86-64-v4 -mprefer-vector-width=512 -mavx512vbmi2"
        );
        let wide = of(Target::avx512());
        assert_eq!(wide, "-march=x86-64-v4 -mprefer-vector-width=512");
        let half = of(Target::avx2());
        assert_eq!(half, "-march=x86-64-v3 -mprefer-vector-width=256");
        let narrow = of(Target::sse42());
        assert_eq!(narrow, "-march=x86-64-v2 -mprefer-vector-width=128");
        let least = of(Target::sse2());
        assert_eq!(least, "-march=x86-64 -mprefer-vector-width=128");
        assert_eq!(of(Target::neon()), "-march=armv8-a");
        assert_eq!(of(Target::plain()), "");
    }
}
