//! A C function being written, whatever its kind: lines, operands, names.

use super::ideas::Idea;
use super::ops::Helpers;
use crate::facts::Facts;
use crate::names::{Facet, Names};
use loop_lang::ir::{Atom, CombId, GroupId, Loop, Order, Place, RateId, Type, Var};
use loop_lang::types::Ty;

/// What kind of function is written.
#[derive(Clone, Copy)]
pub enum Mode {
    /// The state machine: every variable is declared up front, control flow is gotos.
    Machine,
    /// A tile, or a combine function: variables are declared where they are defined.
    Function,
}

/// A C function being written.
pub struct Unit<'a> {
    /// The loop.
    pub program: &'a Loop,
    /// What is known about it.
    pub facts: &'a Facts<'a>,
    /// Arrays that the loop makes, by slot.
    pub made: &'a [Var],
    /// C names.
    pub names: &'a Names,
    /// Helper functions, collected for the file.
    pub helpers: &'a mut Helpers,
    /// The text so far.
    pub out: String,
    /// Levels of indentation.
    pub depth: usize,
    /// The kind of function.
    pub mode: Mode,
    /// Where the block that is written is in the rate tree.
    pub place: Place,
    /// The combinator last named in a comment.
    pub comb: Option<CombId>,
    /// Whether scalar loops look at `lf_halt`, which every function has then: see [`super::stop`].
    pub stops: bool,
}

impl<'a> Unit<'a> {
    /// Notes that the text makes use of an idea.
    pub(super) fn uses(&mut self, idea: Idea) {
        self.helpers.ideas.insert(idea);
    }

    /// Adds a line.
    pub fn line(&mut self, text: impl AsRef<str>) {
        let depth = if text.as_ref().is_empty() {
            0
        } else {
            self.depth
        };
        for _ in 0..depth {
            self.out.push_str("  ");
        }
        self.out.push_str(text.as_ref());
        self.out.push('\n');
    }

    /// Adds a line that opens a brace.
    pub fn open(&mut self, text: impl AsRef<str>) {
        self.line(text);
        self.depth += 1;
    }

    /// Closes a brace.
    pub fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    /// The C expression for a value as readers see it.
    pub fn atom(&mut self, a: Atom) -> String {
        let v = match a {
            Atom::Const(c) => return self.helpers.constant(c),
            Atom::Var(v) => v,
        };
        match self.facts.local_group(self.program, v) {
            Some((_, _, Order::Prefix(_))) => self.names.facet(v, Facet::Now).to_string(),
            Some((g, ..)) if matches!(self.mode, Mode::Machine) => {
                if self.inside(g) {
                    self.lane(g, v)
                } else {
                    self.names.facet(v, Facet::Joined).to_string()
                }
            }
            _ => self.names.var(v).to_string(),
        }
    }

    /// Whether the block that is written runs inside of the loop that updates `g`.
    pub fn inside(&self, g: GroupId) -> bool {
        self.facts.inside(self.program, g, self.place)
    }

    /// The innermost loop rate around the block that is written.
    pub fn loop_rate(&self) -> Option<RateId> {
        self.facts.chain(self.program, self.place).first().copied()
    }

    /// The element's lane of a variable.
    pub fn lane(&self, g: GroupId, v: Var) -> String {
        let lanes = match self.program.groups[g.index()].order {
            Order::Lanes(l) | Order::Prefix(l) => l,
            Order::Runs(_) => return format!("{}[1]", self.names.facet(v, Facet::Lanes)),
            Order::Exact | Order::Sequential => 1,
        };
        format!(
            "{}[{}]",
            self.names.facet(v, Facet::Lanes),
            self.lane_index(g, lanes)
        )
    }

    /// The element's position in a group of `lanes`.
    pub(super) fn lane_index(&self, g: GroupId, lanes: u32) -> String {
        let mask = lanes - 1;
        if lanes == 1 {
            return "0".into();
        }
        let rate = self.loop_rate().and_then(|r| self.facts.lane_rate(g, r));
        match rate.and_then(|r| self.program.rate(r).kind.counter()) {
            Some(counter) => format!("{} & {mask}", self.names.var(counter)),
            None => "0".into(),
        }
    }

    /// The pointer variable of an array; slices share their array's.
    pub fn array(&self, a: Var) -> String {
        self.names.var(self.owner(a)).to_string()
    }

    /// What puts rows of arrays in order: so many, or as many as all of them have.
    pub(super) fn sorts(&mut self, arrays: &[Var], rows: String) -> String {
        let types: Vec<Ty> = arrays.iter().map(|a| self.program.ty(*a).elem()).collect();
        let name = self.helpers.sort(&types);
        let of_all = |rows: String, a: &Var| format!("lf_least({rows}, {})", self.length(*a));
        let rows = arrays.iter().fold(rows, of_all);
        let names: Vec<String> = arrays.iter().map(|a| self.array(*a)).collect();
        format!("{name}({}, {rows});", names.join(", "))
    }

    /// The length variable of an array.
    pub fn length(&self, a: Var) -> String {
        self.names.facet(self.owner(a), Facet::Length).to_string()
    }

    pub(super) fn owner(&self, a: Var) -> Var {
        self.facts.owner(self.program, self.made, a)
    }

    /// `u64 x` where variables are declared in place, `x` where they are already.
    pub(super) fn define(&self, v: Var) -> String {
        match (self.mode, self.program.ty(v)) {
            (Mode::Function, Type::Scalar(ty)) => {
                format!("{} {}", ty.name(), self.names.var(v))
            }
            _ => self.names.var(v).to_string(),
        }
    }

    /// The flag that a trap sets.
    pub(super) fn trapped(&self) -> &'static str {
        if let Mode::Function = self.mode {
            "*trapped"
        } else {
            "trapped"
        }
    }
}

/// A comment that no name in it can end early.
pub fn comment(text: &str) -> String {
    let inner = text.trim_start_matches("/*").trim_end_matches("*/");
    let clean: String = inner
        .replace("*/", "* /")
        .replace("/*", "/ *")
        .chars()
        .map(|c| {
            if c == ' ' || c.is_ascii_graphic() && c != '\\' {
                c
            } else {
                '_'
            }
        })
        .collect();
    format!("/*{clean}*/")
}
