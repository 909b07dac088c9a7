//! Random verified loops over random rate trees, and equality of loops up to numbering.

use loop_lang::gotos::{Tree, complete_blocks, derive_gotos};
use loop_lang::ir::*;
use loop_lang::{Const, Op, Ty};

/// A small generator of pseudorandom numbers (SplitMix64): loops depend on the seed alone.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    fn flip(&mut self) -> bool {
        self.next() & 1 == 1
    }
    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

/// Generates a well-formed loop.
pub fn random_loop(seed: u64) -> Loop {
    let mut gen_ = Generator {
        rng: Rng(seed),
        l: Loop {
            name: "random".into(),
            ..Loop::default()
        },
        pool: Vec::new(),
        table: None,
        outputs: Vec::new(),
    };
    gen_.tree();
    gen_.parameters();
    complete_blocks(&mut gen_.l);
    gen_.fill();
    derive_gotos(&mut gen_.l);
    gen_.l
}

struct Generator {
    rng: Rng,
    l: Loop,
    /// Scalars that new statements may use.
    pool: Vec<Var>,
    table: Option<Var>,
    outputs: Vec<Var>,
}

impl Generator {
    /// Makes a variable with or without its combinator in the name.
    fn var(&mut self, base: &str, comb: CombId, ty: Type) -> Var {
        let n = self.l.vars.len();
        let name = match self.rng.below(8) {
            0 => format!("{base}{n}"),
            _ => format!("{base}{n}_{}", self.l.comb(comb).name),
        };
        self.l.new_var(name, ty)
    }

    fn tree(&mut self) {
        let rates = self.rng.below(7);
        for i in 0..rates {
            let id = RateId::new(i);
            let parent = RateId::new(self.rng.below(i.max(1)));
            let count = Type::Scalar(Ty::U64);
            let counter = self.l.new_var(format!("ix_r{i}"), count);
            let bound = Atom::Var(self.l.new_var(format!("len_r{i}"), count));
            let kind = match self.rng.below(4) {
                _ if i == 0 => RateKind::Root { counter, bound },
                0 if self.rng.below(3) == 0 => RateKind::Root { counter, bound },
                0 | 1 => RateKind::Sub {
                    parent,
                    count: None,
                },
                2 => RateKind::Nested {
                    parent,
                    counter,
                    bound,
                    uniform: self.rng.flip(),
                },
                _ => RateKind::Cursor {
                    parent,
                    counter,
                    bound,
                },
            };
            match kind.parent() {
                None => self.l.roots.push(id),
                Some(p) => self.l.rates[p.index()].parts.push(Part::Child(id)),
            }
            self.l.rates.push(Rate {
                name: format!("r{i}"),
                kind,
                parts: vec![Part::Stage(0)],
            });
            self.slot(id, 0);
        }
        for i in 0..rates {
            // A cursor's last part is the stage that provides the element.
            let cursor = matches!(self.l.rates[i].kind, RateKind::Cursor { .. });
            if cursor || self.rng.flip() {
                self.l.rates[i].parts.push(Part::Stage(1));
                self.slot(RateId::new(i), 1);
            }
            self.slot(RateId::new(i), 0);
        }
        // Combinators without a slot: delayed scalars.
        self.comb(None);
    }

    fn slot(&mut self, rate: RateId, stage: u32) {
        self.comb(Some(Slot { rate, stage }));
    }

    fn comb(&mut self, slot: Option<Slot>) {
        let n = self.l.combs.len();
        let name = match self.rng.below(3) {
            0 => format!("c{n}"),
            1 => format!("c_{n}"),
            _ => n.to_string(),
        };
        let kind = self.rng.pick(&["map", "filter", "scan"]).to_string();
        self.l.combs.push(Comb { name, kind, slot });
    }

