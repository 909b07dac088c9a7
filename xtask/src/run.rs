//! Subprocesses, run with their command line shown.

use std::error::Error;
use std::process::Command;
use std::time::{Duration, Instant};

/// Specialises `Result` for commands.
///
/// An error ends the command with a message.
pub type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Splits a command line at its spaces.
pub fn line(line: &str) -> Command {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    command
}

/// Runs a program.
///
/// Fails if the program fails. Prints its command line and duration.
pub fn run(command: &mut Command) -> Outcome<Duration> {
    let shown = show(command);
    eprintln!("$ {shown}");
    let start = Instant::now();
    let status = command.status().map_err(|e| format!("{shown}: {e}"))?;
    let took = start.elapsed();
    match status.success() {
        true => {
            eprintln!("  {:.1} s", took.as_secs_f64());
            Ok(took)
        }
        false => Err(format!("{shown}: {status}").into()),
    }
}

/// Returns the standard output of a program.
///
/// The program must succeed.
pub fn output(command: &mut Command) -> Outcome<String> {
    let output = command
        .output()
        .map_err(|e| format!("{}: {e}", show(command)))?;
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout)?),
        false => {
            let why = String::from_utf8_lossy(&output.stderr);
            Err(format!("{}: {}\n{why}", show(command), output.status).into())
        }
    }
}

fn show(command: &Command) -> String {
    let environment = command.get_envs();
    let mut words: Vec<String> = environment
        .filter_map(|(name, value)| Some(format!("{}={}", name.display(), value?.display())))
        .collect();
    words.push(command.get_program().display().to_string());
    words.extend(command.get_args().map(|arg| arg.display().to_string()));
    words.join(" ")
}
