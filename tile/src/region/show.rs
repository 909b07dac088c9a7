//! Text form of the analysis: a line for each innermost loop and for each of its statements.
//!
//! ```text
//! inner_loop r0: ix_0 below len_0
//!   s1   r0  read    elt_1 = arr_0 at ix_0, by capacity           work 1, wait 1
//!   s4   r1  write   out_4 at ix_3, a count, by capacity          work 1, wait 1
//! ```

use super::{Access, Affine, Effect, Index, InnerLoop, Nest, Region, Role, Statement, Stride};
use livefusion_backend::facts;
use loop_lang::ir::{Atom, Place, RateId, StmtKind, Var};
use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

impl Display for Region<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "region {}", self.program.name)?;
        for nest in self.nests() {
            self.show_nest(nest, f)?;
        }
        self.inner_loops()
            .try_for_each(|s| self.show_inner_loop(s, f))
    }
}

impl Region<'_> {
    fn show_nest(&self, nest: &Nest, f: &mut Formatter<'_>) -> fmt::Result {
        let rates = nest.inner.iter().map(|r| self.rate(*r));
        let rates: Vec<&str> = rates.collect();
        let outer = &nest.outer;
        writeln!(f, "\nnest {} of {}", self.head(outer), rates.join(", "))?;
        self.show_sets(outer, f)?;
        self.show_set("anew", &nest.starts, f)
    }

    fn show_inner_loop(&self, inner_loop: &InnerLoop, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "\ninnermost loop {}", self.head(inner_loop))?;
        self.show_sets(inner_loop, f)?;
        self.show_roles(inner_loop, f)?;
        let mut accesses = inner_loop.accesses.iter().peekable();
        for s in &inner_loop.statements {
            let access = accesses.next_if(|a| a.statement == s.id);
            let rate = match s.sub.and_then(|at| inner_loop.steps[at].block()) {
                Some(i) => match self.facts.blocks[i].place {
                    Place::At { rate, .. } => rate,
                    Place::Init | Place::Return => inner_loop.rate,
                },
                None => inner_loop.rate,
            };
            let (id, cost) = (format!("s{}", s.id), s.cost);
            let inner = if s.top { "" } else { "  " };
            let what = format!("{inner}{}", self.what(inner_loop, s, access));
            writeln!(
                f,
                "  {id:<4} {:<3} {:<7} {what:<48} work {}, wait {}",
                self.rate(rate),
                s.effect,
                cost.work,
                cost.wait
            )?;
        }
        Ok(())
    }

    fn head(&self, inner_loop: &InnerLoop) -> String {
        let exits: String = (inner_loop.exits.iter())
            .map(|a| format!(", while {}", self.atom(*a)))
            .collect();
        format!(
            "{}: {} below {}{exits}",
            self.rate(inner_loop.rate),
            self.program.name(inner_loop.counter),
            self.atom(inner_loop.bound)
        )
    }

    fn show_sets(&self, inner_loop: &InnerLoop, f: &mut Formatter<'_>) -> fmt::Result {
        self.show_set("arrays", &inner_loop.arrays, f)?;
        self.show_set("lengths", &inner_loop.lengths, f)?;
        self.show_set("scalars", &inner_loop.scalars, f)?;
        self.show_set("carried", &inner_loop.carried, f)?;
        let groups = inner_loop.groups.iter();
        let groups = groups.flat_map(|g| &self.program.groups[g.index()].vars);
        self.show_set("groups", &groups.copied().collect(), f)
    }

    /// Shows the roles of carried variables.
    fn show_roles(&self, inner_loop: &InnerLoop, f: &mut Formatter<'_>) -> fmt::Result {
        if inner_loop.roles.is_empty() {
            return Ok(());
        }
        let role = |(v, role): (&Var, &Role)| {
            let name = self.program.name(*v);
            match role {
                Role::Count { .. } => format!("{name} counts"),
                Role::Join(op, x) => format!("{name} joins {} by {}", self.atom(*x), op.name()),
                Role::Running { op, with, .. } => {
                    format!("{name} runs with {} by {}", self.atom(*with), op.name())
                }
                Role::Lanes(lanes) => format!("{name} in {lanes} lanes"),
                Role::Scan(block) => format!("{name} scanned in blocks of {block}"),
                Role::Delay => format!("{name} delayed by a step"),
                Role::Serial => format!("{name} in order"),
            }
        };
        let roles: Vec<String> = inner_loop.roles.iter().map(role).collect();
        writeln!(f, "  updated {}", roles.join(", "))
    }

    fn show_set(&self, what: &str, vars: &BTreeSet<Var>, f: &mut Formatter<'_>) -> fmt::Result {
        if vars.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = vars.iter().map(|v| self.program.name(*v)).collect();
        writeln!(f, "  {what} {}", names.join(", "))
    }

    /// Shows a statement's definitions and operation.
    fn what(&self, inner_loop: &InnerLoop, s: &Statement, access: Option<&Access>) -> String {
        let mut defs: Vec<&str> = Vec::new();
        let mut fixed = true;
        facts::each_def(s.stmt, &mut |v| {
            defs.push(self.program.name(v));
            fixed &= !inner_loop.varies(Atom::Var(v));
        });
        let by = match &s.stmt.kind {
            StmtKind::Let(_, op, args) => {
                let args = args.iter().map(|a| format!(" {}", self.atom(*a)));
                args.fold(op.name().to_string(), |text, a| text + &a)
            }
            StmtKind::Trap { unless, .. } => format!("unless {}", self.atom(*unless)),
            StmtKind::ArrayLength(_, a) => format!("length of {}", self.program.name(*a)),
            StmtKind::If { cond, .. } => format!("if {}", self.atom(*cond)),
            StmtKind::While { .. } => "while".to_string(),
            StmtKind::Assign(v, a) => format!("{} := {}", self.program.name(*v), self.atom(*a)),
            StmtKind::Scan { group, .. } => {
                let vars = self.program.groups[group.index()].vars.iter();
                vars.fold("scan".to_string(), |text, v| {
                    text + " " + self.program.name(*v)
                })
            }
            StmtKind::ScatterArray { arrays, index, .. } => {
                let names: Vec<&str> = arrays.iter().map(|a| self.program.name(*a)).collect();
                let held = match inner_loop.joins_side_by_side(self, s.stmt) {
                    true => "by capacity or checked",
                    false => "looked at",
                };
                format!("{} at {}, {held}", names.join(", "), self.atom(*index))
            }
            _ => access.map_or(String::new(), |a| self.access(inner_loop, a)),
        };
        let once = if fixed && !defs.is_empty() {
            ", the same always"
        } else {
            ""
        };
        match defs.is_empty() {
            true => by,
            false => format!("{} = {by}{once}", defs.join(", ")),
        }
    }

    /// Shows an access's index, and the reason why it is in bounds.
    fn access(&self, inner_loop: &InnerLoop, access: &Access) -> String {
        let at = match &access.shape {
            Index::Affine(affine) => self.affine(inner_loop.counter, affine),
            Index::Count => format!("{}, a count", self.atom(access.index)),
            Index::Random => format!("{}, anywhere", self.atom(access.index)),
        };
        let held = match access.is_proven {
            true => "by capacity",
            false if inner_loop.is_near(access) => "by capacity or checked",
            false => "looked at",
        };
        format!("{} at {at}, {held}", self.program.name(access.array))
    }

    /// `2*ix_0 + base_1 - 1`.
    fn affine(&self, counter: Var, affine: &Affine) -> String {
        let counter = self.program.name(counter);
        let times = |n: u64, what: &str| match n {
            1 => what.to_string(),
            n => format!("{n}*{what}"),
        };
        let mut terms: Vec<(bool, String)> = match affine.step {
            Stride::By(0) => Vec::new(),
            Stride::By(n) => vec![(n < 0, times(n.unsigned_abs(), counter))],
            Stride::Of(v) => vec![(false, format!("{}*{counter}", self.program.name(v)))],
        };
        let base = affine.base.iter();
        terms.extend(base.map(|t| (t.times < 0, times(t.times.unsigned_abs(), &self.atom(t.of)))));
        // Positive terms come first.
        terms.sort_by_key(|t| t.0);
        let mut text = String::new();
        for (k, (minus, term)) in terms.iter().enumerate() {
            text += match (k, minus) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            };
            text += term;
        }
        text
    }

    fn rate(&self, rate: RateId) -> &str {
        &self.program.rate(rate).name
    }

    fn atom(&self, a: Atom) -> String {
        match a {
            Atom::Const(c) => c.to_string(),
            Atom::Var(v) => self.program.name(v).to_string(),
        }
    }
}

impl Display for Effect {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Effect::Pure => "pure",
            Effect::Read => "read",
            Effect::Write => "write",
            Effect::Scatter => "scatter",
            Effect::Sort => "sort",
            Effect::Update => "update",
            Effect::Start => "start",
            Effect::Trap => "trap",
        })
    }
}