    fn parameters(&mut self) {
        for ty in Ty::ALL {
            let var = self.l.new_var(format!("in_{ty}"), Type::Scalar(ty));
            let kind = ParamKind::Scalar;
            self.l.params.push(Param { var, kind });
            self.pool.push(var);
        }
        let var = self.l.new_var("table", Type::Array(Ty::F32));
        let kind = ParamKind::Random;
        self.l.params.push(Param { var, kind });
        self.table = Some(var);
        let kind = TrapKind::Empty;
        self.l.traps.push(Trap {
            comb: CombId(0),
            kind,
        });
    }

    fn constant(&mut self, ty: Ty) -> Const {
        let bits = match self.rng.below(3) {
            0 => self.rng.below(4) as u64,
            _ => self.rng.next(),
        };
        Const::new(ty, bits)
    }

    fn atom(&mut self, ty: Ty) -> Atom {
        let fit = |v: &&Var| self.l.ty(**v) == Type::Scalar(ty);
        let vars: Vec<Var> = self.pool.iter().filter(fit).copied().collect();
        match self.rng.below(4) {
            0 => self.constant(ty).into(),
            _ if vars.is_empty() => self.constant(ty).into(),
            _ => self.rng.pick(&vars).into(),
        }
    }

    fn push(&mut self, stmts: &mut Vec<Stmt>, comb: CombId, kind: StmtKind) {
        stmts.push(Stmt { comb, kind });
    }

    /// Makes a statement without effects other than traps.
    fn compute(&mut self, stmts: &mut Vec<Stmt>, depth: usize) {
        let comb = CombId::new(self.rng.below(self.l.combs.len()));
        match self.rng.below(8) {
            0 if depth < 3 => {
                let (cond, before) = (self.atom(Ty::Bool), self.pool.len());
                let ty = self.rng.pick(&Ty::ALL);
                let (mut then, mut other) = (Vec::new(), Vec::new());
                self.computations(&mut then, depth + 1);
                let a = self.atom(ty);
                self.pool.truncate(before);
                self.computations(&mut other, depth + 1);
                let b = self.atom(ty);
                self.pool.truncate(before);
                let v = self.var("if", comb, Type::Scalar(ty));
                let results = match self.rng.below(5) {
                    0 => vec![],
                    _ => vec![(v, a, b)],
                };
                if !results.is_empty() {
                    self.pool.push(v);
                }
                let kind = StmtKind::If {
                    cond,
                    then,
                    other,
                    results,
                };
                self.push(stmts, comb, kind);
            }
            1 if depth < 3 => {
                let ty = self.rng.pick(&Ty::ALL);
                let (start, before) = (self.atom(ty), self.pool.len());
                let v = self.var("while", comb, Type::Scalar(ty));
                self.pool.push(v);
                let (mut test, mut body) = (Vec::new(), Vec::new());
                self.computations(&mut test, depth + 1);
                let cond = self.atom(Ty::Bool);
                self.computations(&mut body, depth + 1);
                let next = vec![self.atom(ty)];
                self.pool.truncate(before + 1);
                let kind = StmtKind::While {
                    state: vec![(v, start)],
                    test,
                    cond,
                    body,
                    next,
                };
                self.push(stmts, comb, kind);
            }
            2 => {
                let payload = (0..self.rng.below(3)).map(|_| self.atom(Ty::U64)).collect();
                let unless = self.atom(Ty::Bool);
                let trap = TrapId(0);
                let kind = StmtKind::Trap {
                    unless,
                    trap,
                    payload,
                };
                self.push(stmts, comb, kind);
            }
            3 => {
                let (i, v) = (
                    self.atom(Ty::U64),
                    self.var("elt", comb, Type::Scalar(Ty::F32)),
                );
                if let Some(table) = self.table {
                    self.push(stmts, comb, StmtKind::ReadArray(v, table, i));
                    self.pool.push(v);
                }
            }
            _ => self.operation(stmts, comb),
        }
    }

