//! Command line of the comparison and of the growth table.
//!
//! ```text
//! cargo run --release -p livefusion-bench -- compare [--case NAME] [--n N] [--backend B] [--threads T]
//!     [--inputs aligned|vec] [--json FILE] [--svg FOLDER] [--quick]
//! cargo run --release -p livefusion-bench -- growth [--graph NAME] [--engine E] [--elements N] [--from N]
//!     [--to N] [--limit SECONDS]
//! cargo run --release -p livefusion-bench -- repeat --case NAME [--n N] [--threads T] [--calls K]
//! ```

use lexopt::{Arg, Parser, ValueExt};
use livefusion_bench::calls;
use livefusion_bench::compare::{Options, Report, chart, compare, json, table};
use livefusion_bench::cores;
use livefusion_bench::data::Inputs;
use livefusion_bench::growth;
use livefusion_bench::kernels::Outcome;
use livefusion_bench::latency;
use livefusion_bench::measure::Effort;
use livefusion_bench::repeat;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

const USAGE: &str = "\
livefusion-bench compare [OPTIONS]

Runs every case on every backend of livefusion, beside hand-written C and Rust.

  --case NAME      only this case
  --n N            this many elements, not 10^4 and the case's large size
  --backend B      only this backend; cuda is for GPUs, and has a table of its own (feature cuda)
  --threads T      this many threads, not one and all
  --inputs WHERE   inputs at the start of a cache line (aligned), or as a Vec has them (vec)
  --json FILE      writes all figures to FILE
  --svg FOLDER     draws bar charts into FOLDER
  --quick          a look of a minute: few rounds, large sizes ten times smaller

livefusion-bench growth [OPTIONS]

Times each stage of a first force, for graphs whose sizes double.

  --graph NAME     only this kind of graph
  --engine E       interp, jit, c or default (default)
  --elements N     arrays of N elements
  --from N         sizes from N on
  --to N           only sizes up to N
  --limit SECONDS  no larger sizes once a force has taken this long (5)

livefusion-bench calls

Counts the instructions of a call (by valgrind), and times it beside iterators and ndarray.

livefusion-bench cores [OPTIONS]

Simulates 1 to 256 cores, in a second program that it builds (target/virtual).

  --case NAME           only this case
  --n N                 this many elements, not the case's large size
  --chunks FILE         times of chunks from FILE, not measured now
  --save FILE           writes the times of chunks to FILE
  --measured FILE       compares with FILE, not with one and two threads measured now; a line has a case,
                        a number of cores, nanoseconds for each element
  --machine NAME=VALUE  changes a cost of the simulated machine; the first line of the output has all

livefusion-bench repeat --case NAME [OPTIONS]

Calls a case on the C backend and does nothing else, for profilers. Helpers are called at once.

  --n N            this many elements (300000)
  --threads T      this many threads (1)
  --calls K        this many calls (1)
";

