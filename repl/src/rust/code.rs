//! Pieces of generated Rust: precedence, and line breaks in long call chains.

use crate::value::Elt;
use loop_lang::{Const, Ty};

/// Lists precedences of expressions, from closures to receivers of methods.
pub mod level {
    #![allow(missing_docs, reason = "the names say it")]
    pub const CLOSURE: u8 = 0;
    pub const OR: u8 = 1;
    pub const XOR: u8 = 2;
    pub const AND: u8 = 3;
    pub const SHIFT: u8 = 4;
    pub const SUM: u8 = 5;
    pub const PRODUCT: u8 = 6;
    pub const UNARY: u8 = 7;
    pub const DOT: u8 = 8;
}

/// Holds an expression's text and precedence.
#[derive(Clone, Debug)]
pub struct Code {
    /// Its text.
    pub text: String,
    /// Its precedence.
    pub level: u8,
    /// The positions of the dots of its outermost chain.
    links: Vec<usize>,
    /// Its parts, if it is a tuple.
    parts: Vec<String>,
}

impl Code {
    /// Creates a piece of this precedence.
    pub fn new(text: impl Into<String>, level: u8) -> Code {
        Code {
            text: text.into(),
            level,
            links: Vec::new(),
            parts: Vec::new(),
        }
    }

    /// Creates a piece that can be a receiver.
    pub fn atom(text: impl Into<String>) -> Code {
        Code::new(text, level::DOT)
    }

    /// Adds parentheses if the precedence is too low.
    pub fn at(self, level: u8) -> Code {
        match self.level >= level {
            true => self,
            false => Code::atom(format!("({})", self.text)),
        }
    }

    /// Returns a reference to it.
    pub fn borrowed(self) -> Code {
        Code::new(format!("&{}", self.at(level::UNARY).text), level::UNARY)
    }

    /// Returns `self.name(args)`.
    pub fn call(self, name: &str, args: &[String]) -> Code {
        let of = self.at(level::DOT);
        let mut links = of.links;
        links.push(of.text.len());
        Code {
            text: format!("{}.{name}({})", of.text, args.join(", ")),
            level: level::DOT,
            links,
            parts: Vec::new(),
        }
    }

    /// Returns `self op other`, associating to the left.
    pub fn operator(self, op: &str, level: u8, other: Code) -> Code {
        let (left, right) = (self.at(level).text, other.at(level + 1).text);
        Code::new(format!("{left} {op} {right}"), level)
    }

    /// Returns its text, with one call or part per line if it is long.
    pub fn broken(&self, before: usize) -> String {
        const LONG: usize = 96;
        if before + self.text.chars().count() <= LONG {
            return self.text.clone();
        }
        if !self.parts.is_empty() {
            let lines: String = self
                .parts
                .iter()
                .map(|p| format!("        {p},\n"))
                .collect();
            return format!("(\n{lines}    )");
        }
        if self.links.len() < 2 {
            return self.text.clone();
        }
        let mut text = String::new();
        let mut from = 0;
        for link in &self.links {
            text += &self.text[from..*link];
            text += "\n        ";
            from = *link;
        }
        text + &self.text[from..]
    }
}

/// Returns a number as a literal of a type, with an optional suffix.
pub fn integer(n: i128, ty: Ty, suffix: bool) -> Code {
    if ty.is_float() {
        return float(n as f64, ty, suffix);
    }
    let suffix = if suffix { ty.name() } else { "" };
    signed(format!("{n}{suffix}"))
}

/// Returns a float literal like [`integer`].
pub fn float(x: f64, ty: Ty, suffix: bool) -> Code {
    let name = ty.name();
    if x.is_nan() {
        return Code::atom(format!("{name}::NAN"));
    }
    if x.is_infinite() {
        let sign = if x > 0.0 { "" } else { "NEG_" };
        return Code::atom(format!("{name}::{sign}INFINITY"));
    }
    let text = match ty {
        Ty::F32 => format!("{:?}", x as f32),
        _ => format!("{x:?}"),
    };
    signed(text + if suffix { name } else { "" })
}

fn signed(text: String) -> Code {
    let level = if text.starts_with('-') {
        level::UNARY
    } else {
        level::DOT
    };
    Code::new(text, level)
}

/// Returns a constant with its type.
pub fn constant(c: Const) -> Code {
    match c.ty {
        Ty::Bool => Code::atom((c.bits != 0).to_string()),
        Ty::F32 => float(f64::from(f32::from_bits(c.bits as u32)), c.ty, true),
        Ty::F64 => float(f64::from_bits(c.bits), c.ty, true),
        ty if ty.is_signed() => integer(i128::from(c.bits as i64), ty, true),
        ty => integer(i128::from(c.bits), ty, true),
    }
}

/// Returns constants as the element that they form.
pub fn known(fields: &mut dyn Iterator<Item = Const>, elt: &Elt) -> Code {
    match elt {
        Elt::Scalar(_) | Elt::Count | Elt::Text(_) | Elt::Time(_) => {
            fields.next().map_or_else(|| Code::atom("()"), constant)
        }
        Elt::Tuple(_) | Elt::Row(..) | Elt::Maybe(_) => {
            let parts: Vec<_> = elt.parts().iter().map(|p| known(fields, p).text).collect();
            tuple(&parts)
        }
    }
}

/// Returns `(a, b)`.
pub fn tuple(parts: &[String]) -> Code {
    let text = match parts {
        [one] => format!("({one},)"),
        parts => format!("({})", parts.join(", ")),
    };
    Code {
        parts: parts.to_vec(),
        ..Code::atom(text)
    }
}

/// Returns a name, escaped if it is a Rust keyword.
pub fn ident(name: &str) -> String {
    const WORDS: &[&str] = &[
        "as", "async", "await", "box", "break", "const", "continue", "dyn", "enum", "extern", "fn",
        "for", "gen", "impl", "in", "loop", "match", "mod", "move", "mut", "pub", "ref", "return",
        "static", "struct", "trait", "try", "type", "typeof", "unsafe", "unsized", "use",
        "virtual", "where", "while", "yield", "abstract", "become", "do", "final", "macro",
        "override", "priv",
    ];
    match name {
        "_" => "r#_".into(),
        "crate" | "self" | "super" | "Self" => format!("{name}_"),
        name if WORDS.contains(&name) => format!("r#{name}"),
        name => name.to_string(),
    }
}
