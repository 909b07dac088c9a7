//! Pieces of Rust's text: how tight they bind, and where a long chain of calls may be broken.

use crate::value::Elt;
use loop_lang::{Const, Ty};

/// How tight an expression binds, from closures to what stands before a dot.
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

/// An expression.
#[derive(Clone, Debug)]
pub struct Code {
    /// Its text.
    pub text: String,
    /// How tight it binds.
    pub level: u8,
    /// Where the dots of its outermost chain are.
    links: Vec<usize>,
    /// What it consists of, if it is a tuple.
    parts: Vec<String>,
}

impl Code {
    /// A piece that binds so tight.
    pub fn new(text: impl Into<String>, level: u8) -> Code {
        Code {
            text: text.into(),
            level,
            links: Vec::new(),
            parts: Vec::new(),
        }
    }

    /// A piece that can stand before a dot.
    pub fn atom(text: impl Into<String>) -> Code {
        Code::new(text, level::DOT)
    }

    /// In parentheses, if it does not bind tight enough.
    pub fn at(self, level: u8) -> Code {
        match self.level >= level {
            true => self,
            false => Code::atom(format!("({})", self.text)),
        }
    }

    /// A reference to it.
    pub fn borrowed(self) -> Code {
        Code::new(format!("&{}", self.at(level::UNARY).text), level::UNARY)
    }

    /// `self.name(args)`
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

    /// `self op other`, from left to right.
    pub fn operator(self, op: &str, level: u8, other: Code) -> Code {
        let (left, right) = (self.at(level).text, other.at(level + 1).text);
        Code::new(format!("{left} {op} {right}"), level)
    }

    /// Its text, a call or a part to a line if that is long.
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

/// A number as a literal of a type, perhaps with its suffix.
pub fn integer(n: i128, ty: Ty, suffix: bool) -> Code {
    if ty.is_float() {
        return float(n as f64, ty, suffix);
    }
    let suffix = if suffix { ty.name() } else { "" };
    signed(format!("{n}{suffix}"))
}

/// As [`integer`], of a float.
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

/// A constant with its type.
pub fn constant(c: Const) -> Code {
    match c.ty {
        Ty::Bool => Code::atom((c.bits != 0).to_string()),
        Ty::F32 => float(f64::from(f32::from_bits(c.bits as u32)), c.ty, true),
        Ty::F64 => float(f64::from_bits(c.bits), c.ty, true),
        ty if ty.is_signed() => integer(i128::from(c.bits as i64), ty, true),
        ty => integer(i128::from(c.bits), ty, true),
    }
}

/// Constants as the element that they make up.
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

/// `(a, b)`
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

/// A name, which may be a word of Rust's.
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
