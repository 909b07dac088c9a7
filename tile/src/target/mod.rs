//! Target machines as values.
//!
//! Code generators depend only on a [`Target`], never on the host. Code for any machine can
//! therefore be generated, read and compiled on any other.
//!
//! | module | contents |
//! | --- | --- |
//! | [`extensions`](Extensions) | instruction extensions |
//! | [`caches`](Caches) | cache sizes |
//! | `flags` | flags for C compilers |

mod caches;
mod extensions;
mod flags;

pub use caches::Caches;
pub use extensions::{Extension, Extensions};

use Extension::*;
use std::fmt;
use std::sync::LazyLock;

/// Lists instruction sets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Arch {
    /// 64-bit x86.
    X86_64,
    /// 64-bit Arm.
    Aarch64,
    /// Any other; its extensions are not used.
    Other,
}

/// Lists the representations of masks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Masks {
    /// Integer vectors of the element width, with all bits of a lane equal.
    Vectors,
    /// Mask registers with one bit per element.
    Registers,
}

/// Describes a target machine.
///
/// ```
/// use livefusion_tile::target::{Extension, Target};
/// let target = Target::from_name("avx2").unwrap();
/// assert_eq!(target.vector_bytes(), 32);
/// assert!(target.has(Extension::Fma) && !target.has(Extension::Avx512f));
/// assert!(target.to_string().starts_with("avx2: x86-64, 16 vectors of 32 bytes"));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Target {
    name: &'static str,
    arch: Arch,
    extensions: Extensions,
    caches: Caches,
    cores: usize,
}

const SSE2: Extensions = Extensions::of(&[Sse2]);
const SSE42: Extensions = SSE2.with(Extensions::of(&[Sse41, Sse42]));
const AVX2: Extensions = SSE42.with(Extensions::of(&[Avx, Avx2, Fma]));
/// The extensions required to use vectors of 64 bytes: they cover elements of all sizes.
const WIDE: Extensions = Extensions::of(&[Avx512f, Avx512vl, Avx512dq, Avx512bw]);
/// The extensions for vectors longer than 16 bytes.
const WIDER: Extensions = WIDE.with(Extensions::of(&[Avx2, Avx512vbmi2]));
const AVX512: Extensions = AVX2.with(WIDE);
const NEON: Extensions = Extensions::of(&[Neon]);

/// The name of the host.
const HERE: &str = "here";

/// The host does not change during a process.
static THIS: LazyLock<Target> = LazyLock::new(|| Target {
    name: HERE,
    arch: match std::env::consts::ARCH {
        "x86_64" => Arch::X86_64,
        "aarch64" => Arch::Aarch64,
        _ => Arch::Other,
    },
    extensions: probed(),
    caches: Caches::here(),
    cores: std::thread::available_parallelism().map_or(1, usize::from),
});

impl Target {
    /// Returns the host with the extensions that its processor and system support.
    ///
    /// Detection runs once per process.
    pub fn here() -> Target {
        THIS.clone()
    }

    /// Returns x86-64 with vectors of 64 bytes.
    pub fn avx512() -> Target {
        Target::given("avx512", Arch::X86_64, AVX512)
    }

    /// Returns the same with compression of bytes and 16-bit elements.
    pub fn avx512vbmi2() -> Target {
        let all = AVX512.with(Extensions::of(&[Avx512vbmi2]));
        Target::given("avx512vbmi2", Arch::X86_64, all)
    }

    /// Returns x86-64 with vectors of 32 bytes.
    pub fn avx2() -> Target {
        Target::given("avx2", Arch::X86_64, AVX2)
    }

    /// Returns x86-64 with vectors of 16 bytes and SSE up to 4.2.
    pub fn sse42() -> Target {
        Target::given("sse4.2", Arch::X86_64, SSE42)
    }

    /// Returns baseline x86-64.
    pub fn sse2() -> Target {
        Target::given("sse2", Arch::X86_64, SSE2)
    }

