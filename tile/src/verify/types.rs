//! Types and lanes of operands, results and memory.

use super::Faults;
use crate::ir::{MAX_LANES, Memory, Operand, Origin, Shape, Stmt, StmtKind, Tile, Value};
use loop_lang::Loop;
use loop_lang::ir::{Type, Var};
use loop_lang::liveness;
use loop_lang::op::Op;
use loop_lang::types::Ty;

/// Checks them. Returns whether there is no fault.
pub(super) fn check<'a>(tile: &'a Tile, program: &'a Loop, faults: &mut Faults<'a>) -> bool {
    let before = faults.all.len();
    let mut types = Types {
        tile,
        program,
        faults,
        made: liveness::made_arrays(program),
    };
    for (_, data) in tile.each_value() {
        let right = match data.origin {
            Origin::From | Origin::End => Some(Shape::scalar(Ty::U64)),
            Origin::Given(v) | Origin::State(v) | Origin::Scan(v, _) => types.scalar_of(v),
            Origin::Register | Origin::Buffer | Origin::Let => Some(data.shape),
        };
        if right != Some(data.shape) {
            types
                .faults
                .add(format!("{} is no {}", data.name, data.shape));
        }
        types.lanes(data.shape.lanes, &data.name);
    }
    tile.each_stmt(&mut |s| types.stmt(s));
    faults.at = None;
    faults.all.len() == before
}

struct Types<'f, 'a> {
    tile: &'a Tile,
    program: &'a Loop,
    faults: &'f mut Faults<'a>,
    /// The arrays made by the loop.
    made: Vec<Var>,
}