/// The requested options and outputs.
struct Command {
    options: Options,
    json: Option<PathBuf>,
    svg: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Outcome<()> {
    let mut parser = Parser::from_env();
    let first = parser.next().map_err(|e| e.to_string())?;
    match first {
        Some(Arg::Value(v)) if v == "compare" => {
            let command = command(&mut parser).map_err(|e| format!("{e}\n\n{USAGE}"))?;
            if command.options.backend.as_deref() == Some("cuda") {
                return on_device(&command.options);
            }
            let report = compare(&command.options)?;
            publish(&command, &report)
        }
        Some(Arg::Value(v)) if v == "growth" => {
            let options = growth_options(&mut parser).map_err(|e| format!("{e}\n\n{USAGE}"))?;
            growth::growth(&options)
        }
        Some(Arg::Value(v)) if v == "calls" => calls::calls(),
        Some(Arg::Value(v)) if v == calls::REPEAT => {
            let mut number = || -> Result<u64, lexopt::Error> { parser.value()?.parse() };
            let (at, times) = (number(), number());
            let (at, times) = (
                at.map_err(|e| e.to_string())?,
                times.map_err(|e| e.to_string())?,
            );
            calls::repeat(at as usize, times)
        }
        Some(Arg::Value(v)) if v == "cores" => {
            let options = cores_options(&mut parser).map_err(|e| format!("{e}\n\n{USAGE}"))?;
            cores::cores(&options)
        }
        Some(Arg::Value(v)) if v == "repeat" => {
            let options = repeat_options(&mut parser).map_err(|e| format!("{e}\n\n{USAGE}"))?;
            repeat::repeat(&options)
        }
        Some(Arg::Value(v)) if v == latency::SECOND_PROCESS => latency::force_and_print(),
        _ => {
            print!("{USAGE}");
            Ok(())
        }
    }
}

#[cfg(feature = "cuda")]
fn on_device(options: &Options) -> Outcome<()> {
    livefusion_bench::device::compare(options)
}

#[cfg(not(feature = "cuda"))]
fn on_device(_: &Options) -> Outcome<()> {
    Err("this program was built without the feature `cuda`".into())
}

fn command(parser: &mut Parser) -> Result<Command, lexopt::Error> {
    let mut command = Command {
        options: Options::default(),
        json: None,
        svg: None,
    };
    let options = &mut command.options;
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("case") => options.case = Some(parser.value()?.string()?),
            Arg::Long("n") => options.n = Some(parser.value()?.parse::<usize>()?.max(1)),
            Arg::Long("backend") => options.backend = Some(parser.value()?.string()?),
            Arg::Long("threads") => options.threads = Some(parser.value()?.parse()?),
            Arg::Long("inputs") => {
                let name = parser.value()?.string()?;
                options.inputs =
                    Inputs::named(&name).ok_or("inputs are aligned, or in a vec".to_string())?;
            }
            Arg::Long("json") => command.json = Some(parser.value()?.into()),
            Arg::Long("svg") => command.svg = Some(parser.value()?.into()),
            Arg::Long("quick") => {
                options.effort = Effort::QUICK;
                options.shrink = 10;
            }
            other => return Err(other.unexpected()),
        }
    }
    Ok(command)
}

fn growth_options(parser: &mut Parser) -> Result<growth::Options, lexopt::Error> {
    let mut options = growth::Options::default();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("graph") => options.graph = Some(parser.value()?.string()?),
            Arg::Long("engine") => options.engine = parser.value()?.string()?,
            Arg::Long("elements") => options.elements = Some(parser.value()?.parse()?),
            Arg::Long("from") => options.from = Some(parser.value()?.parse()?),
            Arg::Long("to") => options.to = Some(parser.value()?.parse()?),
            Arg::Long("limit") => options.limit = Duration::from_secs(parser.value()?.parse()?),
            other => return Err(other.unexpected()),
        }
    }
    Ok(options)
}

fn cores_options(parser: &mut Parser) -> Result<cores::Options, lexopt::Error> {
    let mut options = cores::Options::default();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("case") => options.case = Some(parser.value()?.string()?),
            Arg::Long("n") => options.n = Some(parser.value()?.parse()?),
            Arg::Long("chunks") => options.chunks = Some(parser.value()?.into()),
            Arg::Long("save") => options.save = Some(parser.value()?.into()),
            Arg::Long("measured") => options.measured = Some(parser.value()?.into()),
            Arg::Long("machine") => options.machine.push(parser.value()?.string()?),
            other => return Err(other.unexpected()),
        }
    }
    Ok(options)
}

fn repeat_options(parser: &mut Parser) -> Result<repeat::RepeatOptions, lexopt::Error> {
    let mut options = repeat::RepeatOptions::default();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("case") => options.case = parser.value()?.string()?,
            Arg::Long("n") => options.n = parser.value()?.parse()?,
            Arg::Long("threads") => options.threads = parser.value()?.parse()?,
            Arg::Long("calls") => options.calls = parser.value()?.parse()?,
            other => return Err(other.unexpected()),
        }
    }
    Ok(options)
}

fn publish(command: &Command, report: &Report) -> Outcome<()> {
    print!("{}", table::text(report));
    if let Some(file) = &command.json {
        let text = serde_json::to_string_pretty(&json::json(report)).map_err(|e| e.to_string())?;
        write(file, &text)?;
    }
    if let Some(folder) = &command.svg {
        std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        for (name, svg) in chart::charts(report) {
            write(&folder.join(name), &svg)?;
        }
    }
    Ok(())
}

fn write(file: &Path, text: &str) -> Outcome<()> {
    std::fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))
}
