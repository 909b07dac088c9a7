//! What goes into the function of a tile, and out of it.

use super::Writer;
use crate::emit::stop::HALT;
use crate::emit::unit::Unit;
use crate::facts::{self, Source};
use crate::names::{Part, identifier};
use livefusion_tile::ir::{Kept, Memory, Origin, StmtKind, Value};
use loop_lang::ir::{Order, Var};

/// A parameter of the function, and what the caller passes.
pub(super) struct Passed {
    pub declaration: String,
    pub argument: String,
    /// The array that it is.
    pub array: Option<Var>,
    /// The state that it points to.
    pub state: Option<Value>,
}

impl Writer<'_, '_, '_> {
    /// The function's name.
    pub(super) fn function(&self, symbol: &str) -> String {
        let rate = identifier(&self.unit.program.rate(self.tile.rate).name);
        let version = match self.version {
            0 => String::new(),
            n => format!("_{n}"),
        };
        format!("{symbol}_tile_{}_{rate}{version}", self.tile.rate.index())
    }

    /// Everything that goes in and out, beside the range.
    pub(super) fn passed(&self) -> Vec<Passed> {
        let mut passed = Vec::new();
        let names = self.unit.names;
        let plain = |declaration: String, argument: &str| Passed {
            declaration,
            argument: argument.to_string(),
            array: None,
            state: None,
        };
        // Reads from anywhere read an empty array, too.
        let mut gathered = Vec::new();
        self.tile.each_stmt(&mut |s| {
            if let StmtKind::Gather { array, .. } = s.kind {
                gathered.push(array);
            }
        });
        for (a, length) in self.tile.arrays() {
            let (ty, name) = (facts::elem(self.unit.program, a).name(), names.var(a));
            let given = match self.unit.facts.source.get(&a) {
                Some(Source::Param(_)) => "const ",
                _ => "",
            };
            let argument = match gathered.contains(&a) {
                true => format!("{} ? {name} : (void *)lf_zero", self.unit.length(a)),
                false => name.to_string(),
            };
            passed.push(Passed {
                array: Some(a),
                ..plain(format!("{given}{ty} *restrict {name}"), &argument)
            });
            if length {
                let n = self.unit.length(a);
                passed.push(plain(format!("const u64 {n}"), &n));
            }
        }
        for (v, data) in self.tile.each_value() {
            let ty = data.shape.ty.name();
            match data.origin {
                Origin::Given(var) => {
                    let order = self.unit.facts.local_group(self.unit.program, var);
                    let argument = match order {
                        Some((_, _, Order::Lanes(_) | Order::Runs(_))) => {
                            names.part(var, Part::Joined).to_string()
                        }
                        _ => seen(self.unit, var),
                    };
                    passed.push(plain(format!("const {ty} {}", names.var(var)), &argument));
                }
                Origin::Scan(_, Kept::Prefix) => {
                    let name = self.whole(v);
                    passed.push(plain(format!("const {ty} {name}"), name));
                }
                Origin::State(_) | Origin::Scan(..) => {
                    let name = self.whole(v);
                    passed.push(Passed {
                        declaration: format!("{ty} *restrict lf_{name}"),
                        argument: format!("&{name}"),
                        array: None,
                        state: Some(v),
                    });
                }
                Origin::From | Origin::End | Origin::Register | Origin::Let => {}
            }
        }
        for (v, part) in self.in_frame() {
            let (ty, name) = (
                facts::elem(self.unit.program, v).name(),
                names.part(v, part),
            );
            passed.push(plain(format!("{ty} *restrict {name}"), name));
        }
        if self.unit.stops {
            passed.push(plain(HALT.to_string(), "lf_halt"));
        }
        passed
    }

    /// The variables whose lanes, or trees, it reads or writes.
    pub(super) fn in_frame(&self) -> Vec<(Var, Part)> {
        let mut all = Vec::new();
        self.tile.each_stmt(&mut |s| {
            let part = match s.kind.memory() {
                Some(Memory::Lanes(v)) => (v, Part::Lanes),
                Some(Memory::Tree(v)) => (v, Part::Tree),
                _ => return,
            };
            if !all.contains(&part) {
                all.push(part);
            }
        });
        all
    }
}

/// What readers see of a carried variable is called so in the state machine.
pub(super) fn seen(unit: &Unit, v: Var) -> String {
    match unit.facts.local_group(unit.program, v) {
        Some((_, _, Order::Prefix(_))) => unit.names.part(v, Part::Now).to_string(),
        _ => unit.names.var(v).to_string(),
    }
}

/// What a scan keeps is called so there.
pub(super) fn scanned<'u>(unit: &'u Unit, v: Var, kept: Kept) -> &'u str {
    match kept {
        Kept::Prefix => unit.names.var(v),
        Kept::Total => unit.names.part(v, Part::Total),
        Kept::Last => unit.names.part(v, Part::Last),
    }
}
