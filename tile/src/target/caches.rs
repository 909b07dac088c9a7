//! Cache sizes.

/// Holds cache sizes in bytes.
///
/// The first two levels belong to one core, the last is shared.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Caches {
    /// The first level data cache.
    pub first: usize,
    /// The second level.
    pub second: usize,
    /// The last level.
    pub last: usize,
}

/// Holds default sizes for unknown machines.
pub const USUAL: Caches = Caches {
    first: 32 << 10,
    second: 512 << 10,
    last: 8 << 20,
};

impl Caches {
    /// Returns the cache sizes of this machine.
    ///
    /// Unknown sizes have defaults.
    pub fn here() -> Caches {
        Caches::of(&list())
    }

    /// Returns the sizes from a list of data caches with their level and bytes.
    fn of(list: &[(u32, usize)]) -> Caches {
        let level = |wanted| {
            let found = list.iter().filter(|(level, _)| *level == wanted);
            found.map(|(_, bytes)| *bytes).max()
        };
        let first = level(1).unwrap_or(USUAL.first);
        let second = level(2).unwrap_or(USUAL.second).max(first);
        let known = list.iter().map(|(_, bytes)| *bytes).max();
        let last = known.unwrap_or(USUAL.last).max(second);
        Caches {
            first,
            second,
            last,
        }
    }
}

/// Lists the data caches reported by the processor: leaf 4 for Intel, and a leaf of the same form
/// for AMD (Intel's manual 2A, `CPUID`; AMD's manual 3, appendix E).
#[cfg(target_arch = "x86_64")]
fn list() -> Vec<(u32, usize)> {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    let leaf = |base: u32, leaf: u32| {
        let there = __cpuid(base).eax >= leaf;
        let parts = (0..16).map_while(move |part| {
            let about = __cpuid_count(leaf, part);
            let kind = about.eax & 31;
            let field = |from: u32, bits: u32| (about.ebx >> from & ((1 << bits) - 1)) as usize + 1;
            // Ways, partitions, bytes per line, sets.
            let bytes = field(22, 10) * field(12, 10) * field(0, 12) * (about.ecx as usize + 1);
            let found = (kind != 2).then_some((about.eax >> 5 & 7, bytes));
            (there && kind != 0).then_some(found)
        });
        parts.flatten().collect::<Vec<_>>()
    };
    let intel = leaf(0, 4);
    match intel.is_empty() {
        true => leaf(0x8000_0000, 0x8000_001d),
        false => intel,
    }
}

/// Lists the data caches reported by Linux.
#[cfg(not(target_arch = "x86_64"))]
fn list() -> Vec<(u32, usize)> {
    let read = |k: u32, what: &str| {
        let file = format!("/sys/devices/system/cpu/cpu0/cache/index{k}/{what}");
        Some(std::fs::read_to_string(file).ok()?.trim().to_string())
    };
    let cache = |k| {
        let (kind, level, size) = (read(k, "type")?, read(k, "level")?, read(k, "size")?);
        let kib: usize = size.strip_suffix('K')?.parse().ok()?;
        (kind != "Instruction").then_some((level.parse().ok()?, kib << 10))
    };
    (0..16).filter_map(cache).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_level_is_the_largest() {
        assert_eq!(Caches::of(&[]), USUAL);
        let three = Caches::of(&[(1, 48 << 10), (2, 2 << 20), (3, 60 << 20)]);
        assert_eq!(three.first, 48 << 10);
        assert_eq!((three.second, three.last), (2 << 20, 60 << 20));
        let two = Caches::of(&[(1, 64 << 10), (2, 16 << 20)]);
        assert_eq!((two.second, two.last), (16 << 20, 16 << 20));
    }

    /// Linux reports the same in files.
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    #[test]
    fn the_processor_says_what_the_system_says() {
        let told = list();
        for k in 0..4 {
            let folder = format!("/sys/devices/system/cpu/cpu0/cache/index{k}");
            let read = |what: &str| std::fs::read_to_string(format!("{folder}/{what}"));
            let (Ok(kind), Ok(level), Ok(size)) = (read("type"), read("level"), read("size"))
            else {
                continue;
            };
            if kind.trim() != "Instruction" {
                let kib: usize = size.trim().trim_end_matches('K').parse().unwrap();
                let one = (level.trim().parse().unwrap(), kib << 10);
                assert!(told.contains(&one), "{one:?} is not in {told:?}");
            }
        }
    }
}
