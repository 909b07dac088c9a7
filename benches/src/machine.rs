//! The measured machine and its load.

use livefusion_tile::target::Target;
use std::fs::read_to_string;
use std::process::Command;

/// Describes the machine for a table of times.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The processor.
    pub cpu: String,
    /// The number of cores available to this process.
    pub cores: usize,
    /// The widest vectors of generated C, in bytes.
    pub vectors: usize,
    /// The operating system.
    pub os: String,
    /// The C compiler.
    pub compiler: String,
    /// The load average of the last minute at the time of measurement.
    pub load: Option<f64>,
}

/// Describes this machine.
pub fn this() -> Machine {
    let info = read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = info.lines().find(|l| l.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_string())
    };
    Machine {
        cpu: field("model name").unwrap_or_else(|| std::env::consts::ARCH.to_string()),
        cores: cores(),
        vectors: Target::here().vector_bytes(),
        os: std::env::consts::OS.to_string(),
        compiler: compiler().unwrap_or_else(|| "none".to_string()),
        load: load().map(|(minute, _)| minute),
    }
}

/// Returns the number of cores available to this process.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// The first line of the compiler's version.
fn compiler() -> Option<String> {
    let path = livefusion_c::system_compiler().ok()?;
    let said = Command::new(path).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    text.lines().next().map(str::to_string)
}

/// The load average of the last minute, and the number of running threads.
fn load() -> Option<(f64, usize)> {
    let text = read_to_string("/proc/loadavg").ok()?;
    let mut words = text.split(' ');
    let minute = words.next()?.parse().ok()?;
    let running = words.nth(2)?.split('/').next()?.parse().ok()?;
    Some((minute, running))
}

/// Returns a note if other work is running.
pub fn busy() -> Option<String> {
    let (minute, running) = load()?;
    (running > 1).then(|| {
        format!(
            "the machine is busy: {running} threads run, load {minute}; times are not to be trusted"
        )
    })
}
