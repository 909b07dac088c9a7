//! A kernel's machine code, with its compiler's log.

use std::fmt;

/// Holds machine code for devices of one architecture.
#[derive(Clone, PartialEq, Eq)]
pub struct Cubin {
    image: Vec<u8>,
    log: String,
}

/// Describes a kernel's resource usage, as its compiler reports it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Usage {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of a thread's stack.
    pub stack: u32,
    /// Bytes of spill stores.
    pub spill_stores: u32,
    /// Bytes of spill loads.
    pub spill_loads: u32,
    /// Bytes of shared memory of a block.
    pub shared: u32,
}

impl Cubin {
    /// Wraps code and its compiler's log.
    ///
    /// # Safety
    ///
    /// The code must be complete and unchanged compiler output: drivers trust its contents.
    pub unsafe fn new(image: Vec<u8>, log: String) -> Cubin {
        Cubin { image, log }
    }

    /// Returns the code.
    pub fn image(&self) -> &[u8] {
        &self.image
    }

    /// Returns the compiler's log.
    pub fn log(&self) -> &str {
        &self.log
    }

    /// Returns a kernel's resource usage, if the log has it.
    pub fn usage(&self, kernel: &str) -> Option<Usage> {
        usage(&self.log, kernel)
    }
}

impl fmt::Debug for Cubin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cubin({} bytes, {:?})", self.image.len(), self.log)
    }
}

/// Parses a kernel's usage from a log of `ptxas -v`.
///
/// The lines range from the kernel's name to its register count.
///
/// ```text
/// ptxas info    : Compiling entry function 'sum' for 'sm_90'
/// ptxas info    : Function properties for sum
/// ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
/// ptxas info    : Used 40 registers, used 1 barriers, 1040 bytes smem
/// ```
fn usage(log: &str, kernel: &str) -> Option<Usage> {
    let begins = format!("Compiling entry function '{kernel}' for ");
    let mut lines = log.lines().skip_while(|l| !l.contains(&begins)).skip(1);
    let properties = lines.find(|l| l.contains("bytes stack frame"))?;
    let used = lines.find(|l| l.contains(" registers"))?;
    Some(Usage {
        registers: before(used, " registers")?,
        stack: before(properties, " bytes stack frame")?,
        spill_stores: before(properties, " bytes spill stores")?,
        spill_loads: before(properties, " bytes spill loads")?,
        shared: before(used, " bytes smem").unwrap_or(0),
    })
}

/// Returns the number before a word.
fn before(line: &str, word: &str) -> Option<u32> {
    let (before, _) = line.split_once(word)?;
    before.split_whitespace().next_back()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'sums' for 'sm_90'
ptxas info    : Function properties for sums
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 1040 bytes smem
ptxas info    : Compiling entry function 'sum' for 'sm_90'
ptxas info    : Function properties for sum
ptxas         .     16 bytes stack frame, 24 bytes spill stores, 28 bytes spill loads
ptxas info    : Used 255 registers, used 0 barriers
";

    #[test]
    fn each_kernel_has_its_lines() {
        let (registers, shared) = (40, 1040);
        let sums = Usage {
            registers,
            shared,
            ..Usage::default()
        };
        assert_eq!(usage(LOG, "sums"), Some(sums));
        let sum = Usage {
            registers: 255,
            stack: 16,
            spill_stores: 24,
            spill_loads: 28,
            shared: 0,
        };
        assert_eq!(usage(LOG, "sum"), Some(sum));
    }

    #[test]
    fn cubin_without_an_attribute_has_no_value() {
        assert_eq!(usage(LOG, "su"), None);
        assert_eq!(usage("", "sum"), None);
        let cut = LOG.rsplit_once("ptxas").map_or("", |(cut, _)| cut);
        assert_eq!(usage(cut, "sum"), None);
    }
}