    fn operation(&mut self, stmts: &mut Vec<Stmt>, comb: CombId) {
        let (op, ty) = (self.rng.pick(Op::ALL), self.rng.pick(&Ty::ALL));
        let target = self.rng.pick(&Ty::ALL);
        let tys: Vec<Ty> = (0..op.arity())
            .map(|k| match (op, k) {
                (Op::Powi, 1) => Ty::I32,
                (Op::Select, 0) => Ty::Bool,
                _ => ty,
            })
            .collect();
        let Some(result) = op.result(&tys, Some(target)) else {
            return;
        };
        let args = tys.into_iter().map(|ty| self.atom(ty)).collect();
        let v = self.var("x", comb, Type::Scalar(result));
        self.push(stmts, comb, StmtKind::Let(v, op, args));
        self.pool.push(v);
    }

    fn computations(&mut self, stmts: &mut Vec<Stmt>, depth: usize) {
        for _ in 0..self.rng.below(4) {
            self.compute(stmts, depth);
        }
    }

    /// Fills the blocks in execution order.
    fn fill(&mut self) {
        let tree = Tree::of(&self.l);
        let mut carries: Vec<(Place, Stmt)> = Vec::new();
        let mut updates: Vec<(Place, Stmt)> = Vec::new();
        self.counters(&mut carries, &mut updates);
        self.groups(&mut carries, &mut updates);
        // The pool's size before each open rate and after its guard: the variables available after
        // the rate, and in its `bottom`.
        let mut open: Vec<(RateId, usize, usize)> = Vec::new();
        for place in tree.places().to_vec() {
            let Some(label) = self.label(&tree, place) else {
                continue;
            };
            let mut block = Block::default();
            if let Place::At {
                rate,
                section: Section::Nest | Section::Guard,
                ..
            } = place
                && open.last().map(|o| o.0) != Some(rate)
            {
                open.push((rate, self.pool.len(), 0));
            }
            if place == Place::Init {
                self.init(&mut block, label.comb);
            }
            if let Place::At {
                section: Section::Bottom,
                ..
            } = place
                && let Some((_, _, guarded)) = open.last()
            {
                self.pool.truncate(*guarded);
            }
            let before = self.pool.len();
            self.computations(&mut block.stmts, 0);
            let here = |(at, stmt): &(Place, Stmt)| (*at == place).then(|| stmt.clone());
            block.stmts.extend(carries.iter().filter_map(here));
            block.stmts.extend(updates.iter().filter_map(here));
            self.leave(&tree, place, label, &mut block);
            match (place, open.last_mut()) {
                (
                    Place::At {
                        section: Section::Guard,
                        ..
                    },
                    Some(rate),
                ) => rate.2 = self.pool.len(),
                (
                    Place::At {
                        section: Section::Bottom,
                        ..
                    },
                    Some((_, before, _)),
                ) => {
                    self.pool.truncate(*before);
                    open.pop();
                }
                _ => {}
            }
            // A cursor with an element does not pass its `done`.
            if let Place::At {
                section: Section::Done,
                ..
            } = place
            {
                self.pool.truncate(before);
            }
            if let Some(slot) = self.l.blocks.get_mut(label) {
                *slot = block;
            }
        }
    }

    fn label(&self, tree: &Tree, place: Place) -> Option<Label> {
        let mut sets = self
            .l
            .blocks
            .iter()
            .filter_map(|(labels, _)| labels.first());
        sets.find(|l| tree.place(&self.l, **l) == place).copied()
    }

    fn init(&mut self, block: &mut Block, comb: CombId) {
        for rate in self.l.rates.clone() {
            if let Some(Atom::Var(v)) = rate.kind.bound() {
                let n = Atom::Const(Const::u64(self.rng.below(5) as u64));
                self.push(
                    &mut block.stmts,
                    comb,
                    StmtKind::Let(v, Op::Copy, [n].into_iter().collect()),
                );
            }
        }
        for ty in [Ty::F64, Ty::Bool] {
            let v = self.var("out", comb, Type::Array(ty));
            let (n, fill) = (self.atom(Ty::U64), self.atom(ty));
            let kind = match self.rng.flip() {
                true => StmtKind::NewArray(v, n),
                false => StmtKind::FillArray(v, n, fill),
            };
            self.push(&mut block.stmts, comb, kind);
            self.outputs.push(v);
        }
    }