    /// Returns baseline 64-bit Arm.
    pub fn neon() -> Target {
        Target::given("neon", Arch::Aarch64, NEON)
    }

    /// Returns an unknown machine, with code that runs everywhere.
    pub fn plain() -> Target {
        Target::given("plain", Arch::Other, Extensions::default())
    }

    /// Lists the host and all predefined machines.
    pub fn all() -> [Target; 8] {
        [
            Target::here(),
            Target::avx512vbmi2(),
            Target::avx512(),
            Target::avx2(),
            Target::sse42(),
            Target::sse2(),
            Target::neon(),
            Target::plain(),
        ]
    }

    /// Finds a machine by name.
    ///
    /// Names are `here`, `avx512vbmi2`, `avx512`, `avx2`, `sse4.2`, `sse2`, `neon` and `plain`.
    pub fn from_name(name: &str) -> Option<Target> {
        Target::all().into_iter().find(|t| t.name == name)
    }

    /// Limits the machine to vectors of 16 bytes.
    pub fn narrow(self) -> Target {
        Target {
            name: "narrow",
            extensions: self.extensions.without(WIDER),
            ..self
        }
    }

    fn given(name: &'static str, arch: Arch, extensions: Extensions) -> Target {
        Target {
            name,
            arch,
            extensions,
            caches: caches::USUAL,
            cores: 1,
        }
    }

    /// Returns its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns its instruction set.
    pub fn arch(&self) -> Arch {
        self.arch
    }

    /// Returns its instruction extensions.
    pub fn extensions(&self) -> Extensions {
        self.extensions
    }

    /// Tells whether it has an instruction extension.
    pub fn has(&self, extension: Extension) -> bool {
        self.extensions.has(extension)
    }

    /// Returns the bytes of a vector, which are 16, 32 or 64.
    ///
    /// Without vector registers, a compiler splits vectors of 16 bytes.
    pub fn vector_bytes(&self) -> usize {
        match self.extensions {
            all if all.has_all(WIDE) => 64,
            all if all.has(Avx2) => 32,
            _ => 16,
        }
    }

    /// Tells whether it has vector instructions.
    pub fn has_vectors(&self) -> bool {
        self.extensions != Extensions::default()
    }

    /// Returns the number of vector registers.
    pub fn registers(&self) -> usize {
        match self.arch {
            Arch::X86_64 if self.has(Avx512f) => 32,
            Arch::Aarch64 => 32,
            _ => 16,
        }
    }

    /// Returns its representation of masks.
    pub fn masks(&self) -> Masks {
        match self.vector_bytes() {
            64 => Masks::Registers,
            _ => Masks::Vectors,
        }
    }

    /// Returns its caches.
    pub fn caches(&self) -> Caches {
        self.caches
    }

    /// Returns the number of cores that a process may use.
    pub fn cores(&self) -> usize {
        self.cores
    }

    /// Tells whether code for this machine runs on another one.
    pub fn runs_on(&self, other: &Target) -> bool {
        let known = self.arch == other.arch || self.arch == Arch::Other;
        known && other.extensions.has_all(self.extensions)
    }
}

/// Shows its name and the properties that code may rely on.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arch = match self.arch {
            Arch::X86_64 => "x86-64",
            Arch::Aarch64 => "aarch64",
            Arch::Other => "any",
        };
        let masks = match self.masks() {
            Masks::Vectors => "vectors",
            Masks::Registers => "registers",
        };
        let (name, registers, bytes) = (self.name, self.registers(), self.vector_bytes());
        write!(
            f,
            "{name}: {arch}, {registers} vectors of {bytes} bytes, masks in {masks}, {}",
            self.extensions
        )
    }
}

