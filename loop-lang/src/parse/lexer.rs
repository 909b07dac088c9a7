//! Tokens of the text form. Line ends are tokens: a statement ends with its line.

use logos::Logos;

/// A token's kind; its span has the text.
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip(r"[ \t\r]+"))]
#[logos(skip(r"#[^\n]*", allow_greedy = true))]
pub(crate) enum Tok {
    #[token("\n")]
    Newline,
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
    Word,
    /// A number with its type's suffix, or a combinator's name.
    #[regex(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?([A-Za-z][A-Za-z0-9]*)?")]
    Number,
    #[token("-inf")]
    NegInf,
    #[token(":=")]
    Assign,
    #[token("->")]
    Arrow,
    #[token(":")]
    Colon,
    #[token(";")]
    Semicolon,
    #[token(",")]
    Comma,
    #[token(".")]
    Dot,
    #[token("=")]
    Equals,
    #[token("|")]
    Bar,
    #[token("<")]
    Less,
    #[token("@")]
    At,
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
    /// The end of the text, repeated after the last token.
    End,
}

impl Tok {
    /// Returns the token's name in error messages.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Tok::Newline => "the end of the line",
            Tok::Word => "a name",
            Tok::Number => "a number",
            Tok::NegInf => "`-inf`",
            Tok::Assign => "`:=`",
            Tok::Arrow => "`->`",
            Tok::Colon => "`:`",
            Tok::Semicolon => "`;`",
            Tok::Comma => "`,`",
            Tok::Dot => "`.`",
            Tok::Equals => "`=`",
            Tok::Bar => "`|`",
            Tok::Less => "`<`",
            Tok::At => "`@`",
            Tok::Open => "`(`",
            Tok::Close => "`)`",
            Tok::OpenSquare => "`[`",
            Tok::CloseSquare => "`]`",
            Tok::OpenBrace => "`{`",
            Tok::CloseBrace => "`}`",
            Tok::End => "the end of the text",
        }
    }
}

/// A token with its byte range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Tok,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Splits a text into tokens; unknown spans are returned separately.
pub(crate) fn tokens(text: &str) -> (Vec<Token>, Vec<(usize, usize)>) {
    let (mut tokens, mut unknown) = (Vec::new(), Vec::new());
    for (kind, span) in Tok::lexer(text).spanned() {
        match kind {
            Ok(kind) => tokens.push(Token {
                kind,
                start: span.start,
                end: span.end,
            }),
            Err(()) => unknown.push((span.start, span.end)),
        }
    }
    (tokens, unknown)
}
