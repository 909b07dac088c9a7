//! What goes into the function of a tile, and out of it.

use super::Writer;
use crate::emit::stop::HALT;
use crate::emit::unit::Unit;
use crate::facts::{self, Source};
use crate::names::{Facet, identifier};
use livefusion_tile::ir::{Kept, Memory, Origin, Stmt, StmtKind, Value, arrays, each_stmt, named};
use loop_lang::ir::{Order, Var};

/// A parameter of the function, and what the caller passes.
pub(super) struct Passed {
    pub declaration: String,
    pub argument: String,
    /// What a piece of the function is passed for it.
    pub inside: String,
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

    /// Everything of the frame that statements of its body have to do with.
    pub(super) fn passed(&self, stmts: &[Stmt]) -> Vec<Passed> {
        let mut passed = Vec::new();
        let names = self.unit.names;
        let plain = |declaration: String, inside: &str, argument: &str| Passed {
            declaration: format!("{declaration} {inside}"),
            argument: argument.to_string(),
            inside: inside.to_string(),
            array: None,
            state: None,
        };
        // Reads from anywhere read an empty array, too.
        let mut gathered = Vec::new();
        each_stmt(stmts, &mut |s| {
            if let StmtKind::Gather { array, .. } = s.kind {
                gathered.push(array);
            }
        });
        for (a, length) in arrays(stmts) {
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
                ..plain(format!("{given}{ty} *restrict"), name, &argument)
            });
            if length {
                let n = self.unit.length(a);
                passed.push(plain("const u64".to_string(), &n, &n));
            }
        }
        let mut named: Vec<Value> = named(stmts).into_iter().collect();
        named.sort();
        for v in named {
            let data = self.tile.value(v);
            let ty = data.shape.ty.name();
            match data.origin {
                Origin::Given(var) => {
                    let order = self.unit.facts.local_group(self.unit.program, var);
                    let argument = match order {
                        Some((_, _, Order::Lanes(_) | Order::Runs(_))) => {
                            names.facet(var, Facet::Joined).to_string()
                        }
                        _ => seen(self.unit, var),
                    };
                    passed.push(plain(format!("const {ty}"), names.var(var), &argument));
                }
                Origin::Scan(_, Kept::Prefix) => {
                    let name = self.whole(v);
                    passed.push(plain(format!("const {ty}"), name, name));
                }
                Origin::State(_) | Origin::Scan(..) => {
                    let name = self.whole(v);
                    passed.push(Passed {
                        declaration: format!("{ty} *restrict lf_{name}"),
                        argument: format!("&{name}"),
                        inside: format!("&{name}"),
                        array: None,
                        state: Some(v),
                    });
                }
                Origin::From | Origin::End | Origin::Register | Origin::Buffer | Origin::Let => {}
            }
        }
        for (v, part) in in_frame(stmts) {
            let (ty, name) = (
                facts::elem(self.unit.program, v).name(),
                names.facet(v, part),
            );
            passed.push(plain(format!("{ty} *restrict"), name, name));
        }
        if self.unit.stops {
            passed.push(Passed {
                declaration: HALT.to_string(),
                argument: "lf_halt".to_string(),
                inside: "lf_halt".to_string(),
                array: None,
                state: None,
            });
        }
        passed
    }
}

/// The variables whose lanes, or trees, statements read or write.
pub(super) fn in_frame(stmts: &[Stmt]) -> Vec<(Var, Facet)> {
    let mut all = Vec::new();
    each_stmt(stmts, &mut |s| {
        let part = match s.kind.memory() {
            Some(Memory::Lanes(v)) => (v, Facet::Lanes),
            Some(Memory::Tree(v)) => (v, Facet::Tree),
            _ => return,
        };
        if !all.contains(&part) {
            all.push(part);
        }
    });
    all
}

/// What readers see of a carried variable is called so in the state machine.
pub(super) fn seen(unit: &Unit, v: Var) -> String {
    match unit.facts.local_group(unit.program, v) {
        Some((_, _, Order::Prefix(_))) => unit.names.facet(v, Facet::Now).to_string(),
        _ => unit.names.var(v).to_string(),
    }
}

/// What a scan keeps is called so there.
pub(super) fn scanned<'u>(unit: &'u Unit, v: Var, kept: Kept) -> &'u str {
    match kept {
        Kept::Prefix => unit.names.var(v),
        Kept::Total => unit.names.facet(v, Facet::Total),
        Kept::Last => unit.names.facet(v, Facet::Last),
    }
}
