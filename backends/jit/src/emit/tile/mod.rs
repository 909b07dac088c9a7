//! Tiles as machine code: a range of an innermost loop's steps, in front of its guard. What is done is the tile's to
//! say; nothing is decided here.
//!
//! | module | writes |
//! | --- | --- |
//! | `calls` | which tiles there are, and at which guards |
//! | `run` | which tile is entered, and for how many steps |
//! | `zip` | sides that fill buffers, and what runs behind them |
//! | `values` | scalars, lanes in registers of 128 bits, masks |
//! | `ops`, `lanes` | operators, one for all lanes where the machine has it; other types in the lanes |
//! | `nest` | segments, and turns that are rolled back |
//! | `scans` | what goes from lane to lane |
//! | `memory` | loads, stores, elements at indices of their own |
//! | `pack` | lanes that a mask sets, stored side by side |

mod calls;
mod lanes;
mod memory;
mod nest;
mod ops;
mod pack;
mod run;
mod scans;
mod values;
mod zip;

pub(super) use calls::Calls;

use super::Emit;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, StackSlot, Value};
use cranelift_frontend::Variable;
use livefusion_tile::ir::{self, Operand, Stmt, StmtKind, Tile};
use loop_lang::types::Ty;
use rustc_hash::FxHashMap;
use values::Printed;

/// A tile being written.
struct Printer<'p, 'a, 'f> {
    emit: &'p mut Emit<'a, 'f>,
    tile: &'p Tile,
    /// Lanes of its vectors.
    lanes: u32,
    /// What each lane of a mask is as wide as: the widest lane that there is.
    mask: Ty,
    values: Vec<Option<Printed>>,
    registers: FxHashMap<ir::Value, Vec<Variable>>,
    /// Memory for buffers.
    buffers: FxHashMap<ir::Value, StackSlot>,
    /// The loop over the range: its counter, and what stands behind it.
    range: Option<(Variable, Block)>,
    /// Of a tile with segments.
    turns: Option<nest::Turns>,
}

