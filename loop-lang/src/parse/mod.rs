//! Parser of the text form: recursive descent over lines.
//!
//! It continues after a fault, and so reports all faults at once. It checks only the form;
//! [`crate::verify`](mod@crate::verify) checks the rest.

mod block;
mod header;
pub(crate) mod infer;
mod lexer;
mod literal;

use crate::ir::*;
use crate::words::default_owner;
use infer::Rule;
use lexer::{Tok, Token};
use rustc_hash::FxHashMap;

/// Describes a syntax error in a text.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct ParseError {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// The expected and the actual text.
    pub message: String,
}

/// Parses a loop from its text form.
///
/// Gotos may be omitted; see [`crate::gotos::derive_gotos`].
pub fn parse(text: &str) -> Result<Loop, Vec<ParseError>> {
    let (tokens, unknown) = lexer::tokens(text);
    let mut parser = Parser::new(text, tokens);
    for (start, end) in unknown {
        parser.fault_at(start, format!("`{}` means nothing here", &text[start..end]));
    }
    parser.names();
    parser.program();
    parser.types();
    if parser.faults.is_empty() {
        Ok(parser.program)
    } else {
        Err(positions(text, parser.faults))
    }
}

/// Marks a recorded fault; the caller skips to the next line.
struct Fail;
type Parsed<T> = Result<T, Fail>;

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    /// Byte offset and message.
    faults: Vec<(usize, String)>,
    program: Loop,
    combs: FxHashMap<&'a str, CombId>,
    rates: FxHashMap<&'a str, RateId>,
    functions: FxHashMap<&'a str, FnId>,
    vars: FxHashMap<&'a str, Var>,
    /// The type rule of each variable, and the byte of its first use.
    rules: Vec<(Rule, usize)>,
    /// Groups by their first variables.
    groups: FxHashMap<Var, GroupId>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, tokens: Vec<Token>) -> Parser<'a> {
        Parser {
            text,
            tokens,
            at: 0,
            faults: Vec::new(),
            program: Loop::default(),
            combs: FxHashMap::default(),
            rates: FxHashMap::default(),
            functions: FxHashMap::default(),
            vars: FxHashMap::default(),
            rules: Vec::new(),
            groups: FxHashMap::default(),
        }
    }

    fn program(&mut self) {
        let mut block = None;
        loop {
            match self.peek() {
                Tok::End => break,
                Tok::Newline => self.bump(),
                _ => {
                    if self.line(&mut block).is_err() {
                        self.skip_line();
                    }
                }
            }
        }
        self.close(block);
        if self.program.name.is_empty() && self.faults.is_empty() {
            self.faults.push((0, "expected `loop NAME`".into()));
        }
    }

    /// Assigns every variable its type.
    fn types(&mut self) {
        let rules: Vec<Rule> = self.rules.iter().map(|(rule, _)| rule.clone()).collect();
        // After other faults, a missing definition is a consequence.
        let report = self.faults.is_empty();
        for (v, ty) in infer::resolve(&rules).into_iter().enumerate() {
            let data = &mut self.program.vars[v];
            match (ty, &rules[v]) {
                (Some(ty), _) => data.ty = ty,
                (None, Rule::Missing) if report => {
                    let message = format!("`{}` is never defined", data.name);
                    self.faults.push((self.rules[v].1, message));
                }
                (None, _) if report => {
                    let message = format!(
                        "cannot tell the type of `{0}`: write it, as in `{0}: f64`",
                        data.name
                    );
                    self.faults.push((self.rules[v].1, message));
                }
                _ => {}
            }
        }
    }

    // Tokens.

    fn token(&self) -> Token {
        let end = self.text.len();
        self.tokens.get(self.at).copied().unwrap_or(Token {
            kind: Tok::End,
            start: end,
            end,
        })
    }

    fn peek(&self) -> Tok {
        self.token().kind
    }

    fn peek_after(&self) -> Tok {
        self.tokens.get(self.at + 1).map_or(Tok::End, |t| t.kind)
    }

    /// Returns the text of the token ahead.
    fn word(&self) -> &'a str {
        let token = self.token();
        &self.text[token.start..token.end]
    }

    fn bump(&mut self) {
        self.at += 1;
    }

    fn eat(&mut self, kind: Tok) -> bool {
        let met = self.peek() == kind;
        if met {
            self.bump();
        }
        met
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let met = self.peek() == Tok::Word && self.word() == word;
        if met {
            self.bump();
        }
        met
    }

    fn expect(&mut self, kind: Tok) -> Parsed<()> {
        match self.eat(kind) {
            true => Ok(()),
            false => self.expected(kind.describe()),
        }
    }

    fn expect_word(&mut self, word: &str) -> Parsed<()> {
        match self.eat_word(word) {
            true => Ok(()),
            false => self.expected(&format!("`{word}`")),
        }
    }

    fn end_of_line(&mut self) -> Parsed<()> {
        if self.peek() == Tok::End {
            return Ok(());
        }
        self.expect(Tok::Newline)
    }

    /// Recovers from a fault: skips to the next line, past any region that this line opens.
    fn skip_line(&mut self) {
        let mut depth = 0usize;
        loop {
            match self.peek() {
                Tok::End => return,
                Tok::OpenBrace => depth += 1,
                Tok::CloseBrace => depth = depth.saturating_sub(1),
                Tok::Newline if depth == 0 => return self.bump(),
                _ => {}
            }
            self.bump();
        }
    }

    // Faults.

    fn fault_at(&mut self, offset: usize, message: String) {
        self.faults.push((offset, message));
    }

    fn fault<T>(&mut self, message: String) -> Parsed<T> {
        self.fault_at(self.token().start, message);
        Err(Fail)
    }

    fn expected<T>(&mut self, what: &str) -> Parsed<T> {
        let found = match self.peek() {
            kind @ (Tok::Newline | Tok::End) => kind.describe().to_string(),
            _ => format!("`{}`", self.word()),
        };
        self.fault(format!("expected {what}, found {found}"))
    }

    // Names.

    /// Reads any word.
    fn name(&mut self, what: &str) -> Parsed<&'a str> {
        if self.peek() != Tok::Word {
            return self.expected(what);
        }
        let word = self.word();
        self.bump();
        Ok(word)
    }

    /// Reads a combinator's name: a word or a number.
    fn comb_name(&mut self) -> Parsed<&'a str> {
        let word = self.word();
        let plain = word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !matches!(self.peek(), Tok::Word | Tok::Number) || !plain {
            return self.expected("a combinator's name");
        }
        self.bump();
        Ok(word)
    }

    fn comb(&mut self) -> Parsed<CombId> {
        let start = self.token().start;
        let name = self.comb_name()?;
        match self.combs.get(name) {
            Some(c) => Ok(*c),
            None => {
                self.fault_at(start, format!("there is no combinator `{name}`"));
                Err(Fail)
            }
        }
    }

    fn rate_ref(&mut self) -> Parsed<RateId> {
        let start = self.token().start;
        let name = self.name("a rate's name")?;
        match self.rates.get(name) {
            Some(r) => Ok(*r),
            None => {
                self.fault_at(start, format!("there is no rate `{name}`"));
                Err(Fail)
            }
        }
    }

    fn label(&mut self) -> Parsed<Label> {
        let start = self.token().start;
        let name = self.name("a label such as `body_3`")?;
        let parts = name.split_once('_').and_then(|(section, comb)| {
            let section = Section::ALL.into_iter().find(|s| s.name() == section)?;
            Some((section, comb))
        });
        let Some((section, comb)) = parts else {
            self.fault_at(
                start,
                format!("expected a label such as `body_3`, found `{name}`"),
            );
            return Err(Fail);
        };
        match self.combs.get(comb) {
            Some(&comb) => Ok(Label { section, comb }),
            None => {
                self.fault_at(
                    start,
                    format!("label `{name}`: there is no combinator `{comb}`"),
                );
                Err(Fail)
            }
        }
    }

    /// Reads a variable, used or defined.
    fn var(&mut self) -> Parsed<Var> {
        let start = self.token().start;
        let name = self.name("a variable")?;
        if let Some(v) = self.vars.get(name) {
            return Ok(*v);
        }
        // The type is resolved at the end.
        let v = self
            .program
            .new_var(name, Type::Scalar(crate::types::Ty::U64));
        self.vars.insert(name, v);
        self.rules.push((Rule::Missing, start));
        Ok(v)
    }

    /// Reads a defined variable, with its type if that is written.
    fn define(&mut self) -> Parsed<(Var, Option<Type>)> {
        let v = self.var()?;
        let ty = if self.eat(Tok::Colon) {
            Some(self.ty()?)
        } else {
            None
        };
        Ok((v, ty))
    }

    /// Sets a defined variable's type rule; the first definition counts.
    fn settle(&mut self, (v, written): (Var, Option<Type>), rule: Rule) {
        let slot = &mut self.rules[v.index()].0;
        if matches!(slot, Rule::Missing) {
            *slot = written.map_or(rule, Rule::Known);
        }
    }

    /// Reads one or more items separated by commas.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat(Tok::Comma) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// ` @comb`, or the combinator implied by the preceding text.
    fn owner(&mut self, implied: Option<CombId>) -> Parsed<CombId> {
        if self.eat(Tok::At) {
            return self.comb();
        }
        match implied {
            Some(c) => Ok(c),
            None => self.expected("`@` and the combinator that this belongs to"),
        }
    }

    fn owner_of(&mut self, v: Option<Var>) -> Parsed<CombId> {
        let implied = v.and_then(|v| {
            let comb = default_owner(&self.program.vars[v.index()].name)?;
            self.combs.get(comb).copied()
        });
        self.owner(implied)
    }
}

/// Converts byte offsets to lines and columns.
fn positions(text: &str, mut faults: Vec<(usize, String)>) -> Vec<ParseError> {
    faults.sort_by_key(|f| f.0);
    let mut chars = text.char_indices().peekable();
    let (mut line, mut column) = (1, 1);
    let mut errors = Vec::with_capacity(faults.len());
    for (offset, message) in faults {
        while let Some((_, c)) = chars.next_if(|(at, _)| *at < offset) {
            (line, column) = match c {
                '\n' => (line + 1, 1),
                _ => (line, column + 1),
            };
        }
        errors.push(ParseError {
            line,
            column,
            message,
        });
    }
    errors
}
