//! The identity of this processor, as far as `-march=native` depends on it.

/// Returns a text that is equal for processors with equal instruction choice.
///
/// Returns `None` where the processor cannot be identified.
pub fn identity() -> Option<String> {
    #[cfg(target_arch = "x86_64")]
    return Some(x86::identity());
    #[cfg(not(target_arch = "x86_64"))]
    return listed(&std::fs::read_to_string("/proc/cpuinfo").ok()?);
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{__cpuid, __cpuid_count};

    /// Returns vendor, model, features, and the vector registers that the system saves.
    pub fn identity() -> String {
        let (vendor, model) = (__cpuid(0), __cpuid(1));
        let mut words = vec![vendor.ebx, vendor.ecx, vendor.edx];
        // `ebx` of leaf 1 is skipped: it depends on the current core.
        words.extend([model.eax, model.ecx, model.edx]);
        for part in [0, 1] {
            let features = __cpuid_count(7, part);
            words.extend([features.eax, features.ebx, features.ecx, features.edx]);
        }
        let extended = __cpuid(0x8000_0001);
        words.extend([extended.ecx, extended.edx]);
        let kept = [
            is_x86_feature_detected!("avx"),
            is_x86_feature_detected!("avx512f"),
        ];
        let words: Vec<String> = words.iter().map(|w| format!("{w:x}")).collect();
        format!("{} {kept:?}", words.join(" "))
    }
}

/// Returns the description of the first processor in `/proc/cpuinfo`, without changing values.
#[cfg(any(not(target_arch = "x86_64"), test))]
fn listed(cpuinfo: &str) -> Option<String> {
    let lasting = |l: &&str| {
        let name = l.split(':').next().unwrap_or_default().trim();
        !matches!(
            name,
            "processor" | "BogoMIPS" | "bogomips" | "cpu MHz" | "clock"
        )
    };
    let first = cpuinfo.lines().take_while(|l| !l.trim().is_empty());
    let lines: Vec<&str> = first.filter(lasting).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_at_every_call() {
        assert_eq!(identity(), identity());
    }

    #[test]
    fn cpu_flags_that_change_are_left_out() {
        let info = "processor : 0\nBogoMIPS : 50.0\nFeatures : fp asimd\n\nprocessor : 1\n";
        assert_eq!(listed(info).as_deref(), Some("Features : fp asimd"));
        assert_eq!(listed(""), None);
    }
}
