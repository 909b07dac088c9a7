//! The shell in a terminal: line editing, and Ctrl-C for the running force.
//!
//! Ctrl-C stops the force, not the shell.

use crate::combinators;
use crate::commands::{self, COMMANDS};
use crate::session::Session;
use crate::shell::{Assistant, Vocabulary, history_path};
use rustyline::error::ReadlineError;
use std::io::IsTerminal;
use std::process::ExitCode;

/// The names of a session at the last prompt.
#[derive(Default)]
struct Names {
    bound: Vec<String>,
    tables: Vec<(String, Vec<String>)>,
}

impl Names {
    fn of(session: &Session) -> Names {
        let bound: Vec<String> = session.env.names().map(String::from).collect();
        let columns = |n: &String| {
            let columns = session.env.get(n)?.columns()?;
            Some((n.clone(), columns.into_iter().map(String::from).collect()))
        };
        Names {
            tables: bound.iter().filter_map(columns).collect(),
            bound,
        }
    }
}

impl Vocabulary for Names {
    fn names(&self) -> Vec<String> {
        let known = combinators::names().map(String::from);
        self.bound.iter().cloned().chain(known).collect()
    }

    fn members(&self, before: &str) -> Vec<String> {
        let table = self.tables.iter().find(|(name, _)| name == before);
        let columns = table.into_iter().flat_map(|(_, columns)| columns.clone());
        columns.chain(self.names()).collect()
    }

    fn commands(&self) -> Vec<String> {
        COMMANDS.iter().map(|c| c.name.to_string()).collect()
    }

    fn takes_expression(&self, command: &str) -> bool {
        commands::find(command).is_some_and(|c| c.takes_expression())
    }

    fn arguments(&self, name: &str) -> Option<String> {
        combinators::find(name).map(|c| c.arguments())
    }
}

/// Reads and answers until `:quit` or the end of the input.
pub fn run(mut session: Session) -> ExitCode {
    session.settings.types = true;
    session.progress = std::io::stderr().is_terminal();
    let stop = session.stop.clone();
    // Without a handler, Ctrl-C ends the process as usual.
    let _ = ctrlc::set_handler(move || {
        stop.stop();
    });
    let mut editor = match Assistant::new(Names::default()).editor(session.colours) {
        Ok(editor) => editor,
        Err(e) => {
            eprintln!("lf: {e}");
            return ExitCode::from(2);
        }
    };
    let history = history_path(|name| std::env::var_os(name));
    if let Some(path) = &history {
        let _ = path.parent().map(std::fs::create_dir_all);
        let _ = editor.load_history(path);
    }
    println!(
        "lf {}, `:help` for help, `:quit` to leave",
        env!("CARGO_PKG_VERSION")
    );
    let mut number = 0;
    let mut last = String::new();
    loop {
        if let Some(helper) = editor.helper_mut() {
            helper.vocabulary = Names::of(&session);
        }
        let line = match editor.readline("lf> ") {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => break,
            Err(e) => {
                eprintln!("lf: {e}");
                break;
            }
        };
        if line.trim().is_empty() {
            continue;
        }
        let _ = editor.add_history_entry(line.as_str());
        number += 1;
        let text = match crate::continues(&line) && !last.is_empty() {
            true => format!("{last}\n{line}"),
            false => line,
        };
        let answer = session.submit(&format!("<{number}>"), &text);
        print!("{}", answer.out);
        eprint!("{}", answer.err);
        if answer.quit {
            break;
        }
        last = text;
    }
    if let Some(path) = &history {
        let _ = editor.append_history(path);
    }
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Completes columns after the dot of a table or of its rows.
    #[test]
    fn columns_are_completed() {
        let mut session = Session::new();
        session.folder = "../examples/data".into();
        let text =
            "let t = load \"airports.csv\"\nlet north = t.filter(_.latitude > 60)\nlet row = t[0]";
        assert_eq!(session.submit("<1>", text).err, "");
        let names = Names::of(&session);
        for table in ["t", "north", "row"] {
            let members = names.members(table);
            assert!(members.contains(&"iata".into()) && members.contains(&"filter".into()));
        }
        assert!(!names.members("other").contains(&"iata".into()));
        assert!(!names.names().contains(&"iata".into()));
    }
}