/// Detects the host's extensions.
#[cfg(target_arch = "x86_64")]
fn probed() -> Extensions {
    let of = |extension: &Extension| match extension {
        Sse2 => is_x86_feature_detected!("sse2"),
        Sse41 => is_x86_feature_detected!("sse4.1"),
        Sse42 => is_x86_feature_detected!("sse4.2"),
        Avx => is_x86_feature_detected!("avx"),
        Avx2 => is_x86_feature_detected!("avx2"),
        Fma => is_x86_feature_detected!("fma"),
        Avx512f => is_x86_feature_detected!("avx512f"),
        Avx512vl => is_x86_feature_detected!("avx512vl"),
        Avx512dq => is_x86_feature_detected!("avx512dq"),
        Avx512bw => is_x86_feature_detected!("avx512bw"),
        Avx512vbmi2 => is_x86_feature_detected!("avx512vbmi2"),
        Neon => false,
    };
    Extension::ALL.into_iter().filter(of).collect()
}

/// Detects the host's extensions: all 64-bit Arm machines with an operating system have vectors.
#[cfg(not(target_arch = "x86_64"))]
fn probed() -> Extensions {
    match cfg!(target_arch = "aarch64") {
        true => NEON,
        false => Extensions::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_their_targets() {
        let all = Target::all();
        for (k, target) in all.iter().enumerate() {
            assert_eq!(Target::from_name(target.name()).as_ref(), Some(target));
            assert!(target.to_string().starts_with(target.name()));
            assert!(all[..k].iter().all(|t| t != target), "{target}");
        }
        assert_eq!(Target::from_name("avx"), None);
    }

    #[test]
    fn widths_follow_from_the_extensions() {
        let of = |t: Target| (t.vector_bytes(), t.registers(), t.masks());
        assert_eq!(of(Target::avx512()), (64, 32, Masks::Registers));
        assert_eq!(of(Target::avx512vbmi2()), (64, 32, Masks::Registers));
        assert_eq!(of(Target::avx2()), (32, 16, Masks::Vectors));
        assert_eq!(of(Target::sse42()), (16, 16, Masks::Vectors));
        assert_eq!(of(Target::sse2()), (16, 16, Masks::Vectors));
        assert_eq!(of(Target::neon()), (16, 32, Masks::Vectors));
        assert_eq!(of(Target::plain()), (16, 16, Masks::Vectors));
        // Without 8-bit and 16-bit elements, wide vectors are not used.
        let some = AVX2.with(Extensions::of(&[Avx512f, Avx512vl]));
        let some = Target::given("some", Arch::X86_64, some);
        assert_eq!(of(some), (32, 32, Masks::Vectors));
        let narrow = Target::avx512vbmi2().narrow();
        assert!(narrow.has(Fma) && narrow.has_vectors() && !Target::plain().has_vectors());
        assert_eq!(of(narrow), (16, 16, Masks::Vectors));
    }

    #[test]
    fn code_runs_where_its_extensions_are() {
        let runs = |a: Target, b: &Target| a.runs_on(b);
        assert!(runs(Target::sse2(), &Target::sse42()));
        assert!(runs(Target::sse42(), &Target::avx2()));
        assert!(runs(Target::avx2(), &Target::avx512()));
        assert!(!runs(Target::avx512(), &Target::avx2()));
        assert!(!runs(Target::avx512vbmi2(), &Target::avx512()));
        assert!(!runs(Target::neon(), &Target::avx512()));
        for target in Target::all() {
            assert!(target.runs_on(&target) && runs(Target::plain(), &target));
        }
    }

    #[test]
    fn this_machine_has_what_its_instruction_set_has() {
        let here = Target::here();
        assert_eq!(here, Target::here());
        assert!(here.cores() >= 1);
        let caches = here.caches();
        assert!(caches.first <= caches.second && caches.second <= caches.last);
        match here.arch() {
            Arch::X86_64 => assert!(Target::sse2().runs_on(&here)),
            Arch::Aarch64 => assert!(Target::neon().runs_on(&here)),
            Arch::Other => assert_eq!(here.extensions(), Extensions::default()),
        }
    }
}