    fn at(rate: RateId, section: Section) -> Place {
        Place::At {
            rate,
            stage: 0,
            section,
        }
    }

    fn counters(&mut self, carries: &mut Vec<(Place, Stmt)>, updates: &mut Vec<(Place, Stmt)>) {
        for (i, rate) in self.l.rates.clone().into_iter().enumerate() {
            let Some(counter) = rate.kind.counter() else {
                continue;
            };
            let (id, comb) = (RateId::new(i), CombId(0));
            let start = match rate.kind {
                RateKind::Nested { .. } => Self::at(id, Section::Nest),
                _ => Place::Init,
            };
            let zero = Const::zero(Ty::U64).into();
            let kind = StmtKind::Carry(counter, zero);
            carries.push((start, Stmt { comb, kind }));
            let next = self.var("nix", comb, Type::Scalar(Ty::U64));
            let args = [counter.into(), Const::u64(1).into()].into_iter().collect();
            let kind = StmtKind::Let(next, Op::Add, args);
            let place = match rate.kind {
                RateKind::Cursor { .. } => Self::at(id, Section::Body),
                _ => Self::at(id, Section::Bottom),
            };
            updates.push((place, Stmt { comb, kind }));
            let kind = StmtKind::Assign(counter, next.into());
            updates.push((place, Stmt { comb, kind }));
        }
    }

    /// Makes one or two groups per rate, of every order, on values of its own.
    fn groups(&mut self, carries: &mut Vec<(Place, Stmt)>, updates: &mut Vec<(Place, Stmt)>) {
        for i in 0..self.l.rates.len() {
            let (step, comb) = (
                RateId::new(i),
                CombId::new(self.rng.below(self.l.combs.len())),
            );
            let owner = match self.rng.flip() {
                true => self.l.root_of(step),
                false => self.l.loop_rate(step),
            };
            // Blocks of a scan need a counter that continues during the group's lifetime.
            let plain = match self.l.rate(step).kind {
                RateKind::Sub { .. } => true,
                RateKind::Nested { .. } => owner != step,
                RateKind::Root { .. } | RateKind::Cursor { .. } => false,
            };
            let inner = |r: &Rate| !r.kind.is_sub() && r.kind.parent().is_some();
            let below = (0..self.l.rates.len())
                .map(RateId::new)
                .any(|r| r != step && inner(self.l.rate(r)) && self.l.is_within(r, step));
            let runs = !below && !self.l.rate(step).kind.is_sub();
            let order = match self.rng.below(5) {
                0 if runs && self.rng.flip() => Order::Runs(4),
                0 => Order::Lanes(8),
                1 => Order::Prefix(if plain { 1 } else { 4 }),
                2 => Order::Exact,
                3 => Order::Sequential,
                _ => continue,
            };
            let ty = if order == Order::Exact {
                Ty::U32
            } else {
                Ty::F64
            };
            let acc = self.var("acc", comb, Type::Scalar(ty));
            let next = self.var("new", comb, Type::Scalar(ty));
            let (start, elem) = (self.constant(ty).into(), self.constant(ty).into());
            let place = match self.l.rate(owner).kind {
                RateKind::Root { .. } => Place::Init,
                _ => Self::at(owner, Section::Nest),
            };
            let kind = StmtKind::Carry(acc, start);
            carries.push((place, Stmt { comb, kind }));
            let place = Self::at(step, Section::Yield);
            if let Order::Prefix(_) = order {
                let kind = StmtKind::Scan {
                    results: vec![next],
                    group: GroupId::new(self.l.groups.len()),
                    elems: vec![elem],
                };
                updates.push((place, Stmt { comb, kind }));
            } else {
                let args = [acc.into(), elem].into_iter().collect();
                let kind = StmtKind::Let(next, Op::Add, args);
                updates.push((place, Stmt { comb, kind }));
                let kind = StmtKind::Assign(acc, next.into());
                updates.push((place, Stmt { comb, kind }));
            }
            let sequential = order == Order::Sequential;
            self.l.groups.push(Group {
                vars: vec![acc],
                owner,
                step,
                start: vec![start],
                identity: if sequential {
                    vec![]
                } else {
                    vec![Const::zero(ty).into()]
                },
                next: vec![next.into()],
                combine: (!sequential).then_some(Combine::Op(Op::Add)),
                level: self.rng.below(3) as u32,
                cycle: false,
                order,
            });
        }
    }