impl<'a> Types<'_, 'a> {
    fn scalar_of(&self, v: Var) -> Option<Shape> {
        match self.program.vars.get(v.index())?.ty {
            Type::Scalar(ty) => Some(Shape::scalar(ty)),
            Type::Array(_) => None,
        }
    }

    fn want(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.faults.add(what());
        }
    }

    fn lanes(&mut self, lanes: u32, what: &str) {
        let right = lanes.is_power_of_two() && lanes <= MAX_LANES;
        self.want(right, || format!("{what} has {lanes} lanes"));
    }

    fn shape(&self, a: Operand) -> Shape {
        self.tile.operand_shape(a)
    }

    fn name(&self, v: Value) -> &str {
        &self.tile.value(v).name
    }

    /// Checks that an operand is a scalar of a type.
    fn scalar(&mut self, a: Operand, ty: Ty, what: &str) {
        let got = self.shape(a);
        self.want(got == Shape::scalar(ty), || {
            format!("{what} is {got}, not {}", ty.name())
        });
    }

    /// Checks that an operand has the given lanes, or is a scalar to broadcast.
    fn fits(&mut self, a: Operand, of: Shape, what: &str) {
        let got = self.shape(a);
        let right = got.ty == of.ty && (got.lanes == of.lanes || got.lanes == 1);
        self.want(right, || format!("{what} is {got}, not {of}"));
    }

    /// Returns the element type of memory, after a check of whether it may be accessed.
    fn memory(&mut self, m: Memory, writes: bool) -> Option<Ty> {
        let (v, wants) = match m {
            Memory::Array(a) => (a, true),
            Memory::Lanes(v) | Memory::Tree(v) => (v, false),
            Memory::Register(v) => return self.own(v, Origin::Register),
            Memory::Buffer(v) => return self.own(v, Origin::Buffer),
        };
        let ty = self.program.vars.get(v.index()).map(|d| d.ty);
        let given = !writes && self.program.params.iter().any(|p| p.var == v);
        match ty {
            Some(Type::Array(ty)) if wants && (given || self.made.contains(&v)) => Some(ty),
            Some(Type::Scalar(ty)) if !wants => Some(ty),
            _ => {
                let writes = if writes { "written" } else { "read" };
                self.faults
                    .add(format!("what is {writes} is no memory for it"));
                None
            }
        }
    }

    /// Returns the element type of a register or buffer.
    fn own(&mut self, v: Value, origin: Origin) -> Option<Ty> {
        let data = self.tile.values.get(v.index());
        let own = data.filter(|d| d.origin == origin);
        self.want(own.is_some(), || {
            "lanes of no register or buffer".to_string()
        });
        own.map(|d| d.shape.ty)
    }

    fn stmt(&mut self, s: &'a Stmt) {
        self.faults.at = Some(&s.kind);
        let mask = |lanes| Shape::of(Ty::Bool, lanes);
        match &s.kind {
            StmtKind::Let { to, op, args } => {
                let shape = self.tile.shape(*to);
                let types: Vec<Ty> = args.iter().map(|a| self.shape(*a).ty).collect();
                let name = self.name(*to).to_string();
                let result = op.result(&types, Some(shape.ty));
                self.want(result == Some(shape.ty), || {
                    let of: Vec<&str> = types.iter().map(|ty| ty.name()).collect();
                    let (op, of) = (op.name(), of.join(", "));
                    format!("{name}: {op} of {of} is no {}", shape.ty)
                });
                for a in args {
                    let lanes = self.shape(*a).lanes;
                    self.want(lanes == 1 || lanes == shape.lanes, || {
                        format!("{name} has {} lanes, an operand {lanes}", shape.lanes)
                    });
                }
            }
            StmtKind::Positions { to, from } => {
                self.scalar(*from, Ty::U64, "the first position");
                let shape = self.tile.shape(*to);
                self.want(shape.ty == Ty::U64, || format!("positions are no {shape}"));
            }
            StmtKind::Until { to, at, end } => {
                self.scalar(*at, Ty::U64, "where lanes begin");
                self.scalar(*end, Ty::U64, "where lanes end");
                let shape = self.tile.shape(*to);
                self.want(shape.ty == Ty::Bool, || {
                    format!("lanes that are there are no {shape}")
                });
            }
            StmtKind::Load {
                to,
                from,
                at,
                under,
                ..
            } => {
                self.scalar(*at, Ty::U64, "an index");
                let shape = self.tile.shape(*to);
                let ty = self.memory(*from, false);
                self.want(ty.is_none_or(|ty| ty == shape.ty), || {
                    format!("a load of {shape}")
                });
                under.iter().for_each(|m| {
                    self.fits(*m, mask(shape.lanes), "the mask of a load");
                });
            }
            StmtKind::Gather { to, array, at } => {
                let shape = self.tile.shape(*to);
                self.fits(*at, Shape::of(Ty::U64, shape.lanes), "an index");
                let ty = self.memory(Memory::Array(*array), false);
                self.want(ty.is_none_or(|ty| ty == shape.ty), || {
                    format!("a gather of {shape}")
                });
            }
            StmtKind::Across {
                into,
                array,
                at,
                lanes,
                steps,
                ..
            } => {
                self.scalar(*at, Ty::U64, "an index");
                let (ty, own) = (
                    self.memory(Memory::Array(*array), false),
                    self.own(*into, Origin::Buffer),
                );
                self.want(ty.is_none() || own.is_none() || ty == own, || {
                    "what is brought across is of another type".to_string()
                });
                let size = self.tile.shape(*into).lanes;
                let fits = lanes.checked_mul(*steps).is_some_and(|n| n <= size);
                self.want(fits && *lanes > 0 && *steps > 0, || {
                    format!("{steps} steps of {lanes} lanes in {size} elements")
                });
            }
            StmtKind::Store {
                into,
                at,
                value,
                under,
                lanes,
                ..
            } => {
                self.scalar(*at, Ty::U64, "an index");
                self.lanes(*lanes, "a store");
                if let Some(ty) = self.memory(*into, true) {
                    self.fits(*value, Shape::of(ty, *lanes), "what is stored");
                }
                under.iter().for_each(|m| {
                    self.fits(*m, mask(*lanes), "the mask of a store");
                });
            }
            StmtKind::Put {
                array,
                at,
                value,
                by,
                under,
                lanes,
            } => {
                self.lanes(*lanes, "a put");
                self.fits(*at, Shape::of(Ty::U64, *lanes), "an index");
                if let Some(ty) = self.memory(Memory::Array(*array), true) {
                    self.fits(*value, Shape::of(ty, *lanes), "what is put");
                    let joins = by.is_none_or(|op| op.result(&[ty, ty], None) == Some(ty));
                    self.want(joins, || {
                        format!("a put of {} by no such operator", ty.name())
                    });
                }
                under.iter().for_each(|m| {
                    self.fits(*m, mask(*lanes), "the mask of a put");
                });
            }
            StmtKind::Compress {
                into,
                at,
                value,
                under,
                ..
            } => {
                self.scalar(*at, Ty::U64, "an index");
                let lanes = self.shape(*under).lanes;
                self.fits(*under, mask(lanes), "the mask of a compress");
                if let Some(ty) = self.memory(*into, true) {
                    self.fits(*value, Shape::of(ty, lanes), "what is compressed");
                }
            }
            StmtKind::Sort { arrays, rows } => {
                self.scalar(*rows, Ty::U64, "a number of rows");
                for array in arrays {
                    let ty = self.memory(Memory::Array(*array), true);
                    let is_key = ty.is_none_or(Ty::is_unsigned);
                    self.want(is_key, || "what is sorted are unsigned integers".into());
                }
            }
            StmtKind::Length { to, array } => {
                self.memory(Memory::Array(*array), false);
                let shape = self.tile.shape(*to);
                self.want(shape == Shape::scalar(Ty::U64), || {
                    format!("a length is no {shape}")
                });
            }
            StmtKind::Count { to, of } => self.of_mask(*to, Ty::U64, *of),
            StmtKind::Any { to, of } => self.of_mask(*to, Ty::Bool, *of),
            StmtKind::Scan { to, op, of } => {
                let shape = self.tile.shape(*to);
                self.fits(*of, shape, "what is scanned");
                let fits = op.result(&[shape.ty, shape.ty], None) == Some(shape.ty);
                self.want(fits, || format!("a scan by {} is no {shape}", op.name()));
            }
            StmtKind::Beat { to, op, new, old } => {
                let shape = self.tile.shape(*to);
                self.fits(*new, shape, "what may win");
                self.fits(*old, shape, "what is kept");
                let fits = matches!(op, Op::Min | Op::Max) && shape.ty.is_float();
                self.want(fits, || format!("{} of {shape} is no contest", op.name()));
            }
            StmtKind::Lane { to, of, at } => {
                let (shape, all) = (self.tile.shape(*to), self.shape(*of));
                self.scalar(*at, Ty::U64, "the number of a lane");
                let fits = shape == Shape::scalar(all.ty);
                self.want(fits, || format!("a lane of {all} is no {shape}"));
            }
            StmtKind::SetLane { to, at, value } => {
                self.scalar(*at, Ty::U64, "the number of a lane");
                self.scalar(*value, self.tile.shape(*to).ty, "a lane");
            }
            StmtKind::Last { to, of } => {
                let (shape, all) = (self.tile.shape(*to), self.shape(*of));
                let lane = Shape::scalar(all.ty);
                let fits = shape == lane || shape == all;
                self.want(fits, || format!("a lane is {lane}, not {shape}"));
            }
            StmtKind::Slide { to, first, of } => {
                let shape = self.tile.shape(*to);
                let comes = self.shape(*first);
                let fits = comes == shape || comes == Shape::scalar(shape.ty);
                self.want(fits, || format!("{comes} does not come into {shape}"));
                self.fits(*of, shape, "what slides");
            }
            StmtKind::Reverse { to, of } => {
                self.fits(*of, self.tile.shape(*to), "what is turned round");
            }
            StmtKind::Halves { to, op, beats, of } => {
                let (ty, shape) = (self.shape(*of).ty, self.tile.shape(*to));
                let joins = op.result(&[ty, ty], None) == Some(ty) && shape == Shape::scalar(ty);
                let contest = matches!(op, Op::Min | Op::Max) && ty.is_float();
                let fits = joins && (contest || !beats);
                self.want(fits, || format!("halves by {} are no {shape}", op.name()));
            }
            StmtKind::Set { to, value } => {
                self.fits(*value, self.tile.shape(*to), "what a register is set to");
            }
            StmtKind::Trap { unless } => {
                let lanes = self.shape(*unless).lanes;
                self.fits(*unless, mask(lanes), "what a trap tests");
            }
            StmtKind::Leave { at, unless } => {
                self.scalar(*at, Ty::U64, "where a tile is left");
                self.scalar(*unless, Ty::Bool, "what leaves a tile");
            }
            StmtKind::For {
                counter, from, to, ..
            } => {
                self.scalar(Operand::Value(*counter), Ty::U64, "a counter");
                self.scalar(*from, Ty::U64, "where a counter begins");
                self.scalar(*to, Ty::U64, "where a counter ends");
            }
            StmtKind::Segment {
                from,
                to,
                capacities,
                ..
            } => {
                self.scalar(*from, Ty::U64, "where a counter begins");
                self.scalar(*to, Ty::U64, "where a counter ends");
                for (array, index) in capacities {
                    self.memory(Memory::Array(*array), false);
                    self.scalar(*index, Ty::U64, "an index");
                }
            }
            StmtKind::DryRun { .. } => {}
            StmtKind::If { cond, .. } | StmtKind::While { cond, .. } => {
                self.scalar(*cond, Ty::Bool, "a condition");
            }
        }
    }

    fn of_mask(&mut self, to: Value, ty: Ty, of: Operand) {
        let lanes = self.shape(of).lanes;
        self.fits(of, Shape::of(Ty::Bool, lanes), "what is counted");
        let shape = self.tile.shape(to);
        self.want(shape == Shape::scalar(ty), || {
            format!("{} is no {shape}", ty.name())
        });
    }
}
