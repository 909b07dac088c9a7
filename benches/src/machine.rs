//! The machine that is measured on, and whether it has other things to do.

use livefusion_tile::target::Target;
use std::fs::read_to_string;
use std::process::Command;

/// What a table of times must say beside the times.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The processor.
    pub cpu: String,
    /// How many cores this process may use.
    pub cores: usize,
    /// Bytes of the widest vectors that C is written in.
    pub vectors: usize,
    /// The operating system.
    pub os: String,
    /// The C compiler.
    pub compiler: String,
    /// The load average of the last minute, when it was measured.
    pub load: Option<f64>,
}

/// This machine.
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

/// How many cores this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// The first line of what the compiler says of itself.
fn compiler() -> Option<String> {
    let path = livefusion_c::system_compiler().ok()?;
    let said = Command::new(path).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    text.lines().next().map(str::to_string)
}

/// The load average of the last minute, and how many threads run now.
fn load() -> Option<(f64, usize)> {
    let text = read_to_string("/proc/loadavg").ok()?;
    let mut words = text.split(' ');
    let minute = words.next()?.parse().ok()?;
    let running = words.nth(2)?.split('/').next()?.parse().ok()?;
    Some((minute, running))
}

/// A note if other work runs beside this.
pub fn busy() -> Option<String> {
    let (minute, running) = load()?;
    (running > 1).then(|| {
        format!(
            "the machine is busy: {running} threads run, load {minute}; times are not to be trusted"
        )
    })
}
