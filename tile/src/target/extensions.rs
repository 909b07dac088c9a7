//! Instruction extensions that affect code generation.

use std::fmt;

/// Lists instruction extensions of processors.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Extension {
    /// Vectors of 16 bytes, non-temporal stores.
    Sse2,
    /// Rounding.
    Sse41,
    /// Vector comparison of 64-bit integers.
    Sse42,
    /// Float vectors of 32 bytes.
    Avx,
    /// Integer vectors of 32 bytes.
    Avx2,
    /// Fused multiply-add.
    Fma,
    /// Vectors of 64 bytes, mask registers.
    Avx512f,
    /// The same on shorter vectors.
    Avx512vl,
    /// Mask operations on 32-bit and 64-bit elements.
    Avx512dq,
    /// 8-bit and 16-bit elements in vectors of 64 bytes.
    Avx512bw,
    /// Compression of 8-bit and 16-bit elements.
    Avx512vbmi2,
    /// Vectors of 16 bytes, rounding, fused multiply-add.
    Neon,
}

use Extension::*;

impl Extension {
    /// Lists all of them.
    pub const ALL: [Extension; 12] = [
        Sse2,
        Sse41,
        Sse42,
        Avx,
        Avx2,
        Fma,
        Avx512f,
        Avx512vl,
        Avx512dq,
        Avx512bw,
        Avx512vbmi2,
        Neon,
    ];

    /// Returns its name, as used by compilers and systems.
    pub fn name(self) -> &'static str {
        match self {
            Sse2 => "sse2",
            Sse41 => "sse4.1",
            Sse42 => "sse4.2",
            Avx => "avx",
            Avx2 => "avx2",
            Fma => "fma",
            Avx512f => "avx512f",
            Avx512vl => "avx512vl",
            Avx512dq => "avx512dq",
            Avx512bw => "avx512bw",
            Avx512vbmi2 => "avx512vbmi2",
            Neon => "neon",
        }
    }
}

/// Represents a set of extensions.
///
/// Its text form joins their names by `+`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Extensions(u16);

impl Extensions {
    /// Returns the set of these extensions.
    pub const fn of(extensions: &[Extension]) -> Extensions {
        let (mut bits, mut i) = (0, 0);
        while i < extensions.len() {
            bits |= 1 << extensions[i] as u16;
            i += 1;
        }
        Extensions(bits)
    }

    /// Returns the union.
    pub const fn with(self, others: Extensions) -> Extensions {
        Extensions(self.0 | others.0)
    }

    /// Returns the difference.
    pub const fn without(self, others: Extensions) -> Extensions {
        Extensions(self.0 & !others.0)
    }

    /// Tells whether it contains an extension.
    pub const fn has(self, extension: Extension) -> bool {
        self.0 >> extension as u16 & 1 == 1
    }

    /// Tells whether it contains all others.
    pub const fn has_all(self, others: Extensions) -> bool {
        others.0 & !self.0 == 0
    }

    /// Lists its extensions.
    pub fn iter(self) -> impl Iterator<Item = Extension> {
        Extension::ALL.into_iter().filter(move |e| self.has(*e))
    }
}

impl FromIterator<Extension> for Extensions {
    fn from_iter<I: IntoIterator<Item = Extension>>(extensions: I) -> Extensions {
        let add = |set: Extensions, e| set.with(Extensions::of(&[e]));
        extensions.into_iter().fold(Extensions::default(), add)
    }
}

impl fmt::Display for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(Extension::name).collect();
        f.write_str(&names.join("+"))
    }
}
