//! Line editing: colours, multi-line input, completion, hints, and history.
//!
//! The caller provides the loop that reads and evaluates.

mod colours;
mod complete;
mod history;

pub use colours::{Class, classes, coloured};
pub use history::history_path;

use crate::parser::parse;
use crate::source::Sources;
use complete::Wanted;
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::config::{ColorMode, CompletionType, Config};
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::{Hint, Hinter, HistoryHinter};
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Editor, Helper};
use std::borrow::Cow;

/// Provides names that the evaluator knows and the grammar does not.
pub trait Vocabulary {
    /// Returns names of values: combinators, definitions, constants.
    fn names(&self) -> Vec<String>;

    /// Returns names that may follow the dot of this text.
    fn members(&self, before: &str) -> Vec<String> {
        let _ = before;
        self.names()
    }

    /// Returns the shell's commands, without their colons.
    fn commands(&self) -> Vec<String>;

    /// Returns whether a command takes an expression, which may span several lines.
    fn takes_expression(&self, command: &str) -> bool;

    /// Returns the arguments of a combinator, shown after its opening parenthesis:
    /// `init, |a, b| …`.
    fn arguments(&self, name: &str) -> Option<String>;
}

/// Assists the user with the current line.
pub struct Assistant<V> {
    /// The current names, which the caller updates.
    pub vocabulary: V,
    files: FilenameCompleter,
    before: HistoryHinter,
}

impl<V: Vocabulary> Assistant<V> {
    /// Creates an assistant with these names.
    pub fn new(vocabulary: V) -> Assistant<V> {
        Assistant {
            vocabulary,
            files: FilenameCompleter::new(),
            before: HistoryHinter::new(),
        }
    }

    /// Creates a line editor with this assistant.
    ///
    /// `colours` may disable colours even in a terminal.
    pub fn editor(self, colours: bool) -> rustyline::Result<Editor<Assistant<V>, FileHistory>> {
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .color_mode(if colours {
                ColorMode::Enabled
            } else {
                ColorMode::Disabled
            })
            .max_history_size(10_000)?
            .history_ignore_dups(true)?
            .history_ignore_space(true)
            .build();
        let mut editor = Editor::with_config(config)?;
        editor.set_helper(Some(self));
        Ok(editor)
    }

    /// Returns whether the input needs another line.
    ///
    /// That holds if the text is incomplete and its last line is not empty.
    ///
    /// ```
    /// use livefusion_repl::shell::{Assistant, Vocabulary};
    /// struct Few;
    /// impl Vocabulary for Few {
    ///     fn names(&self) -> Vec<String> { vec!["map".into()] }
    ///     fn commands(&self) -> Vec<String> { vec!["type".into(), "save".into()] }
    ///     fn takes_expression(&self, command: &str) -> bool { command == "type" }
    ///     fn arguments(&self, _: &str) -> Option<String> { None }
    /// }
    /// let shell = Assistant::new(Few);
    /// assert!(shell.wants_more("xs |> map(|x| {") && shell.wants_more(":type xs +"));
    /// assert!(!shell.wants_more("xs)") && !shell.wants_more(":save a+") && !shell.wants_more("xs +\n"));
    /// ```
    pub fn wants_more(&self, text: &str) -> bool {
        let script = match command(text) {
            Some((name, rest)) if self.vocabulary.takes_expression(name) => rest,
            Some(_) => return false,
            None => text,
        };
        let given_up = text.trim_end_matches([' ', '\t']).ends_with('\n');
        let mut sources = Sources::default();
        let source = sources.add("", script);
        !given_up && parse(&sources, source).is_err_and(|e| e.incomplete)
    }

    fn complete_at(&self, line: &str, pos: usize) -> Option<(usize, Vec<Pair>)> {
        let (start, wanted) = complete::at(line, pos);
        let names = match wanted {
            Wanted::File => return self.files.complete_path(line, pos).ok(),
            Wanted::Nothing => Vec::new(),
            Wanted::Command => self.vocabulary.commands(),
            Wanted::Member(before) => self.vocabulary.members(before),
            Wanted::Name => {
                let words = crate::grammar::RESERVED.iter().map(|w| w.to_string());
                self.vocabulary.names().into_iter().chain(words).collect()
            }
        };
        let typed = &line[start..pos];
        let mut names: Vec<_> = names.into_iter().filter(|n| n.starts_with(typed)).collect();
        names.sort_unstable();
        names.dedup();
        let pair = |name: String| Pair {
            display: name.clone(),
            replacement: name,
        };
        Some((start, names.into_iter().map(pair).collect()))
    }
}

/// Splits a command into its name and its argument.
///
/// ```
/// use livefusion_repl::shell::command;
/// assert_eq!(command(" :type xs + 1"), Some(("type", " xs + 1")));
/// assert_eq!(command("xs"), None);
/// ```
pub fn command(text: &str) -> Option<(&str, &str)> {
    let rest = text.trim_start().strip_prefix(':')?;
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    Some(rest.split_at(end))
}

