//! Faults of tiles: of what sweeps become, and of who judges schedules and tiles.

use super::Fault;

/// Faults of lowering, by their files in `tile/src`. A tile without one is unsound, or ends elsewhere than the interpreter does.
pub(super) const LOWERED: &[Fault] = &[
    Fault {
        what: "a tile forgets its tail",
        file: "lower/frame.rs",
        sound: "self.tile.entries.push(Entry::Whole(step));",
        faulty: "let _ = step;",
    },
    Fault {
        what: "lanes are dealt from wherever a tile is entered",
        file: "lower/frame.rs",
        sound: "self.tile.entries.push(Entry::Aligned(lanes));",
        faulty: "let _ = lanes;",
    },
    Fault {
        what: "every vector of a turn is in the first lanes",
        file: "lower/frame.rs",
        sound: "_ if of == turn => at,",
        faulty: "_ if of == turn => Lower::u64(0),",
    },
    Fault {
        what: "vectors of a turn overlap, and repeat traps and counts",
        file: "lower/frame.rs",
        sound: "self.for_(place, turn, u64::from(self.lanes), true, vector);",
        faulty: "self.for_(place, turn, u64::from(self.lanes / 2), true, vector);",
    },
    Fault {
        what: "what vectors join begins with zero",
        file: "lower/frame.rs",
        sound: "op.identity(ty).unwrap_or(Const::zero(ty)).into();",
        faulty: "Const::zero(ty).into();",
    },
    Fault {
        what: "what vectors join is not joined with what was before",
        file: "lower/frame.rs",
        sound: "start: state.into(),",
        faulty: "start: op.identity(shape.ty).unwrap_or(Const::zero(shape.ty)).into(),",
    },
    Fault {
        what: "a filter in a filter admits what that one rejects",
        file: "lower/frame.rs",
        sound: "mask = Some(self.both(mask, test));",
        faulty: "mask = Some(test);",
    },
    Fault {
        what: "a count is taken before the mask",
        file: "lower/frame.rs",
        sound: "self.push(StmtKind::Count { to, of: mask });",
        faulty: "let of = self.wide(Const::bool(true).into()); self.push(StmtKind::Count { to, of });",
    },
    Fault {
        what: "a count has gone up before what is written at it",
        file: "lower/frame.rs",
        sound: "self.conditional += u32::from(branches); self.subs.push(super::Sub { mask, count, how, step, outer, });",
        faulty: "self.conditional += u32::from(branches); self.subs.push(super::Sub { mask, count, how, step, outer, }); self.counts(Some(step));",
    },
    Fault {
        what: "what waits for the next step is there at once",
        file: "lower/frame.rs",
        sound: "waiting.retain(|v| self.region.facts.waits(Some(self.sweep.rate), *v));",
        faulty: "waiting.clear();",
    },
    Fault {
        what: "an access is proven by another entry",
        file: "lower/stmt.rs",
        sound: "Some(Proof::Entry(*entry))",
        faulty: "Some(Proof::Entry(*entry ^ 1))",
    },
    Fault {
        what: "a mask is not applied to a group",
        file: "lower/stmt.rs",
        sound: "let value = self.select(mask, new, old);",
        faulty: "let value = self.select(None, new, old);",
    },
    Fault {
        what: "a mask is not applied to what vectors join",
        file: "lower/stmt.rs",
        sound: "let value = self.select(mask, new, sums.into());",
        faulty: "let value = self.select(None, new, sums.into());",
    },
    Fault {
        what: "a mask is not applied to a store",
        file: "lower/stmt.rs",
        sound: "value, under, lanes: self.lanes,",
        faulty: "value, under: None, lanes: self.lanes,",
    },
    Fault {
        what: "what is rejected traps",
        file: "lower/stmt.rs",
        sound: "unless = self.op(\"ok\", Ty::Bool, Op::Or, &[out, unless]);",
        faulty: "let _ = out;",
    },
    Fault {
        what: "what is rejected is joined onto elements",
        file: "lower/joins.rs",
        sound: "self.put((*array, at), *value, by, self.mask()),",
        faulty: "self.put((*array, at), *value, by, None),",
    },
    Fault {
        what: "arrays are joined onto where not all of them have the index",
        file: "lower/joins.rs",
        sound: "cond = Some(self.both(cond, inside));",
        faulty: "cond = Some(inside);",
    },
    Fault {
        what: "a function joins what is there from the right",
        file: "lower/joins.rs",
        sound: "left.iter().chain(right)",
        faulty: "right.iter().chain(left)",
    },
    Fault {
        what: "positions are one further along",
        file: "lower/mod.rs",
        sound: "self.push(StmtKind::Positions { to, from: at });",
        faulty: "let at = self.op(\"at\", Ty::U64, Op::Add, &[at, Lower::u64(1)]); self.push(StmtKind::Positions { to, from: at });",
    },
    Fault {
        what: "what is kept and what is new are exchanged",
        file: "lower/mod.rs",
        sound: "&[mask, new, old]",
        faulty: "&[mask, old, new]",
    },
    Fault {
        what: "arms side by side are exchanged",
        file: "lower/regions.rs",
        sound: "&[cond, yes, no]",
        faulty: "&[cond, no, yes]",
    },
    Fault {
        what: "an arm traps where the other one counts",
        file: "lower/regions.rs",
        sound: "let mask = self.both(around, not);",
        faulty: "let mask = self.both(around, cond);",
    },
    Fault {
        what: "a lane goes on when its scalar loop has ended",
        file: "lower/regions.rs",
        sound: "let under = go.map(Operand::from).filter(|_| *freezes);",
        faulty: "let under = go.map(Operand::from).filter(|_| false);",
    },
    Fault {
        what: "a scalar loop's values are there one after the other",
        file: "lower/regions.rs",
        sound: "if registers[..k].iter().any(is_state) {",
        faulty: "if false && registers[..k].iter().any(is_state) {",
    },
    Fault {
        what: "what a register's lanes are told is not needed",
        file: "lower/clean.rs",
        sound: "} => needed.contains(r),",
        faulty: "} => false && needed.contains(r),",
    },
];

