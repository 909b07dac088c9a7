//! What scans come to: step by step, with the tree of the block under way in the frame, or a block at a time.
//!
//! [`loop_lang::state`] says what a scan keeps, and in which order its elements are joined. Whole blocks leave the tree as
//! it was: the next block sets each of its entries before it reads it.

use super::Lower;
use crate::ir::{Kept, Memory, Operand, Origin, Proof, Shape, StmtKind, Value};
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
        let elems: Vec<Operand> = elems.iter().map(|a| self.operand(*a)).collect();
        let place = self.in_block(block);
        let sums = match (self.lanes, group.combine) {
            (1, by) => self.in_tree(&group.vars, place.zip(Some(block)), by, elems),
            (_, Some(Combine::Op(op))) => vec![self.in_vector(&group.vars, op, &elems)],
            _ => return,
        };
        let [prefixes, totals, lasts] = Kept::ALL.map(|kept| self.kept(&group.vars, kept));
        let names: Vec<&str> = results.iter().map(|v| program.name(*v)).collect();
        let join = |lower: &mut Self, sums: &[Operand]| {
            let ends = lower.joined(group.combine, "chunk", &operands(&totals), sums);
            let outs = lower.joined(group.combine, names[0], &operands(&prefixes), &ends);
            (ends, outs)
        };
        let (ends, outs) = join(self, &sums);
        results.iter().zip(&outs).for_each(|(v, out)| {
            self.now.insert(*v, *out);
        });
        // From block to block there is one operation, and no lane to be taken out.
        let (ends, last) = match self.lanes {
            1 => (ends, outs.clone()),
            _ => {
                let end = vec![self.last(sums[0])];
                join(self, &end)
            }
        };
        for (i, v) in group.vars.iter().enumerate() {
            let total = match place {
                Some(place) => self.when_full(place, block, ends[i], totals[i]),
                None => ends[i],
            };
            self.set(totals[i], total);
            self.set(lasts[i], ends[i]);
            if self.lanes > 1 && self.is_read(*v) {
                let before = self.slide(*v, outs[i]);
                self.now.insert(*v, before);
            }
            let target = self.next.get(v).unwrap_or(&self.carried[v]);
            self.set(*target, last[i]);
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
                from: Memory::Tree(*v),
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
                into: Memory::Tree(*v),
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
        let (at, mask) = (self.at?, u64::from(block - 1));
        Some(self.op("place", Ty::U64, Op::And, &[at, Lower::u64(mask)]))
    }

    /// The total behind an element: it goes on where that is its block's last.
    fn when_full(&mut self, place: Operand, block: u32, end: Operand, total: Value) -> Operand {
        let last = Lower::u64(u64::from(block - 1));
        let full = self.op("full", Ty::Bool, Op::Eq, &[place, last]);
        let ty = self.shape(end).ty;
        self.op("total", ty, Op::Select, &[full, end, total.into()])
    }

    /// The last lane.
    pub(super) fn last(&mut self, of: Operand) -> Operand {
        let to = self.add("end", Shape::scalar(self.shape(of).ty), Origin::Let);
        self.push(StmtKind::Last { to, of });
        to.into()
    }

    /// What a variable was before each of a block's elements.
    fn slide(&mut self, v: Var, outs: Operand) -> Operand {
        let name = format!("{}_before", self.region.program.name(v));
        let to = self.add(&name, self.shape(outs), Origin::Let);
        self.push(StmtKind::Slide {
            to,
            first: self.carried[&v].into(),
            of: outs,
        });
        to.into()
    }

    /// Whether a step looks at what a scan had come to.
    fn is_read(&self, v: Var) -> bool {
        let mut read = false;
        for s in &self.sweep.statements {
            facts::each_use(s.stmt, &mut |u| read |= u == v);
        }
        read
    }

    /// Values joined, the left ones earlier; the later stay where nothing joins them.
    fn joined(
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