impl<V: Vocabulary> Helper for Assistant<V> {}

impl<V: Vocabulary> Completer for Assistant<V> {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        pos: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        Ok(self.complete_at(line, pos).unwrap_or((pos, Vec::new())))
    }
}

impl<V: Vocabulary> Validator for Assistant<V> {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match self.wants_more(context.input()) {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}

impl<V: Vocabulary> Highlighter for Assistant<V> {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        Cow::Owned(coloured(line))
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(format!("\x1b[90m{hint}\x1b[0m"))
    }

    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        kind != CmdKind::MoveCursor
    }
}

/// Describes a hint after the cursor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LineHint {
    /// The rest of an earlier line, which the right arrow accepts.
    Before(String),
    /// The arguments of a call, for display only.
    Arguments(String),
}

impl Hint for LineHint {
    fn display(&self) -> &str {
        match self {
            LineHint::Before(text) | LineHint::Arguments(text) => text,
        }
    }

    fn completion(&self) -> Option<&str> {
        match self {
            LineHint::Before(text) => Some(text),
            LineHint::Arguments(_) => None,
        }
    }
}

impl<V: Vocabulary> Hinter for Assistant<V> {
    type Hint = LineHint;

    fn hint(&self, line: &str, pos: usize, context: &Context<'_>) -> Option<LineHint> {
        if let Some(name) = complete::called(line, pos)
            && let Some(arguments) = self.vocabulary.arguments(name)
        {
            return Some(LineHint::Arguments(arguments));
        }
        let rest = self.before.hint(line, pos, context)?;
        // A hint of several lines would move the prompt.
        (!rest.contains('\n')).then_some(LineHint::Before(rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustyline::history::{DefaultHistory, History};

    struct Few;

    impl Vocabulary for Few {
        fn names(&self) -> Vec<String> {
            ["filter", "first", "fold", "xs", "f64::MAX"]
                .map(String::from)
                .to_vec()
        }

        fn members(&self, before: &str) -> Vec<String> {
            match before {
                "pair" => vec!["0".into(), "1".into()],
                _ => vec!["filter".into(), "fold".into()],
            }
        }

        fn commands(&self) -> Vec<String> {
            ["type", "time", "save"].map(String::from).to_vec()
        }

        fn takes_expression(&self, command: &str) -> bool {
            command != "save"
        }

        fn arguments(&self, name: &str) -> Option<String> {
            (name == "fold").then(|| "init, |a, b| …".into())
        }
    }

    #[test]
    fn completes_what_can_stand_there() {
        let shell = Assistant::new(Few);
        let complete = |text: &str| {
            let (start, found) = shell.complete_at(text, text.len()).unwrap_or_default();
            let found = found.into_iter().map(|p| p.replacement).collect::<Vec<_>>();
            format!("{} {}", &text[..start], found.join(" "))
        };
        assert_eq!(complete("xs |> fi"), "xs |>  filter first");
        assert_eq!(complete("xs.f"), "xs. filter fold");
        assert_eq!(complete("pair."), "pair. 0 1");
        assert_eq!(complete("1 + f64::M"), "1 +  f64::MAX");
        assert_eq!(complete("le"), " let");
        assert_eq!(complete(":t"), ": time type");
        assert_eq!(complete(":type fo"), ":type  fold");
        assert_eq!(complete("x # fi"), "x # fi ");
        assert_eq!(complete("12"), "12 ");
        let manifest = concat!("load \"", env!("CARGO_MANIFEST_DIR"), "/Carg");
        assert!(complete(manifest).ends_with("Cargo.toml"));
        let (start, found) = shell.complete_at("fi + xs", 2).unwrap_or_default();
        assert_eq!((start, found.len()), (0, 2));
    }

    #[test]
    fn asks_for_more() {
        let shell = Assistant::new(Few);
        for text in [
            "f(1,",
            "xs |>",
            "let a =",
            ":time [1,",
            "if a",
            "|x| {\n  let y = x\n",
        ] {
            assert_eq!(shell.wants_more(text), !text.ends_with('\n'), "{text}");
        }
        for text in ["", "xs", "f(1 2", "1 + )", ":save (", "\"abc", "f(1,\n  "] {
            assert!(!shell.wants_more(text), "{text}");
        }
    }

    #[test]
    fn hints() {
        let shell = Assistant::new(Few);
        let mut history = DefaultHistory::new();
        history.add("xs.sum()").expect("room");
        let context = Context::new(&history);
        let hint = |text: &str| shell.hint(text, text.len(), &context);
        assert_eq!(hint("xs.s"), Some(LineHint::Before("um()".into())));
        let arguments = LineHint::Arguments("init, |a, b| …".into());
        assert_eq!(hint("xs.fold("), Some(arguments));
        assert_eq!(hint("ys"), None);
    }
}
