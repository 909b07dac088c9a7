//! `lf`: the shell and the script runner.

use lexopt::prelude::*;
use livefusion_repl::session::{Answer, Session, on_stack};
use livefusion_repl::terminal;
use std::io::{IsTerminal, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
lf                    the shell; without a terminal, runs what comes in
lf eval 'TEXT'        evaluates a text
lf run FILE           runs a script

  --backend NAME      what runs loops: tiered (the default), interp, jit, c
  --help, --version
";

enum Task {
    Shell,
    Eval(String),
    Run(PathBuf),
    Say(String),
}

struct Options {
    task: Task,
    backend: Option<String>,
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(e) => {
            eprintln!("lf: {e}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    on_stack(|| run(options)).unwrap_or(ExitCode::from(2))
}

fn options() -> Result<Options, lexopt::Error> {
    let mut parser = lexopt::Parser::from_env();
    let (mut words, mut backend, mut said) = (Vec::new(), None, None);
    while let Some(arg) = parser.next()? {
        match arg {
            Long("backend") => backend = Some(parser.value()?.string()?),
            Short('h') | Long("help") => said = Some(USAGE.to_string()),
            Short('V') | Long("version") => {
                said = Some(format!("lf {}\n", env!("CARGO_PKG_VERSION")));
            }
            Value(word) => {
                // A text may begin with a minus.
                let text = word == "eval" && words.is_empty();
                words.push(word);
                if text {
                    words.push(parser.value()?);
                }
            }
            other => return Err(other.unexpected()),
        }
    }
    let task = match (said, words.as_slice()) {
        (Some(text), _) => Task::Say(text),
        (None, []) => Task::Shell,
        (None, [what, text]) if what == "eval" => Task::Eval(text.clone().string()?),
        (None, [what, file]) if what == "run" => Task::Run(file.into()),
        (None, [what]) if what == "run" => return Err("`run` takes a file".into()),
        (None, [what, _, extra, ..]) if what == "eval" || what == "run" => {
            return Err(format!("unexpected argument `{}`", extra.display()).into());
        }
        (None, [what, ..]) => {
            return Err(format!("expected `eval` or `run`, got `{}`", what.display()).into());
        }
    };
    Ok(Options { task, backend })
}

fn run(options: Options) -> ExitCode {
    let mut session = Session::new();
    session.colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    if let Some(name) = &options.backend {
        let answer = session.submit("--backend", &format!(":backend {name}"));
        if !answer.err.is_empty() {
            eprint!("{}", answer.err);
            return ExitCode::from(2);
        }
    }
    let answer = match options.task {
        Task::Say(out) => Answer {
            out,
            ..Answer::default()
        },
        Task::Eval(text) => session.run("<eval>", &text),
        Task::Run(file) => match session.load(&file) {
            Ok(answer) => answer,
            Err(e) => {
                eprintln!("lf: {e}");
                return ExitCode::from(2);
            }
        },
        Task::Shell if std::io::stdin().is_terminal() => return terminal::run(session),
        Task::Shell => {
            let mut text = String::new();
            if let Err(e) = std::io::stdin().read_to_string(&mut text) {
                eprintln!("lf: standard input: {e}");
                return ExitCode::from(2);
            }
            session.run("<stdin>", &text)
        }
    };
    // The reader of the output may have closed the pipe, which is not an error of the program.
    let _ = std::io::stdout().write_all(answer.out.as_bytes());
    eprint!("{}", answer.err);
    ExitCode::from(u8::from(!answer.err.is_empty()))
}
