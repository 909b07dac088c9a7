//! The states of rows: registers, lanes that are vectors, and scans.

use crate::ir::{Memory, Operand, Origin, Proof, Shape, Stmt, StmtKind, Value};
use crate::lower::Lower;
use crate::lower::nest::groups_of;
use crate::region::InnerLoop;
use loop_lang::ir::{Combine, GroupId, Order, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;
use rustc_hash::FxHashMap;

/// Where a variable is that begins anew in each row.
#[derive(Clone, Copy)]
pub(super) enum RowState {
    /// In a register.
    One(Value),
    /// In lanes, of which an element has the one of its number.
    Lanes {
        /// All of them, a vector each.
        buffer: Value,
        /// Their number, a power of two.
        of: u32,
        /// The value that they are joined onto.
        start: Operand,
    },
    /// A scan.
    Scan(RowScan),
}

/// The state of a scan in a row.
#[derive(Clone, Copy)]
pub(super) struct RowScan {
    now: Value,
    prefix: Operand,
    total: Value,
    /// The tree of the block under way; none for blocks of one element.
    tree: Option<Value>,
    block: u32,
}

impl<'a> Lower<'_, 'a> {
    /// A variable begins anew in each row.
    pub(in crate::lower) fn start_row(&mut self, v: Var, start: Operand) {
        let program = self.region.program;
        if self.rows().lengths.contains_key(&v) {
            return;
        }
        let shape = Shape::of(program.ty(v).elem(), self.lanes);
        let start = self.as_now(v, start);
        let group = program.group_of(v);
        let order = group.map(|g| program.groups[g.index()].order);
        let of = group.map_or(1, |g| self.lanes_of_group(g));
        let state = match order {
            Some(Order::Prefix(block)) => self.start_row_scan(v, block, start),
            Some(Order::Lanes(_)) if of > 1 => {
                let name = format!("{}_lanes", program.name(v));
                let all = Shape::of(shape.ty, of * self.lanes);
                let buffer = self.add(&name, all, Origin::Buffer);
                let nothing = self.identity(v);
                self.fill(buffer, nothing);
                RowState::Lanes { buffer, of, start }
            }
            Some(Order::Lanes(_)) => {
                let buffer = self.add(program.name(v), shape, Origin::Register);
                let nothing = self.identity(v);
                self.set(buffer, nothing);
                self.now.insert(v, buffer.into());
                RowState::Lanes {
                    buffer,
                    of: 1,
                    start,
                }
            }
            _ => {
                let register = self.add(program.name(v), shape, Origin::Register);
                self.set(register, start);
                self.now.insert(v, register.into());
                RowState::One(register)
            }
        };
        self.rows().kept.insert(v, state);
    }

    fn start_row_scan(&mut self, v: Var, block: u32, start: Operand) -> RowState {
        let program = self.region.program;
        let name = program.name(v);
        let shape = Shape::of(program.ty(v).elem(), self.lanes);
        let nothing = self.identity(v);
        let now = self.add(name, shape, Origin::Register);
        self.set(now, start);
        let total = self.add(&format!("{name}_total"), shape, Origin::Register);
        self.set(total, nothing);
        let entries = block.trailing_zeros();
        let tree = (entries > 0).then(|| {
            let all = Shape::of(shape.ty, entries.next_power_of_two() * self.lanes);
            let tree = self.add(&format!("{name}_tree"), all, Origin::Buffer);
            self.fill(tree, nothing);
            tree
        });
        self.now.insert(v, now.into());
        RowState::Scan(RowScan {
            now,
            prefix: start,
            total,
            tree,
            block,
        })
    }

    /// Stores a value in all of a buffer.
    fn fill(&mut self, buffer: Value, value: Operand) {
        let lanes = self.tile.shape(buffer).lanes;
        for k in 0..lanes / self.lanes {
            self.store(buffer, Lower::u64(u64::from(k * self.lanes)), value);
        }
    }

    fn store(&mut self, buffer: Value, at: Operand, value: Operand) {
        self.push(StmtKind::Store {
            into: Memory::Buffer(buffer),
            at,
            value,
            under: None,
            lanes: self.lanes,
            proof: Proof::Literal,
        });
    }

    fn load(&mut self, name: &str, buffer: Value, at: Operand) -> Operand {
        let shape = Shape::of(self.tile.shape(buffer).ty, self.lanes);
        let to = self.add(name, shape, Origin::Let);
        self.push(StmtKind::Load {
            to,
            from: Memory::Buffer(buffer),
            at,
            under: None,
            proof: Proof::Literal,
        });
        to.into()
    }

    /// Loads the lanes of the rows' elements of this number. Returns their places by the number of lanes.
    pub(super) fn lanes_of_element(&mut self, element: Value) -> FxHashMap<u32, Operand> {
        let mut places: FxHashMap<u32, Operand> = FxHashMap::default();
        let lanes: Vec<(GroupId, Var)> = self.group_vars(|order| order.lanes().is_some()).collect();
        for (_, v) in lanes {
            let Some(RowState::Lanes { buffer, of, .. }) = self.rows().kept.get(&v).copied() else {
                continue;
            };
            if of == 1 {
                continue;
            }
            let at = match places.get(&of) {
                Some(at) => *at,
                None => {
                    let last = Lower::u64(u64::from(of - 1));
                    let lane = self.op("lane", Ty::U64, Op::And, &[element.into(), last]);
                    let rows = Lower::u64(u64::from(self.lanes));
                    self.op("lane", Ty::U64, Op::Mul, &[lane, rows])
                }
            };
            places.insert(of, at);
            let old = self.load(self.region.program.name(v), buffer, at);
            self.now.insert(v, old);
        }
        places
    }

    /// The element is done: variables take their next values, all at once.
    pub(super) fn end_element(&mut self, places: &FxHashMap<u32, Operand>) {
        let next = std::mem::take(&mut self.rows().next);
        let mut sets = Vec::new();
        for (v, value) in next {
            match self.rows().kept.get(&v).copied() {
                Some(RowState::Lanes { buffer, of, .. }) if of > 1 => {
                    self.store(buffer, places[&of], value);
                }
                Some(RowState::Lanes { buffer: to, .. } | RowState::One(to)) => {
                    sets.push((to, self.as_now(v, value)));
                }
                Some(RowState::Scan(scan)) => sets.push((scan.now, value)),
                None => {}
            }
        }
        for (to, value) in sets {
            self.set(to, value);
        }
    }

    /// Joins the lanes of each row's folds. The lanes that a short row does not reach hold nothing.
    pub(super) fn end_rows(&mut self, inner: &InnerLoop<'a>, size: Operand) {
        let program = self.region.program;
        let lanes = inner.groups.iter().copied();
        let lanes: Vec<(GroupId, Var)> = lanes
            .filter(|g| program.groups[g.index()].order.lanes().is_some())
            .flat_map(|g| program.groups[g.index()].vars.iter().map(move |v| (g, *v)))
            .collect();
        for g in groups_of(&lanes) {
            let group = &program.groups[g.index()];
            let kept: Option<Vec<(Value, u32, Operand)>> = (group.vars.iter())
                .map(|v| match self.rows().kept.get(v) {
                    Some(RowState::Lanes { buffer, of, start }) => Some((*buffer, *of, *start)),
                    _ => None,
                })
                .collect();
            let Some(kept) = kept else { continue };
            let mut half = kept.first().map_or(1, |k| k.1) / 2;
            while half > 0 {
                self.join_half(group.combine, &kept, (half, size));
                half /= 2;
            }
            let come_to: Vec<Operand> = (kept.iter())
                .map(|(buffer, of, _)| match of {
                    1 => Operand::from(*buffer),
                    _ => self.load("joined", *buffer, Lower::u64(0)),
                })
                .collect();
            let starts: Vec<Operand> = kept.iter().map(|k| k.2).collect();
            let name = program.name(group.vars[0]).to_string();
            let totals = self.joined(group.combine, &name, &starts, &come_to);
            self.now.extend(group.vars.iter().copied().zip(totals));
        }
    }

    /// Joins the second half of some lanes onto the first, if rows reach it.
    fn join_half(
        &mut self,
        by: Option<Combine>,
        kept: &[(Value, u32, Operand)],
        (half, size): (u32, Operand),
    ) {
        let comb = self.comb;
        let cond = self.op("reach", Ty::Bool, Op::Gt, &[size, Lower::u64(half.into())]);
        let around = std::mem::take(&mut self.out);
        let lane = self.add("lane", Shape::scalar(Ty::U64), Origin::Let);
        let rows = Lower::u64(u64::from(self.lanes));
        let at = self.op("lane", Ty::U64, Op::Mul, &[lane.into(), rows]);
        let far = Lower::u64(u64::from(half * self.lanes));
        let behind = self.op("behind", Ty::U64, Op::Add, &[at, far]);
        let x: Vec<Operand> = kept.iter().map(|k| self.load("half", k.0, at)).collect();
        let y: Vec<Operand> = kept
            .iter()
            .map(|k| self.load("half", k.0, behind))
            .collect();
        let joined = self.joined(by, "half", &x, &y);
        for ((buffer, ..), joined) in kept.iter().zip(joined) {
            self.store(*buffer, at, joined);
        }
        let body: Vec<Stmt> = self.body(Vec::new());
        self.for_(
            lane,
            (Lower::u64(0), Lower::u64(half.into())),
            1,
            false,
            body,
        );
        let then = self.body(around);
        self.comb = comb;
        self.push(StmtKind::If {
            cond,
            then,
            other: Vec::new(),
        });
    }

    /// Elements are joined onto the scans of their rows. Each row is at a place of its own in its block.
    pub(in crate::lower) fn scan_in_row(
        &mut self,
        results: &[Var],
        g: GroupId,
        elems: Vec<Operand>,
    ) {
        let program = self.region.program;
        let group = &program.groups[g.index()];
        let scans: Option<Vec<RowScan>> = (group.vars.iter())
            .map(|v| match self.rows().kept.get(v) {
                Some(RowState::Scan(scan)) => Some(*scan),
                _ => None,
            })
            .collect();
        let Some(scans) = scans else { return };
        let block = scans.first().map_or(1, |scan| scan.block);
        let last = Lower::u64(u64::from(block - 1));
        let place = match (block, self.positions) {
            (2.., Some(each)) => Some(self.op("place", Ty::U64, Op::And, &[each, last])),
            _ => None,
        };
        let mut sums = elems;
        for k in 0..block.trailing_zeros() {
            let Some(place) = place else { break };
            let bit = self.op("bit", Ty::U64, Op::And, &[place, Lower::u64(1 << k)]);
            let joins = self.op("joins", Ty::Bool, Op::Ne, &[bit, Lower::u64(0)]);
            let at = Lower::u64(u64::from(k * self.lanes));
            let trees = || scans.iter().filter_map(|scan| scan.tree);
            let before: Vec<Operand> = trees().map(|tree| self.load("before", tree, at)).collect();
            let joined = self.joined(group.combine, "joined", &before, &sums);
            for (k, tree) in trees().enumerate() {
                let ty = self.tile.shape(tree).ty;
                let kept = self.op("kept", ty, Op::Select, &[joins, before[k], sums[k]]);
                self.store(tree, at, kept);
                sums[k] = self.op("sum", ty, Op::Select, &[joins, joined[k], sums[k]]);
            }
        }
        let totals: Vec<Operand> = scans.iter().map(|scan| scan.total.into()).collect();
        let prefixes: Vec<Operand> = scans.iter().map(|scan| scan.prefix).collect();
        let ends = self.joined(group.combine, "chunk", &totals, &sums);
        let name = results.first().map_or("", |v| program.name(*v));
        let outs = self.joined(group.combine, name, &prefixes, &ends);
        for (k, scan) in scans.iter().enumerate() {
            let ty = self.tile.shape(scan.total).ty;
            let total = match place {
                Some(place) => {
                    let full = self.op("full", Ty::Bool, Op::Eq, &[place, last]);
                    self.op("total", ty, Op::Select, &[full, ends[k], totals[k]])
                }
                None => ends[k],
            };
            self.set(scan.total, total);
            self.rows().next.push((group.vars[k], outs[k]));
        }
        self.now.extend(results.iter().copied().zip(outs));
    }
}
