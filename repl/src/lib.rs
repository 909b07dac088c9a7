//! `lf`, a small language over the combinators of livefusion, and its shell.
//!
//! [`parse`] turns a text into a tree, by the tables in [`grammar`]. [`eval`] turns the tree into a
//! graph of the library's nodes. [`session`] forces these nodes when it shows them.
//!
//! ```
//! use livefusion_repl::session::Session;
//! let mut session = Session::new();
//! let answer = session.submit("<1>", "let xs = 0..10\nxs |> filter(_ > 3) |> sum");
//! assert_eq!(answer.out, "39\n");
//! ```
//!
//! ```
//! use livefusion_repl::{Sources, parse};
//! let mut sources = Sources::default();
//! let source = sources.add("<1>", "let xs = 0..10\nxs |> filter(_ > 3) |> sum");
//! let script = parse(&sources, source)?;
//! assert_eq!(script.to_string(), "let xs = 0..10\nxs |> filter(_ > 3) |> sum\n");
//!
//! let source = sources.add("<2>", "(1 + 2");
//! assert!(parse(&sources, source).unwrap_err().incomplete); // a shell asks for another line
//! # Ok::<(), livefusion_repl::ParseError>(())
//! ```

pub mod combinators;
pub mod commands;
pub mod diagnostic;
pub mod display;
pub mod eval;
pub mod grammar;
mod grid;
pub mod holes;
mod lexer;
mod literal;
pub mod meaning;
mod nearest;
mod outline;
mod parser;
mod print;
pub mod progress;
pub mod rust;
pub mod session;
pub mod shell;
pub mod source;
pub mod syntax;
pub mod table;
pub mod terminal;
pub mod trace;
pub mod value;

pub use diagnostic::{Diagnostic, Suggestion};
pub use nearest::nearest;
pub use parser::{ParseError, continues, parse};
pub use source::{Place, SourceId, Sources, Span};
pub use syntax::Script;
