//! Many cores, simulated: the protocol's own code in virtual time.
//!
//! One thread measures the times of chunks. Simulated threads then share the loops. They spend the measured
//! times in the place of work. Locks and clocks are virtual. This program builds a second one for them
//! (`--cfg virtual_time`).
//!
//! | module | contents |
//! | --- | --- |
//! | `measured` | calls on this machine's cores; the second program |
//! | `chunks` | times of chunks |
//! | `simulated` | the simulation and its tables |

#[cfg(virtual_time)]
mod chunks;
#[cfg(not(virtual_time))]
mod measured;
#[cfg(virtual_time)]
mod simulated;

use crate::cases::{CASES, Case};
use crate::kernels::Outcome;
use std::path::{Path, PathBuf};

/// The cases of the tables, one or more of each kind of shared loop.
const SHARED: [&str; 12] = [
    "dotProduct",
    "mapMap",
    "blackScholesF64",
    "filterSum",
    "nestedFilter",
    "scanInclusiveF64",
    "scanAffine",
    "segmentedSumShort",
    "segmentedSumLong",
    "csrProduct",
    "maxSegmentSum",
    "histogram256",
];

/// Holds the options.
#[derive(Default)]
pub struct Options {
    /// Only this case.
    pub case: Option<String>,
    /// The number of elements.
    pub n: Option<usize>,
    /// A file with times of chunks, not to be measured.
    pub chunks: Option<PathBuf>,
    /// A file for the times of chunks.
    pub save: Option<PathBuf>,
    /// A file with measured calls.
    ///
    /// A line has a case, a number of cores, nanoseconds for each element.
    pub measured: Option<PathBuf>,
    /// Changes of the simulated machine, as `NAME=VALUE`.
    pub machine: Vec<String>,
}

impl Options {
    /// Lists the cases.
    fn cases(&self) -> Outcome<Vec<&'static Case>> {
        let one = self.case.iter().map(String::as_str);
        let names: Vec<&str> = match self.case {
            Some(_) => one.collect(),
            None => SHARED.to_vec(),
        };
        let find = |name: &str| {
            let case = CASES.iter().find(|c| c.name == name);
            case.ok_or_else(|| format!("no case `{name}`"))
        };
        names.into_iter().map(find).collect()
    }

    fn elements(&self, case: &Case) -> usize {
        self.n.unwrap_or(case.large)
    }
}

fn write(file: &Path, text: &str) -> Outcome<()> {
    std::fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))
}

/// Simulates 1 to 256 cores.
///
/// # Errors
///
/// Returns the reason if the second program cannot be built.
/// The same goes for cases that fail, and for files.
pub fn cores(options: &Options) -> Outcome<()> {
    #[cfg(virtual_time)]
    return simulated::cores(options);
    #[cfg(not(virtual_time))]
    measured::cores(options)
}
