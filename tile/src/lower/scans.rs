//! What scans come to: step by step, with the tree of the block under way in the frame, or a block at a time.
//!
//! [`loop_lang::state`] says what a scan keeps, and in which order its elements are joined. Whole blocks leave the tree
//! as it was: the next block sets each of its entries before it reads it.

use super::Lower;
use crate::ir::{Kept, Memory, Operand, Origin, Proof, Shape, StmtKind, Value};
use crate::region::Role;
use crate::region::delay::keeps_last;
use livefusion_backend::facts;
use loop_lang::ir::{Atom, Combine, GroupId, Order, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;

impl Lower<'_, '_> {
    /// Elements are joined onto what a group has come to.
    pub(super) fn scan(&mut self, results: &[Var], g: GroupId, elems: &[Atom]) {
        let program = self.region.program;
        let group = &program.groups[g.index()];
        let Order::Prefix(block) = group.order else {
            return;
        };
        let keeps_last = keeps_last(program, g, elems);
        let mut elems: Vec<Operand> = elems.iter().map(|a| self.operand(*a)).collect();
        if keeps_last {
            return self.delay(results, &group.vars, &elems);
        }
        if let (Some(here), [v]) = (self.here, &group.vars[..]) {
            let nothing = self.identity(*v);
            elems = vec![self.select(Some(here), elems[0], nothing)];
        }
        let place = self.in_block(block);
        let sums = match (self.lanes, group.combine) {
            (1, by) => self.in_tree(&group.vars, place.zip(Some(block)), by, elems),
            (_, Some(Combine::Op(op))) => vec![self.in_vector(&group.vars, op, &elems)],
            _ => return,
        };
        let [prefixes, totals, lasts] = Kept::ALL.map(|kept| self.kept(&group.vars, kept));
        let names: Vec<&str> = results.iter().map(|v| program.name(*v)).collect();
        if let (Some(Combine::Op(op)), [v]) = (group.combine, &group.vars[..])
            && self.lanes > 1
        {
            let outs = self.in_blocks(*v, op, (sums[0], prefixes[0]), names[0]);
            self.now.extend(results.iter().map(|r| (*r, outs)));
            return;
        }
        let ends = self.joined(group.combine, "chunk", &operands(&totals), &sums);
        let outs = self.joined(group.combine, names[0], &operands(&prefixes), &ends);
        self.now
            .extend(results.iter().copied().zip(outs.iter().copied()));
        for (i, v) in group.vars.iter().enumerate() {
            let total = match place {
                Some(place) => self.when_full(place, block, ends[i], totals[i]),
                None => ends[i],
            };
            self.set(totals[i], total);
            self.set(lasts[i], ends[i]);
            let target = self.next.get(v).unwrap_or(&self.carried[v]);
            self.set(*target, outs[i]);
        }
    }

    /// Elements of a delay. A lane sees that of the lane before, the first one the last lane of the vector before.
    fn delay(&mut self, results: &[Var], vars: &[Var], elems: &[Operand]) {
        for ((v, elem), result) in vars.iter().zip(elems).zip(results) {
            let mut elem = *elem;
            let to = self
                .wide
                .get(v)
                .map(|wide| wide[0].1)
                .filter(|_| self.lanes > 1);
            match (to, self.shape(elem).is_scalar()) {
                (Some(_), true) => elem = self.in_all_lanes(elem, self.shape(elem).ty),
                (None, false) => elem = self.last(elem),
                _ => {}
            }
            if let Some(to) = to {
                let before = self.slide(*v, to.into(), elem);
                self.set(to, elem);
                self.now.insert(*v, before);
            } else {
                self.keep(*v, elem);
            }
            self.now.insert(*result, elem);
        }
    }

    /// The steps so far end with an element of a delay.
    fn keep(&mut self, v: Var, elem: Operand) {
        let [_, total, last] = Kept::ALL.map(|kept| self.kept(&[v], kept)[0]);
        let now = *self.next.get(&v).unwrap_or(&self.carried[&v]);
        for state in [total, last, now] {
            self.set(state, elem);
        }
    }

    /// What a block's elements come to with what was there before. From block to block there is one operation, in all
    /// lanes; what the last block has come to is kept as it is.
    fn in_blocks(
        &mut self,
        v: Var,
        op: Op,
        (sums, prefix): (Operand, Value),
        name: &str,
    ) -> Operand {
        let [total, last, now] = [0, 1, 2].map(|k| self.wide[&v][k].1);
        let ty = self.shape(sums).ty;
        let ends = self.op("chunk", ty, op, &[total.into(), sums]);
        let outs = self.op(name, ty, op, &[prefix.into(), ends]);
        if self.is_read(v) {
            let before = self.slide(v, now.into(), outs);
            self.now.insert(v, before);
        }
        let end = self.last_everywhere(sums);
        let next = self.op("total", ty, op, &[total.into(), end]);
        self.set(total, next);
        self.set(last, ends);
        self.set(now, outs);
        outs
    }

    /// Registers for what goes from vector to vector, with the states that they are for.
    pub(super) fn widen(&mut self) {
        let inner_loop = self.inner_loop;
        for (v, role) in &inner_loop.roles {
            let states = match role {
                Role::Running { .. } if !self.is_packed(*v) => vec![self.carried[v]],
                Role::Delay if self.is_read(*v) => vec![self.carried[v]],
                Role::Scan(block) if *block == self.lanes => {
                    let [_, total, last] = Kept::ALL.map(|kept| self.kept(&[*v], kept)[0]);
                    vec![total, last, self.carried[v]]
                }
                _ => continue,
            };
            let mut wide = Vec::new();
            for state in states {
                let data = self.tile.value(state);
                let (name, ty) = (format!("{}_all", data.name), data.shape.ty);
                let shape = Shape::of(ty, self.lanes);
                let register = self.add(&name, shape, Origin::Register);
                self.set(register, state.into());
                wide.push((state, register));
            }
            self.wide.insert(*v, wide);
        }
    }

    /// What went from vector to vector goes to where it belongs.
    pub(super) fn narrow(&mut self) {
        let inner_loop = self.inner_loop;
        for (v, role) in &inner_loop.roles {
            for (state, register) in self.wide.get(v).cloned().unwrap_or_default() {
                let last = self.last(register.into());
                match role {
                    Role::Delay => self.keep(*v, last),
                    _ => self.set(state, last),
                }
            }
        }
    }

    /// A scan begins anew: nothing has been joined yet.
    pub(super) fn start_scan(&mut self, v: Var, block: u32, start: Operand) {
        let program = self.region.program;
        let shape = Shape::scalar(program.ty(v).elem());
        let identity = self.identity(v);
        for kept in Kept::ALL {
            let name = format!("{}_{}", program.name(v), kept.name());
            let register = self.add(&name, shape, Origin::Register);
            let value = if kept == Kept::Prefix {
                start
            } else {
                identity
            };
            self.set(register, value);
            self.kept.insert((v, kept), register);
        }
        let now = self.add(program.name(v), shape, Origin::Register);
        self.set(now, start);
        self.carried.insert(v, now);
        self.now.insert(v, now.into());
        let owner = program.group_of(v).map(|g| program.groups[g.index()].owner);
        let one_by_one = owner.is_none_or(|rate| self.schedule.vectors(rate).0 == 1);
        let entries = block.trailing_zeros();
        if entries > 0 && one_by_one {
            let shape = Shape::of(shape.ty, entries.next_power_of_two());
            let name = format!("{}_tree", program.name(v));
            let tree = self.add(&name, shape, Origin::Buffer);
            self.buffers.insert(v, tree);
            for step in 0..entries {
                self.push(StmtKind::Store {
                    into: Memory::Buffer(tree),
                    at: Lower::u64(u64::from(step)),
                    value: identity,
                    under: None,
                    lanes: 1,
                    proof: Proof::Literal,
                });
            }
        }
    }

    /// What is kept of a scan's variables.
    fn kept(&mut self, vars: &[Var], kept: Kept) -> Vec<Value> {
        let mut all = Vec::new();
        for v in vars {
            let known = self.kept.get(&(*v, kept)).copied();
            all.push(known.unwrap_or_else(|| {
                let name = format!("{}_{}", self.region.program.name(*v), kept.name());
                let shape = Shape::scalar(self.region.program.ty(*v).elem());
                let value = self.add(&name, shape, Origin::Scan(*v, kept));
                self.kept.insert((*v, kept), value);
                value
            }));
        }
        all
    }

    /// An element, joined with those of its block before it.
    fn in_tree(
        &mut self,
        vars: &[Var],
        place: Option<(Operand, u32)>,
        by: Option<Combine>,
        elems: Vec<Operand>,
    ) -> Vec<Operand> {
        let Some((place, block)) = place else {
            return elems;
        };
        let comb = self.comb;
        let mut sums = Vec::new();
        for (v, elem) in vars.iter().zip(elems) {
            let name = format!("{}_sum", self.region.program.name(*v));
            let shape = self.shape(elem);
            let sum = self.add(&name, shape, Origin::Register);
            self.set(sum, elem);
            sums.push(sum);
        }
        let outer = std::mem::take(&mut self.out);
        let step = self.add("step", Shape::scalar(Ty::U64), Origin::Let);
        let bit = self.op("bit", Ty::U64, Op::Shr, &[place, step.into()]);
        let bit = self.op("bit", Ty::U64, Op::And, &[bit, Lower::u64(1)]);
        let joins = self.op("joins", Ty::Bool, Op::Ne, &[bit, Lower::u64(0)]);
        let around = std::mem::take(&mut self.out);
        let mut left = Vec::new();
        for (v, sum) in vars.iter().zip(&sums) {
            let to = self.add("before", self.tile.shape(*sum), Origin::Let);
            self.push(StmtKind::Load {
                to,
                from: self.tree(*v),
                at: step.into(),
                under: None,
                proof: Proof::Literal,
            });
            left.push(to.into());
        }
        let joined = self.joined(by, "joined", &left, &operands(&sums));
        for (sum, joined) in sums.iter().zip(joined) {
            self.set(*sum, joined);
        }
        let then = self.body(Vec::new());
        for (v, sum) in vars.iter().zip(&sums) {
            self.push(StmtKind::Store {
                into: self.tree(*v),
                at: step.into(),
                value: (*sum).into(),
                under: None,
                lanes: 1,
                proof: Proof::Literal,
            });
        }
        let other = self.body(around);
        self.push(StmtKind::If {
            cond: joins,
            then,
            other,
        });
        let body = self.body(outer);
        let steps = Lower::u64(u64::from(block.trailing_zeros()));
        self.for_(step, (Lower::u64(0), steps), 1, true, body);
        self.comb = comb;
        operands(&sums)
    }

    /// Where a scan keeps the block under way: of a segment, in a memory of its own.
    fn tree(&self, v: Var) -> Memory {
        match self.buffers.get(&v) {
            Some(buffer) => Memory::Buffer(*buffer),
            None => Memory::Tree(v),
        }
    }

    /// A block's elements, each joined with those before it.
    fn in_vector(&mut self, vars: &[Var], op: Op, elems: &[Operand]) -> Operand {
        let name = format!("{}_sum", self.region.program.name(vars[0]));
        let shape = Shape::of(self.shape(elems[0]).ty, self.lanes);
        let to = self.add(&name, shape, Origin::Let);
        let of = elems[0];
        self.push(StmtKind::Scan { to, op, of });
        to.into()
    }

    /// Where an element is in its block, of more than one. Vectors are blocks.
    fn in_block(&mut self, block: u32) -> Option<Operand> {
        if self.lanes > 1 || block == 1 {
            return None;
        }
        let mask = Lower::u64(u64::from(block - 1));
        Some(match self.turn {
            // A turn begins at a multiple of its steps.
            Some((_, place)) if self.granule() == u64::from(block) => place,
            Some((_, place)) if self.granule() > u64::from(block) => {
                self.op("place", Ty::U64, Op::And, &[place, mask])
            }
            _ => self.op("place", Ty::U64, Op::And, &[self.at?, mask]),
        })
    }

    /// The total behind an element: it goes on where that is its block's last.
    fn when_full(&mut self, place: Operand, block: u32, end: Operand, total: Value) -> Operand {
        let last = Lower::u64(u64::from(block - 1));
        let full = self.op("full", Ty::Bool, Op::Eq, &[place, last]);
        let ty = self.shape(end).ty;
        self.op("total", ty, Op::Select, &[full, end, total.into()])
    }

    /// The last lane.
    fn last(&mut self, of: Operand) -> Operand {
        let to = self.add("end", Shape::scalar(self.shape(of).ty), Origin::Let);
        self.push(StmtKind::Last { to, of });
        to.into()
    }

    /// The last lane, in all lanes.
    pub(super) fn last_everywhere(&mut self, of: Operand) -> Operand {
        let to = self.add("end", self.shape(of), Origin::Let);
        self.push(StmtKind::Last { to, of });
        to.into()
    }

    /// What a variable was before each of a vector's elements.
    pub(super) fn slide(&mut self, v: Var, first: Operand, of: Operand) -> Operand {
        let name = format!("{}_before", self.region.program.name(v));
        let to = self.add(&name, self.shape(of), Origin::Let);
        self.push(StmtKind::Slide { to, first, of });
        to.into()
    }

    /// Whether a step looks at what a scan had come to.
    fn is_read(&self, v: Var) -> bool {
        let mut read = false;
        for s in &self.inner_loop.statements {
            facts::each_use(s.stmt, &mut |u| read |= u == v);
        }
        read
    }

    /// Values joined, the left ones earlier; the later stay where nothing joins them.
    pub(super) fn joined(
        &mut self,
        by: Option<Combine>,
        name: &str,
        left: &[Operand],
        right: &[Operand],
    ) -> Vec<Operand> {
        match by {
            Some(Combine::Op(op)) => {
                let ty = self.shape(right[0]).ty;
                vec![self.op(name, ty, op, &[left[0], right[0]])]
            }
            Some(Combine::Fn(f)) => self.call(f, left, right),
            None => right.to_vec(),
        }
    }
}

fn operands(values: &[Value]) -> Vec<Operand> {
    values.iter().map(|v| Operand::from(*v)).collect()
}
