//! Writes statements: one C function at a time, whatever its kind.

use super::ops::Helpers;
use super::straight::Plan;
use crate::facts::{Facts, Source};
use crate::names::{Names, Part};
use loop_lang::ir::{
    Atom, CombId, Combine, GroupId, Loop, Order, Place, RateId, Stmt, StmtKind, Type, Var,
};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

/// What kind of function is written.
#[derive(Clone, Copy)]
pub enum Mode<'a> {
    /// The state machine: every variable is declared up front, control flow is gotos.
    Machine,
    /// The straight loop of one rate: variables are declared where they are defined.
    Straight(&'a Plan),
    /// A combine function.
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
    pub mode: Mode<'a>,
    /// Where the block that is written is in the rate tree.
    pub place: Place,
    /// The combinator last named in a comment.
    pub comb: Option<CombId>,
}

/// What remains to be written of nested regions.
enum Task<'s> {
    Stmts(std::slice::Iter<'s, Stmt>),
    Otherwise(&'s Stmt),
    EndIf(&'s Stmt),
    WhileBody(&'s Stmt),
    EndWhile(&'s Stmt),
}

impl<'a> Unit<'a> {
    /// Adds a line.
    pub fn line(&mut self, text: impl AsRef<str>) {
        let depth = if text.as_ref().is_empty() { 0 } else { self.depth };
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
            Some((_, _, Order::Prefix(_))) => self.names.part(v, Part::Now).to_string(),
            Some((g, ..)) if matches!(self.mode, Mode::Machine) => {
                if self.inside(g) {
                    self.lane(g, v)
                } else {
                    self.names.part(v, Part::Joined).to_string()
                }
            }
            _ => self.names.var(v).to_string(),
        }
    }

    /// Whether the block that is written runs inside of the loop that updates `g`.
    pub fn inside(&self, g: GroupId) -> bool {
        let rate = self.facts.lane_rate(self.program, g);
        self.facts.chain(self.program, self.place).contains(&rate)
    }

    /// The innermost loop rate around the block that is written.
    pub fn loop_rate(&self) -> Option<RateId> {
        match self.mode {
            Mode::Straight(plan) => Some(plan.rate),
            _ => self.facts.chain(self.program, self.place).first().copied(),
        }
    }

    /// The element's lane of a variable.
    pub fn lane(&self, g: GroupId, v: Var) -> String {
        let lanes = match self.program.groups[g.index()].order {
            Order::Lanes(l) | Order::Prefix(l) => l,
            Order::Exact | Order::Sequential => 1,
        };
        format!("{}[{}]", self.names.part(v, Part::Lanes), self.lane_index(g, lanes))
    }

    /// The element's position in a group of `lanes`.
    fn lane_index(&self, g: GroupId, lanes: u32) -> String {
        let mask = lanes - 1;
        if lanes == 1 {
            return "0".into();
        }
        if let Mode::Straight(plan) = self.mode
            && plan.strip > 1
        {
            return match u64::from(lanes) == plan.strip {
                true => "lane".into(),
                false => format!("(strip & {mask}) + lane"),
            };
        }
        let rate = self.facts.lane_rate(self.program, g);
        match self.program.rate(rate).kind.counter() {
            Some(counter) => format!("{} & {mask}", self.names.var(counter)),
            None => "0".into(),
        }
    }

    /// The pointer variable of an array; slices share their array's.
    pub fn array(&self, a: Var) -> String {
        self.names.var(self.owner(a)).to_string()
    }

    /// The length variable of an array.
    pub fn length(&self, a: Var) -> String {
        self.names.part(self.owner(a), Part::Length).to_string()
    }

    fn owner(&self, a: Var) -> Var {
        match self.facts.source.get(&a) {
            Some(Source::Param(i)) => self.program.params[*i].var,
            Some(Source::Made(slot)) => self.made[*slot],
            None => a,
        }
    }

    /// `u64 x` where variables are declared in place, `x` where they are already.
    fn define(&self, v: Var) -> String {
        match (self.mode, self.program.ty(v)) {
            (Mode::Straight(_) | Mode::Function, Type::Scalar(ty)) => {
                format!("{} {}", ty.name(), self.names.var(v))
            }
            _ => self.names.var(v).to_string(),
        }
    }

    /// The flag that a trap sets.
    fn trapped(&self) -> &'static str {
        if let Mode::Function = self.mode { "*trapped" } else { "trapped" }
    }

    /// Writes statements with their regions.
    pub fn stmts(&mut self, stmts: &[Stmt]) {
        let mut work = vec![Task::Stmts(stmts.iter())];
        while let Some(task) = work.pop() {
            match task {
                Task::Stmts(mut rest) => {
                    if let Some(s) = rest.next() {
                        work.push(Task::Stmts(rest));
                        self.stmt(s, &mut work);
                    }
                }
                Task::Otherwise(s) => {
                    if let StmtKind::If { other, results, .. } = &s.kind {
                        for (v, a, _) in results {
                            self.set_result(*v, *a);
                        }
                        self.depth -= 1;
                        self.open("} else {");
                        work.push(Task::EndIf(s));
                        work.push(Task::Stmts(other.iter()));
                    }
                }
                Task::EndIf(s) => {
                    if let StmtKind::If { results, .. } = &s.kind {
                        for (v, _, b) in results {
                            self.set_result(*v, *b);
                        }
                    }
                    self.close();
                }
                Task::WhileBody(s) => {
                    if let StmtKind::While { cond, body, .. } = &s.kind {
                        let cond = self.atom(*cond);
                        let trapped = self.trapped();
                        // A trapped loop may count on what trapped; its results are not wanted.
                        match self.program.traps.is_empty() {
                            true => self.line(format!("if (!{cond}) break;")),
                            false => self.line(format!("if (!{cond} || {trapped}) break;")),
                        }
                        work.push(Task::EndWhile(s));
                        work.push(Task::Stmts(body.iter()));
                    }
                }
                Task::EndWhile(s) => {
                    if let StmtKind::While { state, next, .. } = &s.kind {
                        self.advance(state, next);
                    }
                    self.close();
                }
            }
        }
    }

    fn set_result(&mut self, v: Var, a: Atom) {
        let (name, value) = (self.names.var(v).to_string(), self.atom(a));
        self.line(format!("{name} = {value};"));
    }

    /// All state variables of a scalar loop take their next values at once.
    fn advance(&mut self, state: &[(Var, Atom)], next: &[Atom]) {
        let mut moves = Vec::new();
        for (i, ((v, _), a)) in state.iter().zip(next).enumerate() {
            let (ty, value) = (self.program.ty(*v).elem(), self.atom(*a));
            if state.len() == 1 {
                moves.push(format!("{} = {value};", self.names.var(*v)));
            } else {
                self.line(format!("{} lf_{i} = {value};", ty.name()));
                moves.push(format!("{} = lf_{i};", self.names.var(*v)));
            }
        }
        moves.iter().for_each(|m| self.line(m));
    }

    /// Writes one statement; what its regions hold is left in `work`.
    fn stmt<'s>(&mut self, s: &'s Stmt, work: &mut Vec<Task<'s>>) {
        self.say_combinator(s.comb);
        match &s.kind {
            StmtKind::Let(v, op, args) => self.let_op(*v, *op, args),
            StmtKind::Assign(v, a) => self.assign(*v, *a),
            StmtKind::Carry(v, a) => self.carry(*v, *a),
            StmtKind::Scan { results, group, elems } => self.scan(results, *group, elems),
            StmtKind::NewArray(v, n) => {
                let n = self.atom(*n);
                self.make(*v, &format!("new_array(run, SLOT, {n}, {})", s.comb.0));
            }
            StmtKind::FillArray(v, n, x) => {
                let (ty, n, x) = (self.program.atom_ty(*x), self.atom(*n), self.atom(*x));
                let word = self.helpers.to_word(ty, &x);
                self.make(*v, &format!("fill_array(run, SLOT, {n}, {word}, {})", s.comb.0));
            }
            StmtKind::CopyArray(v, a) => {
                let (data, n) = (self.array(*a), self.length(*a));
                self.make(*v, &format!("copy_array(run, SLOT, {data}, {n}, {})", s.comb.0));
            }
            StmtKind::ReadArray(v, a, i) => self.read(*v, *a, *i),
            StmtKind::WriteArray(a, i, x) => self.write(*a, *i, *x),
            StmtKind::ScatterArray { arrays, index, values, combine } => {
                self.scatter(arrays, *index, values, *combine);
            }
            StmtKind::ArrayLength(v, a) => {
                let (name, n) = (self.define(*v), self.length(*a));
                self.line(format!("{name} = {n};"));
            }
            StmtKind::SliceArray(_, a, n) => {
                let (length, n) = (self.length(*a), self.atom(*n));
                self.line(format!("if ({n} < {length}) {length} = {n};"));
            }
            StmtKind::Trap { unless, .. } => {
                let (flag, ok) = (self.trapped(), self.atom(*unless));
                self.line(format!("{flag} |= !{ok};"));
            }
            StmtKind::If { cond, then, results, .. } => {
                self.declare(results.iter().map(|r| r.0));
                let cond = self.atom(*cond);
                self.open(format!("if ({cond}) {{"));
                work.push(Task::Otherwise(s));
                work.push(Task::Stmts(then.iter()));
            }
            StmtKind::While { state, test, .. } => {
                for (v, start) in state {
                    let (name, start) = (self.define(*v), self.atom(*start));
                    self.line(format!("{name} = {start};"));
                }
                self.open("for (;;) {");
                work.push(Task::WhileBody(s));
                work.push(Task::Stmts(test.iter()));
            }
        }
    }

    /// A comment with the combinator's name and kind, where it changes.
    fn say_combinator(&mut self, c: CombId) {
        if self.comb != Some(c) && !matches!(self.mode, Mode::Function) {
            self.comb = Some(c);
            let comb = self.program.comb(c);
            let text = format!("/* {}: {} */", comb.name, comb.kind);
            self.line(comment(&text));
        }
    }

    fn declare(&mut self, vars: impl Iterator<Item = Var>) {
        if !matches!(self.mode, Mode::Machine) {
            for v in vars {
                let text = self.define(v);
                self.line(format!("{text};"));
            }
        }
    }

    fn let_op(&mut self, v: Var, op: Op, args: &[Atom]) {
        let from = match (op, args) {
            (Op::Select, [_, a, _]) => self.program.atom_ty(*a),
            _ => self.program.atom_ty(args[0]),
        };
        let to = self.program.ty(v).elem();
        let operands: Vec<String> = args.iter().map(|a| self.atom(*a)).collect();
        let (name, value) = (self.define(v), self.helpers.op(op, from, to, &operands));
        self.line(format!("{name} = {value};"));
    }

    /// Where an update of `v` goes now: the value itself, or a variable that waits for the guard.
    fn target(&self, v: Var) -> String {
        if self.facts.waits(self.loop_rate(), v) {
            return self.names.part(v, Part::Next).to_string();
        }
        self.current(v)
    }

    /// Where the value of `v` is that an update replaces.
    pub fn current(&self, v: Var) -> String {
        match self.facts.local_group(self.program, v) {
            Some((_, _, Order::Prefix(_))) => self.names.part(v, Part::Now).to_string(),
            Some((g, ..)) if matches!(self.mode, Mode::Machine) => self.lane(g, v),
            _ => self.names.var(v).to_string(),
        }
    }

    fn assign(&mut self, v: Var, a: Atom) {
        if let Mode::Straight(plan) = self.mode
            && plan.counter == v
        {
            return;
        }
        let (target, value) = (self.target(v), self.atom(a));
        self.line(format!("{target} = {value};"));
        self.follow(v, &target);
    }

    /// Keeps the next value of `v` equal to it where an update does not wait.
    fn follow(&mut self, v: Var, target: &str) {
        let next = self.names.part(v, Part::Next);
        if let Mode::Machine = self.mode
            && self.facts.ever_waits(v)
            && target != next
        {
            let text = format!("{next} = {target};");
            self.line(text);
        }
    }

    fn carry(&mut self, v: Var, start: Atom) {
        let (name, start) = (self.names.var(v).to_string(), self.atom(start));
        self.line(format!("{name} = {start};"));
        if let Some((g, i, order)) = self.facts.local_group(self.program, v) {
            if let Order::Prefix(_) = order {
                let now = self.names.part(v, Part::Now);
                self.line(format!("{now} = {name};"));
            }
            self.reset(g, i);
        }
        self.follow(v, &name);
    }

    /// Sets the local part of a group's `i`-th variable to the identity.
    pub fn reset(&mut self, g: GroupId, i: usize) {
        let group = &self.program.groups[g.index()];
        let v = group.vars[i];
        let zero = Atom::Const(Const::zero(self.program.ty(v).elem()));
        let identity = self.atom(group.identity.get(i).copied().unwrap_or(zero));
        let part = |p| self.names.part(v, p);
        let lines = match group.order {
            Order::Lanes(l) => {
                let lanes = part(Part::Lanes);
                vec![format!("for (u64 lane = 0; lane < {l}; lane++) {lanes}[lane] = {identity};")]
            }
            Order::Prefix(l) => {
                let (total, last, tree) = (part(Part::Total), part(Part::Last), part(Part::Tree));
                let mut lines = vec![format!("{total} = {last} = {identity};")];
                if l > 1 {
                    let log = l.trailing_zeros();
                    lines.push(format!("for (u64 k = 0; k < {log}; k++) {tree}[k] = {identity};"));
                }
                lines
            }
            Order::Exact | Order::Sequential => Vec::new(),
        };
        lines.iter().for_each(|l| self.line(l));
    }

    /// Joins elements onto a `Prefix` group: a tree inside of a block, blocks left to right.
    fn scan(&mut self, results: &[Var], g: GroupId, elems: &[Atom]) {
        let group = &self.program.groups[g.index()];
        let Order::Prefix(l) = group.order else { return };
        for v in results {
            if !matches!(self.mode, Mode::Machine) {
                let text = self.define(*v);
                self.line(format!("{text};"));
            }
        }
        self.open("{");
        let types: Vec<Ty> = group.vars.iter().map(|v| self.program.ty(*v).elem()).collect();
        let sums: Vec<String> = (0..types.len()).map(|i| format!("lf_sum_{i}")).collect();
        for (i, a) in elems.iter().enumerate() {
            let value = self.atom(*a);
            self.line(format!("{} {} = {value};", types[i].name(), sums[i]));
        }
        let parts = |unit: &Self, part: Part, index: &str| -> Vec<String> {
            group.vars.iter().map(|v| format!("{}{index}", unit.names.part(*v, part))).collect()
        };
        let (totals, lasts) = (parts(self, Part::Total, ""), parts(self, Part::Last, ""));
        let nows: Vec<String> = group.vars.iter().map(|v| self.target(*v)).collect();
        let prefixes: Vec<String> =
            group.vars.iter().map(|v| self.names.var(*v).to_string()).collect();
        if l > 1 {
            let tree = parts(self, Part::Tree, "[k]");
            let index = self.lane_index(g, l);
            self.line(format!("u64 lf_at = {index};"));
            self.open(format!("for (u64 k = 0; k < {}; k++) {{", l.trailing_zeros()));
            self.open("if (lf_at >> k & 1) {");
            self.combine(group.combine, &sums, &tree, &sums, &types);
            self.depth -= 1;
            self.open("} else {");
            for (entry, sum) in tree.iter().zip(&sums) {
                self.line(format!("{entry} = {sum};"));
            }
            self.close();
            self.close();
        }
        self.combine(group.combine, &lasts, &totals, &sums, &types);
        let outs: Vec<String> = results.iter().map(|v| self.names.var(*v).to_string()).collect();
        self.combine(group.combine, &outs, &prefixes, &lasts, &types);
        for ((now, out), v) in nows.iter().zip(&outs).zip(&group.vars) {
            self.line(format!("{now} = {out};"));
            self.follow(*v, now);
        }
        for (total, last) in totals.iter().zip(&lasts) {
            match l {
                1 => self.line(format!("{total} = {last};")),
                _ => self.line(format!("if (lf_at == {}) {total} = {last};", l - 1)),
            }
        }
        self.close();
    }

    /// `dests = left (+) right`, all places and values of the given types.
    pub fn combine(
        &mut self,
        combine: Option<Combine>,
        dests: &[String],
        left: &[String],
        right: &[String],
        types: &[Ty],
    ) {
        match combine {
            Some(Combine::Op(op)) => {
                for (i, ty) in types.iter().enumerate() {
                    let operands = [left[i].clone(), right[i].clone()];
                    let value = self.helpers.op(op, *ty, *ty, &operands);
                    self.line(format!("{} = {value};", dests[i]));
                }
            }
            Some(Combine::Fn(f)) => {
                let name = self.names.function(f.index()).to_string();
                let flag = match self.mode {
                    Mode::Function => "trapped".to_string(),
                    _ => "&trapped".to_string(),
                };
                let addresses = dests.iter().map(|d| format!("&{d}"));
                let args: Vec<String> = std::iter::once(flag)
                    .chain(addresses)
                    .chain(left.iter().chain(right).cloned())
                    .collect();
                self.line(format!("{name}({});", args.join(", ")));
            }
            None => dests.iter().zip(right).for_each(|(d, r)| self.line(format!("{d} = {r};"))),
        }
    }

    /// A statement that makes an array: the host allocates, or the loop ends.
    fn make(&mut self, v: Var, call: &str) {
        let slot = match self.facts.source.get(&v) {
            Some(Source::Made(slot)) => *slot,
            _ => return,
        };
        let call = call.replacen("SLOT", &slot.to_string(), 1);
        let (data, n) = (self.array(v), self.length(v));
        self.line(format!("if (!run->{call}) goto no_memory;"));
        self.line(format!("{data} = run->made[{slot}].data;"));
        self.line(format!("{n} = run->made[{slot}].length;"));
    }

    /// Whether an access was proven inside of its array before the straight loop was entered.
    fn proven(&self, a: Var, i: Atom) -> bool {
        match (self.mode, i) {
            (Mode::Straight(plan), Atom::Var(i)) => plan.proven.contains(&(self.owner(a), i)),
            _ => false,
        }
    }

    fn read(&mut self, v: Var, a: Var, i: Atom) {
        let (name, data, n, index) =
            (self.define(v), self.array(a), self.length(a), self.atom(i));
        match self.mode {
            _ if self.proven(a, i) => self.line(format!("{name} = {data}[{index}];")),
            Mode::Straight(plan) if !plan.is_near(i) => self.gather(v, &data, &n, &index),
            _ => self.line(format!("{name} = {index} < {n} ? {data}[{index}] : 0;")),
        }
    }

    /// A read from anywhere. Compilers turn a mask into a vector of addresses where they would keep
    /// a branch for a condition. An empty array points to a zero here.
    fn gather(&mut self, v: Var, data: &str, n: &str, index: &str) {
        let ty = self.program.ty(v).elem();
        let (define, name) = (self.define(v), self.names.var(v));
        let cell = format!("{data}[{index} & lf_in]");
        let masked = match ty {
            Ty::F32 => format!("(u32)({} & lf_in)", self.helpers.to_word(ty, &cell)),
            Ty::F64 => format!("({} & lf_in)", self.helpers.to_word(ty, &cell)),
            _ => format!("({cell} & lf_in)"),
        };
        let value = self.helpers.from_word(ty, &masked);
        let (test, set) = (format!("-(u64)({index} < {n})"), format!("{name} = {value};"));
        self.line(format!("{define};"));
        self.line(format!("{{ const u64 lf_in = {test}; {set} }}"));
    }

    fn write(&mut self, a: Var, i: Atom, x: Atom) {
        let (data, n, index, value) =
            (self.array(a), self.length(a), self.atom(i), self.atom(x));
        match self.proven(a, i) {
            true => self.line(format!("{data}[{index}] = {value};")),
            false => self.line(format!("if ({index} < {n}) {data}[{index}] = {value};")),
        }
    }

    fn scatter(&mut self, arrays: &[Var], index: Atom, values: &[Atom], by: Option<Combine>) {
        let index = self.atom(index);
        let inside: Vec<String> =
            arrays.iter().map(|a| format!("{index} < {}", self.length(*a))).collect();
        let types: Vec<Ty> = arrays.iter().map(|a| self.program.ty(*a).elem()).collect();
        let cells: Vec<String> =
            arrays.iter().map(|a| format!("{}[{index}]", self.array(*a))).collect();
        let values: Vec<String> = values.iter().map(|x| self.atom(*x)).collect();
        self.open(format!("if ({}) {{", inside.join(" && ")));
        self.combine(by, &cells, &cells, &values, &types);
        self.close();
    }
}

/// A comment that no name in it can end early.
pub fn comment(text: &str) -> String {
    let inner = text.trim_start_matches("/*").trim_end_matches("*/");
    let clean: String = inner
        .replace("*/", "* /")
        .replace("/*", "/ *")
        .chars()
        .map(|c| if c == ' ' || c.is_ascii_graphic() && c != '\\' { c } else { '_' })
        .collect();
    format!("/*{clean}*/")
}
