//! Tokens, and the line ends that end statements.

use crate::grammar;
use logos::Logos;

/// A token's kind; its text is in its span.
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip(r"[ \t\r]+"))]
pub(crate) enum Tok {
    #[token("\n")]
    Newline,
    #[regex(r"#[^\n]*", allow_greedy = true)]
    Comment,
    #[token(";")]
    Semicolon,
    #[token("let")]
    Let,
    #[token("def")]
    Def,
    #[token("if")]
    If,
    #[token("then")]
    Then,
    #[token("else")]
    Else,
    #[token("as")]
    As,
    #[token("ragged")]
    Ragged,
    #[token("lambda")]
    Lambda,
    #[token("true")]
    #[token("True")]
    True,
    #[token("false")]
    #[token("False")]
    False,
    /// A name, perhaps a path such as `f64::MAX`, or the hole `_`.
    #[regex(r"[\p{XID_Start}_]\p{XID_Continue}*(::[\p{XID_Start}_]\p{XID_Continue}*)*")]
    Word,
    /// A number with all letters that follow it: its type, or an error that reports them.
    #[regex(r"[0-9][0-9_]*(\.[0-9][0-9_]*)?([eE][+-]?[0-9_]+)?([A-Za-z][A-Za-z0-9_]*)?")]
    #[regex(r"0[xob][0-9A-Za-z_]*", priority = 30)]
    Number,
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    #[regex(r#"'([^'\\\n]|\\[^\n])*'"#)]
    Text,
    /// An unterminated string, which ends with its line.
    #[regex(r#""([^"\\\n]|\\[^\n])*"#)]
    #[regex(r#"'([^'\\\n]|\\[^\n])*"#)]
    OpenText,
    /// An operator of `grammar::TABLE`, or a bar around a function's parameters.
    #[token("|>")]
    #[token("..")]
    #[token("..=")]
    #[token("||")]
    #[token("or")]
    #[token("&&")]
    #[token("and")]
    #[token("not")]
    #[token("==")]
    #[token("!=")]
    #[token("<")]
    #[token("<=")]
    #[token(">")]
    #[token(">=")]
    #[token("|")]
    #[token("&")]
    #[token("<<")]
    #[token(">>")]
    #[token("+")]
    #[token("-")]
    #[token("*")]
    #[token("**")]
    #[token("/")]
    #[token("//")]
    #[token("%")]
    #[token("@")]
    #[token("!")]
    #[token("~")]
    Operator,
    /// A sign with two meanings in other languages, and none here.
    #[token("^")]
    Caret,
    #[token("\\")]
    Backslash,
    #[token("->")]
    Arrow,
    #[token("=>")]
    FatArrow,
    #[token("=")]
    Equals,
    #[token(":")]
    Colon,
    #[token(",")]
    Comma,
    #[token(".")]
    Dot,
    #[token("(")]
    Open,
    #[token(")")]
    Close,
    #[token("[")]
    OpenSquare,
    #[token("]")]
    CloseSquare,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    /// Characters that begin no token.
    Unknown,
    /// The end of the text, which repeats forever after the last token.
    End,
}

impl Tok {
    /// Whether the statement continues after the line that the token ends.
    fn wants_more(self, text: &str) -> bool {
        match self {
            Tok::Operator => !grammar::may_end(text),
            Tok::Let | Tok::Def | Tok::If | Tok::Then | Tok::Else | Tok::As | Tok::Ragged => true,
            Tok::Backslash | Tok::Lambda | Tok::Arrow | Tok::FatArrow => true,
            Tok::Equals | Tok::Comma | Tok::Dot => true,
            Tok::Open | Tok::OpenSquare | Tok::OpenBrace | Tok::Semicolon | Tok::Newline => true,
            _ => false,
        }
    }

    /// Whether the token may begin a statement or an expression. A line that begins with any other
    /// token continues the previous statement.
    pub(crate) fn begins(self, text: &str) -> bool {
        match self {
            Tok::Operator => grammar::may_begin(text),
            Tok::Then | Tok::Else | Tok::As | Tok::Arrow | Tok::FatArrow => false,
            Tok::Equals | Tok::Comma | Tok::Caret => false,
            Tok::Dot | Tok::Close | Tok::CloseSquare | Tok::CloseBrace => false,
            Tok::Semicolon | Tok::Newline | Tok::Comment | Tok::End => false,
            _ => true,
        }
    }

    /// Whether the token opens a bracket, and its closing token.
    pub(crate) fn closer(self) -> Option<(Tok, &'static str)> {
        match self {
            Tok::Open => Some((Tok::Close, "`)`")),
            Tok::OpenSquare => Some((Tok::CloseSquare, "`]`")),
            Tok::OpenBrace => Some((Tok::CloseBrace, "`}`")),
            _ => None,
        }
    }

    fn closes(self) -> bool {
        matches!(self, Tok::Close | Tok::CloseSquare | Tok::CloseBrace)
    }
}

/// A token with its bytes, and the number of open brackets before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Tok,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) depth: usize,
}

/// All tokens of a text, including comments and line ends.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = Token> {
    Tok::lexer(text).spanned().map(|(kind, span)| Token {
        kind: kind.unwrap_or(Tok::Unknown),
        start: span.start,
        end: span.end,
        depth: 0,
    })
}

/// The tokens for the parser: no comments, and only line ends that end a statement. The last token
/// is the text's end.
pub(crate) fn statements(text: &str) -> Vec<Token> {
    let mut kept: Vec<Token> = Vec::new();
    let mut open: Vec<Tok> = Vec::new();
    let mut line_end: Option<Token> = None;
    for token in tokens(text) {
        match token.kind {
            Tok::Comment => continue,
            Tok::Newline => {
                line_end = line_end.or(Some(token));
                continue;
            }
            _ => {}
        }
        if let Some(end) = line_end.take() {
            // Statements begin with these tokens. Brackets that are still open were forgotten, and
            // only they are reported.
            let names = matches!(token.kind, Tok::Let | Tok::Def);
            while names && open.pop_if(|b| *b != Tok::OpenBrace).is_some() {}
            let inside = matches!(open.last(), Some(Tok::Open | Tok::OpenSquare));
            let more = kept
                .last()
                .is_none_or(|t| t.kind.wants_more(&text[t.start..t.end]));
            let ends = !inside && !more && token.kind.begins(&text[token.start..token.end]);
            let empty = kept
                .last()
                .is_none_or(|t| matches!(t.kind, Tok::Semicolon | Tok::OpenBrace));
            if ends || names && !empty {
                let depth = open.len();
                kept.push(Token { depth, ..end });
            }
        }
        let depth = open.len();
        if token.kind.closes() {
            open.pop();
        } else if token.kind.closer().is_some() {
            open.push(token.kind);
        }
        kept.push(Token { depth, ..token });
    }
    kept.push(Token {
        kind: Tok::End,
        start: text.len(),
        end: text.len(),
        depth: open.len(),
    });
    kept
}