/// Faults of the judges, by their files in `tile/src`: each lets pass what a file or a case says is refused.
pub(super) const JUDGED: &[Fault] = &[
    Fault {
        what: "a compress has room for one element",
        file: "verify/bounds.rs",
        sound: "let lanes = self.tile.operand_shape(*under).lanes; self.access(Memory::Array(*array), *at, lanes, *proof);",
        faulty: "let _ = under; self.access(Memory::Array(*array), *at, 1, *proof);",
    },
    Fault {
        what: "any entry proves any access",
        file: "verify/bounds.rs",
        sound: "if (*of, Some(*index)) != (array, of_index) {",
        faulty: "if (*of, Some(*index)) == (array, None) && of_index.is_some() {",
    },
    Fault {
        what: "an access may be one beyond the step",
        file: "verify/bounds.rs",
        sound: ".is_some_and(|n| n <= size)",
        faulty: ".is_some_and(|n| n <= size + 1)",
    },
    Fault {
        what: "no entry need promise the range's steps",
        file: "verify/bounds.rs",
        sound: "if step == 0 || !self.tile.granule().is_multiple_of(step) {",
        faulty: "if step == 0 {",
    },
    Fault {
        what: "a count may go up by any number in a turn",
        file: "verify/bounds.rs",
        sound: ".filter(|(_, gone)| **gone > step)",
        faulty: ".filter(|(_, gone)| **gone > step && **gone == u64::MAX)",
    },
    Fault {
        what: "what a loop sets is known behind it",
        file: "verify/bounds.rs",
        sound: "bodies.iter().for_each(|b| self.stmts(b)); self.forget(&changed);",
        faulty: "bodies.iter().for_each(|b| self.stmts(b));",
    },
    Fault {
        what: "what a turn over the range knew is known behind it",
        file: "verify/bounds.rs",
        sound: "self.step = None; self.forget(&changed);",
        faulty: "self.step = None;",
    },
    Fault {
        what: "what a turn over the range sets is known in the next one",
        file: "verify/bounds.rs",
        sound: "changed.iter().for_each(|v| { self.places.remove(v); });",
        faulty: "let _ = changed;",
    },
    Fault {
        what: "one arm says what either does",
        file: "verify/bounds.rs",
        sound: "self.at_most(gone);",
        faulty: "let _ = gone;",
    },
    Fault {
        what: "a lane that is stored to stays what it was",
        file: "verify/bounds.rs",
        sound: "self.know(*r, None);",
        faulty: "let _ = r;",
    },
    Fault {
        what: "what is masked is at a multiple of the mask",
        file: "verify/places.rs",
        sound: "Some(Place::Literal(0, size - whole.min(size)))",
        faulty: "let _ = whole; Some(Place::Literal(0, 0))",
    },
    Fault {
        what: "a parameter may be written",
        file: "verify/types.rs",
        sound: "let given = !writes && self.program",
        faulty: "let given = self.program",
    },
    Fault {
        what: "a mask may be of any width",
        file: "verify/types.rs",
        sound: "let right = got.ty == of.ty && (got.lanes == of.lanes || got.lanes == 1);",
        faulty: "let right = got.ty == of.ty;",
    },
    Fault {
        what: "what a body defines is there behind it",
        file: "verify/scope.rs",
        sound: "mine.iter().for_each(|v| { self.visible.remove(v); });",
        faulty: "",
    },
    Fault {
        what: "anything may be set",
        file: "verify/scope.rs",
        sound: "if !matches!(data.origin, Origin::Register | Origin::State(_)) {",
        faulty: "if false && !matches!(data.origin, Origin::Register | Origin::State(_)) {",
    },
    Fault {
        what: "state is anything that the loop has",
        file: "verify/frame.rs",
        sound: "group.is_some_and(|g| !g.order.is_local())",
        faulty: "group.is_none_or(|g| !g.order.is_local())",
    },
    Fault {
        what: "what is put is joined by any operator",
        file: "verify/types.rs",
        sound: "let joins = by.is_none_or(|op| op.result(&[ty, ty], None) == Some(ty));",
        faulty: "let joins = by.is_none() || by.is_some();",
    },
    Fault {
        what: "lanes are joined onto elements that something else looks at",
        file: "schedule/legal.rs",
        sound: "match accessed || sweep.statements.iter().any(|s| joins(&s)) {",
        faulty: "match accessed && sweep.statements.iter().any(|s| joins(&s)) {",
    },
    Fault {
        what: "steps are taken side by side that go one after the other",
        file: "schedule/legal.rs",
        sound: "Role::Serial => return Err(\"what it carries goes from one step to the next\"),",
        faulty: "",
    },
];