    /// Makes writes, exits and ends.
    fn leave(&mut self, tree: &Tree, place: Place, label: Label, block: &mut Block) {
        let (rate, stage, section) = match place {
            Place::Init => return,
            Place::Return => {
                let results = self.outputs.iter().map(|v| Atom::Var(*v));
                block.end = End::Return(results.collect());
                return;
            }
            Place::At {
                rate,
                stage,
                section,
            } => (rate, stage, section),
        };
        let data = self.l.rate(rate).clone();
        let stages = data
            .parts
            .iter()
            .filter(|p| matches!(p, Part::Stage(_)))
            .count();
        match section {
            Section::Guard => {
                let unless = match (data.kind.counter(), data.kind.bound()) {
                    (Some(counter), Some(bound)) => {
                        let more = self.var("more", label.comb, Type::Scalar(Ty::Bool));
                        let args = [counter.into(), bound].into_iter().collect();
                        self.push(
                            &mut block.stmts,
                            label.comb,
                            StmtKind::Let(more, Op::Lt, args),
                        );
                        more.into()
                    }
                    _ => self.atom(Ty::Bool),
                };
                block.exits.push(Exit {
                    comb: label.comb,
                    unless,
                    target: None,
                });
            }
            Section::Yield => {
                let (i, x) = (self.atom(Ty::U64), self.atom(Ty::F64));
                if let Some(v) = self.outputs.first().copied() {
                    self.push(&mut block.stmts, label.comb, StmtKind::WriteArray(v, i, x));
                }
                if matches!(data.kind, RateKind::Cursor { .. }) && stage as usize + 1 == stages {
                    // The last stage provides the element; `bottom` is for skipped elements.
                    let unless = self.atom(Ty::Bool);
                    block.exits.push(Exit {
                        comb: label.comb,
                        unless,
                        target: self.label(tree, Self::at(rate, Section::Bottom)),
                    });
                    let after = tree.after(&self.l, rate);
                    if let Some(l) = after.and_then(|p| self.label(tree, p)) {
                        block.end = End::Goto(l);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Returns a loop's contents with variables by name.
///
/// Two loops have equal contents if and only if they are equal up to the numbering of variables
/// (and unused variables).
pub fn contents(l: &Loop) -> String {
    let blocks: Vec<_> = l.blocks.iter().collect();
    let numbered = format!(
        "{:?}",
        (
            &l.name,
            &l.combs,
            &l.params,
            &l.functions,
            &l.rates,
            &l.roots,
            &l.groups,
            &l.traps,
            blocks
        )
    );
    let mut text = String::new();
    let mut rest = &numbered[..];
    while let Some(at) = rest.find('v') {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        let digits = from[1..].bytes().take_while(u8::is_ascii_digit).count();
        let word = before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        match from[1..=digits].parse::<usize>() {
            Ok(v) if !word => text.push_str(&format!("{:?}", l.vars[v])),
            _ => text.push_str(&from[..=digits]),
        }
        rest = &from[digits + 1..];
    }
    text + rest
}