impl<'p, 'a, 'f> Printer<'p, 'a, 'f> {
    fn of(
        emit: &'p mut Emit<'a, 'f>,
        tile: &'p Tile,
        (from, end): (Value, Value),
    ) -> Printer<'p, 'a, 'f> {
        let wide = (tile.each_value()).filter(|(_, data)| data.shape.lanes > 1);
        let widest = wide.map(|(_, data)| data.shape.ty.size()).max();
        let mut printer = Printer {
            emit,
            tile,
            lanes: tile.lanes(),
            mask: values::unsigned(widest.unwrap_or(1)),
            values: vec![None; tile.values.len()],
            registers: FxHashMap::default(),
            buffers: FxHashMap::default(),
            range: None,
            turns: None,
        };
        printer.declare((from, end));
        printer
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|s| self.stmt(&s.kind));
    }

    fn stmt(&mut self, kind: &StmtKind) {
        match kind {
            StmtKind::Let { to, op, args } => self.let_op(*to, *op, args),
            StmtKind::Positions { to, from } => self.positions(*to, *from),
            StmtKind::Until { to, at, end } => self.until(*to, *at, *end),
            StmtKind::Load {
                to,
                from,
                at,
                under,
                ..
            } => self.load(*to, *from, *at, *under),
            StmtKind::Gather { to, array, at } => self.gather(*to, *array, *at),
            StmtKind::Across {
                into,
                array,
                at,
                lanes,
                apart,
                steps,
                ..
            } => self.across(*into, (*array, *at), *lanes, (*apart, *steps)),
            StmtKind::Store {
                into,
                at,
                value,
                under,
                lanes,
                ..
            } => self.store(*into, *at, *value, *under, *lanes),
            StmtKind::Put {
                array,
                at,
                value,
                by,
                under,
                lanes,
            } => self.put(*array, (*at, *value), *by, *under, *lanes),
            StmtKind::Compress {
                into,
                at,
                value,
                under,
                ..
            } => self.compress(*into, *at, *value, *under),
            StmtKind::Sort { arrays, rows } => {
                let rows = self.scalar(*rows);
                self.emit.sort(arrays, rows);
            }
            StmtKind::Length { to, array } => {
                let length = self.emit.length(*array);
                self.define(*to, Printed::Scalar(length, 0));
            }
            StmtKind::Count { to, of } => self.count(*to, *of),
            StmtKind::Any { to, of } => self.any(*to, *of),
            StmtKind::Scan { to, op, of } => self.scan(*to, *op, *of),
            StmtKind::Beat { to, op, new, old } => self.beat(*to, *op, (*new, *old)),
            StmtKind::Lane { to, of, at } => self.one_lane(*to, *of, *at),
            StmtKind::SetLane { to, at, value } => self.set_lane(*to, *at, *value),
            StmtKind::Last { to, of } => self.last(*to, *of),
            StmtKind::Slide { to, first, of } => self.slide(*to, *first, *of),
            StmtKind::Reverse { to, of } => self.reverse(*to, *of),
            StmtKind::Halves { to, op, beats, of } => self.halves(*to, (*op, *beats), *of),
            StmtKind::Set { to, value } => self.set(*to, *value),
            StmtKind::Trap { unless } => {
                let ok = self.all(*unless);
                self.emit.trap_unless(ok);
            }
            StmtKind::Leave { at, unless } => {
                let on = self.emit.builder.create_block();
                let out = self.emit.builder.create_block();
                let (at, unless) = (self.scalar(*at), self.scalar(*unless));
                self.branch(unless, on, out);
                self.emit.begin(out);
                self.leave_at(at);
                self.emit.begin(on);
            }
            StmtKind::For {
                counter,
                from,
                to,
                step,
                unroll: true,
                body,
            } => self.unrolled(*counter, (*from, *to), *step, body),
            StmtKind::For { .. } => self.for_(kind),
            StmtKind::Segment { .. } => self.segment(kind),
            StmtKind::DryRun { body } => self.dry_run(body),
            StmtKind::If { cond, then, other } => self.if_(*cond, then, other),
            StmtKind::While { test, cond, body } => self.while_(test, *cond, body),
        }
    }

    /// A loop that is written out: its counter is known in each turn.
    fn unrolled(
        &mut self,
        counter: ir::Value,
        (from, to): (Operand, Operand),
        step: u64,
        body: &[Stmt],
    ) {
        let (Printed::Known(from), Printed::Known(to)) = (self.printed(from), self.printed(to))
        else {
            return;
        };
        for at in (from..to).step_by(step as usize) {
            self.define(counter, Printed::Known(at));
            self.stmts(body);
        }
    }

    /// A loop over the tile's range has a turn, and is tested behind its body; others are tested in front.
    fn for_(&mut self, kind: &StmtKind) {
        let StmtKind::For {
            counter,
            from,
            to,
            step,
            body,
            ..
        } = kind
        else {
            return;
        };
        let range = self.tile.is_range(kind);
        let (from, to) = (self.scalar(*from), self.scalar(*to));
        let in_pieces = range && self.tile.is_in_pieces();
        let [carried, changed] = self.carried(if in_pieces { body } else { &[] });
        self.emit.take_slots(carried);
        let index = (self.emit.builder).declare_var(cranelift_codegen::ir::types::I64);
        self.emit.builder.def_var(index, from);
        let inside = self.emit.builder.create_block();
        let after = self.emit.builder.create_block();
        if range {
            self.range = Some((index, after));
            self.emit.builder.ins().jump(inside, &[]);
        } else {
            let some = self.emit.less(from, to);
            self.branch(some, inside, after);
        }
        self.emit.builder.switch_to_block(inside);
        let at = self.emit.builder.use_var(index);
        self.define(*counter, Printed::Scalar(at, 0));
        if range {
            self.begin_turn(at, *step);
        }
        self.stmts(body);
        if range {
            self.end_turn();
        }
        let next = self.emit.builder.ins().iadd_imm_u(at, *step as i64);
        self.emit.builder.def_var(index, next);
        let more = self.emit.less(next, to);
        self.branch(more, inside, after);
        self.emit.builder.seal_block(inside);
        self.emit.begin(after);
        self.emit.put_back_slots(&changed);
    }

    fn branch(&mut self, cond: Value, yes: Block, no: Block) {
        self.emit.builder.ins().brif(cond, yes, &[], no, &[]);
    }

    fn if_(&mut self, cond: Operand, then: &[Stmt], other: &[Stmt]) {
        match self.printed(cond) {
            Printed::Known(0) => return self.stmts(other),
            Printed::Known(_) => return self.stmts(then),
            _ => {}
        }
        let cond = self.scalar(cond);
        let yes = self.emit.builder.create_block();
        let after = self.emit.builder.create_block();
        let no = match other.is_empty() {
            true => after,
            false => self.emit.builder.create_block(),
        };
        self.branch(cond, yes, no);
        self.emit.begin(yes);
        self.stmts(then);
        self.emit.builder.ins().jump(after, &[]);
        if !other.is_empty() {
            self.emit.begin(no);
            self.stmts(other);
            self.emit.builder.ins().jump(after, &[]);
        }
        self.emit.begin(after);
    }

    fn while_(&mut self, test: &[Stmt], cond: Operand, body: &[Stmt]) {
        let head = self.emit.builder.create_block();
        let inside = self.emit.builder.create_block();
        let after = self.emit.builder.create_block();
        self.emit.builder.ins().jump(head, &[]);
        self.emit.builder.switch_to_block(head);
        self.stmts(test);
        let more = self.scalar(cond);
        self.emit.go_on(more, inside, after);
        self.emit.begin(inside);
        self.stmts(body);
        self.emit.builder.ins().jump(head, &[]);
        self.emit.builder.seal_block(head);
        self.emit.begin(after);
    }

    /// Whether an integer is zero, or is not.
    fn is_zero(&mut self, x: Value, zero: bool) -> Value {
        let code = match zero {
            true => IntCC::Equal,
            false => IntCC::NotEqual,
        };
        self.emit.builder.ins().icmp_imm_u(code, x, 0)
    }
}
