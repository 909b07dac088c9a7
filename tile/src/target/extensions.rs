//! Instruction extensions: those that the code generator asks about.

use std::fmt;

/// An instruction extension of a processor.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Extension {
    /// Vectors of 16 bytes, stores past the caches.
    Sse2,
    /// Rounding.
    Sse41,
    /// Comparison of integers of 64 bits in vectors.
    Sse42,
    /// Vectors of 32 bytes, of floats.
    Avx,
    /// Vectors of 32 bytes, of integers too.
    Avx2,
    /// Multiply-add with one rounding.
    Fma,
    /// Vectors of 64 bytes, masks in registers.
    Avx512f,
    /// The same on shorter vectors.
    Avx512vl,
    /// Masks of words and double words.
    Avx512dq,
    /// Bytes and pairs of bytes in vectors of 64 bytes.
    Avx512bw,
    /// Packing of bytes and pairs of bytes.
    Avx512vbmi2,
    /// Vectors of 16 bytes, rounding, multiply-add with one rounding.
    Neon,
}

use Extension::*;

impl Extension {
    /// All of them.
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

    /// Its name, as compilers and systems know it.
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

/// A set of extensions. Its text form is their names, with `+` between.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Extensions(u16);

impl Extensions {
    /// These extensions.
    pub const fn of(extensions: &[Extension]) -> Extensions {
        let (mut bits, mut i) = (0, 0);
        while i < extensions.len() {
            bits |= 1 << extensions[i] as u16;
            i += 1;
        }
        Extensions(bits)
    }

    /// These and those.
    pub const fn with(self, others: Extensions) -> Extensions {
        Extensions(self.0 | others.0)
    }

    /// These without those.
    pub const fn without(self, others: Extensions) -> Extensions {
        Extensions(self.0 & !others.0)
    }

    /// Whether an extension is among them.
    pub const fn has(self, extension: Extension) -> bool {
        self.0 >> extension as u16 & 1 == 1
    }

    /// Whether all of others are among them.
    pub const fn has_all(self, others: Extensions) -> bool {
        others.0 & !self.0 == 0
    }

    /// Each of them.
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
