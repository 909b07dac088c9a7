//! The groups of a kernel by level: their parts, initial values and joins.

use super::{Emit, Form};
use loop_lang::ir::{Atom, Combine, GroupId, RateKind, Var};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

impl Emit<'_> {
    pub(super) fn state(&mut self) {
        for (k, level) in self.levels.clone().iter().enumerate() {
            let vars = self.shape.vars(level);
            let sizes = vars.iter().map(|v| self.shape.program.ty(*v).elem().size());
            // Threads exchange words of four bytes.
            let align = sizes.max().unwrap_or(4).max(4);
            self.open(&format!("struct alignas({align}) Part{k} {{"));
            for v in vars {
                let ty = self.shape.program.ty(v).elem();
                let line = format!("{ty} {};", self.names.var(v));
                self.line(&line);
            }
            if !self.restarting(level).is_empty() {
                self.line("bool lf_begun;");
            }
            self.depth -= 1;
            self.line("};");
        }
        if self.counts_rows() {
            let k = self.levels.len();
            self.line(&format!("struct Part{k} {{ u64 lf_count; }};"));
        }
        self.open("struct State {");
        for k in 0..self.level_count() {
            self.line(&format!("Part{k} level{k};"));
        }
        self.depth -= 1;
        self.line("};");
        self.line("template <u32 K, class Unused = void> struct Level;");
    }

    /// Writes the initial values and joins of a level's parts.
    pub(super) fn level(&mut self, k: usize) {
        let shape = self.shape;
        let level = &self.levels[k].clone();
        let vars = shape.vars(level);
        let again = self.restarting(level);
        let before: usize = (0..k).map(|k| self.words(k)).sum();
        let short = self.form != Form::Nested && k < self.known;
        let counts = vars.iter().filter(|v| short && self.counts(**v)).copied();
        let counts: Vec<Var> = counts.collect();
        let base = match counts.is_empty() {
            true => format!(" : lf_as_it_is<Part{k}>"),
            false => String::new(),
        };
        self.open(&format!(
            "template <class Unused> struct Level<{k}, Unused>{base} {{"
        ));
        self.line(&format!("typedef Part{k} Part;"));
        if !counts.is_empty() {
            self.short(&vars, &counts);
        }
        // If all groups restart in a row, they ignore everything before it.
        let absorbs = match again.len() == level.len() {
            true => Some("x.lf_begun"),
            false => Some("false").filter(|_| !counts.is_empty()),
        };
        if let Some(absorbs) = absorbs {
            self.line(&format!(
                "static LF_DEVICE bool absorbs(const Part &x) {{ return {absorbs}; }}"
            ));
        }
        self.line(&format!(
            "static LF_DEVICE Part &of(State &state) {{ return state.level{k}; }}"
        ));
        self.open("static LF_DEVICE Part start(const Params &p) {");
        let identity = level.iter().flat_map(|g| &shape.group(*g).identity);
        let mut identity: Vec<String> = identity.map(|a| self.outside(*a)).collect();
        let again_vars = shape.vars(&again);
        let starts = vars
            .iter()
            .zip(&identity)
            .map(|(v, id)| match again_vars.contains(v) {
                true => id.clone(),
                false => format!("p.start_{}", self.names.var(*v)),
            });
        let mut starts: Vec<String> = starts.collect();
        if !again.is_empty() {
            starts.push("false".into());
            identity.push("false".into());
        }
        self.line(&format!("return Part{{{}}};", starts.join(", ")));
        self.close();
        self.open("static LF_DEVICE Part identity(const Params &p) {");
        self.line(&format!("return Part{{{}}};", identity.join(", ")));
        self.close();
        self.open("static LF_DEVICE Part join(const Params &p, const Part &a, const Part &b) {");
        self.line("Part ab;");
        level.iter().for_each(|g| self.join(*g));
        if !again.is_empty() {
            self.restart(&again_vars);
        }
        self.line("return ab;");
        self.close();
        self.open("static LF_DEVICE void give(u64 *to, const Part &x) {");
        for (k, v) in vars.iter().enumerate() {
            let line = format!("to[{}] = lf_word(x.{});", before + k, self.names.var(*v));
            self.line(&line);
        }
        self.close();
        self.depth -= 1;
        self.line("};");
    }

    /// Writes a part within a tile, whose counts are at most the tile's elements.
    fn short(&mut self, vars: &[Var], counts: &[Var]) {
        let types = vars.iter().map(|v| match counts.contains(v) {
            true => Ty::U32,
            false => self.shape.program.ty(*v).elem(),
        });
        let types: Vec<Ty> = types.collect();
        let align = types.iter().map(|ty| ty.size()).max().unwrap_or(4).max(4);
        let names = vars.iter().map(|v| self.names.var(*v));
        let fields = types
            .iter()
            .zip(names.clone())
            .map(|(ty, name)| format!(" {ty} {name};"));
        let fields: String = fields.collect();
        let shortened = types
            .iter()
            .zip(names.clone())
            .map(|(ty, name)| format!("{ty}(x.{name})"));
        let shortened: Vec<String> = shortened.collect();
        let lengthened: Vec<String> = names.map(|name| format!("x.{name}")).collect();
        for line in [
            format!("struct alignas({align}) Short {{{fields} }};"),
            format!(
                "static LF_DEVICE Short shorten(const Part &x) {{ return Short{{{}}}; }}",
                shortened.join(", ")
            ),
            format!(
                "static LF_DEVICE Part lengthen(const Short &x) {{ return Part{{{}}}; }}",
                lengthened.join(", ")
            ),
        ] {
            self.line(&line);
        }
    }

    /// Returns whether a variable counts the admitted elements of a subrate, from zero on.
    fn counts(&self, v: Var) -> bool {
        let program = self.shape.program;
        let is_count =
            |kind: RateKind| matches!(kind, RateKind::Sub { count: Some(c), .. } if c == v);
        let adds = self.shape.facts.group.get(&v).is_some_and(|(id, _)| {
            let group = self.shape.group(*id);
            let none = Atom::Const(Const::new(Ty::U64, 0));
            group.combine == Some(Combine::Op(Op::Add)) && group.identity == [none]
        });
        adds && program.rates.iter().any(|r| is_count(r.kind))
    }

    /// Writes `ab` as the join of `a` and `b`, in the variables of a group.
    pub(super) fn join(&mut self, id: GroupId) {
        let group = self.shape.group(id);
        let names: Vec<String> = group
            .vars
            .iter()
            .map(|v| self.names.var(*v).into())
            .collect();
        match group.combine {
            Some(Combine::Op(op)) => {
                let name = &names[0];
                let ty = self.shape.program.ty(group.vars[0]).elem();
                let args = [format!("a.{name}"), format!("b.{name}")];
                let value = self.functions.op(op, ty, ty, &args);
                self.line(&format!("ab.{name} = {value};"));
            }
            Some(Combine::Fn(f)) => {
                let function = &self.shape.program.functions[f.index()];
                self.open("{");
                let sides = ["a", "b"].into_iter();
                let args = sides.flat_map(|side| names.iter().map(move |n| format!("{side}.{n}")));
                for (param, arg) in function.params.iter().zip(args.collect::<Vec<_>>()) {
                    let ty = self.shape.program.ty(*param).elem();
                    let line = format!("const {ty} {} = {arg};", self.names.var(*param));
                    self.line(&line);
                }
                self.stmts(&function.body);
                for (name, result) in names.iter().zip(&function.results) {
                    let value = self.outside(*result);
                    self.line(&format!("ab.{name} = {value};"));
                }
                self.close();
            }
            None => {}
        }
    }
}
