//! Types of operands in operators, statements and groups' functions; arrays and scalars are
//! distinct.

use super::Faults;
use crate::ir::*;
use crate::types::Ty;
use crate::walk;

pub(super) fn check(l: &Loop, faults: &mut Faults) {
    let mut types = Types {
        l,
        faults,
        place: String::new(),
    };
    for function in &l.functions {
        types.place.clone_from(&function.name);
        for v in &function.params {
            types.scalar(Atom::Var(*v));
        }
        function.body.iter().for_each(|s| types.stmt(s));
        function.results.iter().for_each(|a| {
            types.scalar(*a);
        });
    }
    for (labels, block) in l.blocks.iter() {
        types.place = labels
            .first()
            .map_or_else(String::new, |label| l.label_name(*label));
        block.stmts.iter().for_each(|s| types.stmt(s));
        for exit in &block.exits {
            types.expect(exit.unless, Ty::Bool, "an exit's condition");
        }
        if let End::Branch(cond, ..) = &block.end {
            types.expect(*cond, Ty::Bool, "a branch's condition");
        }
    }
    for group in &l.groups {
        types.place = group.vars.first().map_or("group", |v| l.name(*v)).into();
        types.group(group);
    }
}

struct Types<'a, 'f> {
    l: &'a Loop,
    faults: &'f mut Faults,
    place: String,
}

impl Types<'_, '_> {
    fn add(&mut self, message: String) {
        self.faults.add(self.place.clone(), message);
    }

    fn show(&self, a: Atom) -> String {
        match a {
            Atom::Var(v) => format!("`{}`", self.l.name(v)),
            Atom::Const(c) => format!("`{c}`"),
        }
    }

    /// Returns the type of a scalar operand.
    fn scalar(&mut self, a: Atom) -> Option<Ty> {
        match a {
            Atom::Const(c) => Some(c.ty),
            Atom::Var(v) => match self.l.ty(v) {
                Type::Scalar(ty) => Some(ty),
                Type::Array(_) => {
                    self.add(format!(
                        "`{}` is an array, used as a scalar",
                        self.l.name(v)
                    ));
                    None
                }
            },
        }
    }

    /// Returns the element type of an array operand.
    fn array(&mut self, v: Var) -> Option<Ty> {
        match self.l.ty(v) {
            Type::Array(ty) => Some(ty),
            Type::Scalar(_) => {
                self.add(format!(
                    "`{}` is a scalar, used as an array",
                    self.l.name(v)
                ));
                None
            }
        }
    }

    fn expect(&mut self, a: Atom, expected: Ty, what: &str) {
        if let Some(ty) = self.scalar(a).filter(|ty| *ty != expected) {
            let shown = self.show(a);
            self.add(format!("{what} must be {expected}, but {shown} is {ty}"));
        }
    }

    /// Checks that `v` can take the value of `a`.
    fn same(&mut self, v: Var, a: Atom) {
        let (to, from) = (self.scalar(Atom::Var(v)), self.scalar(a));
        if let (Some(to), Some(from)) = (to, from)
            && to != from
        {
            let (name, shown) = (self.l.name(v), self.show(a));
            self.add(format!("`{name}` is {to}, but {shown} is {from}"));
        }
    }

    /// Checks that `v` can hold elements of type `ty`.
    fn element(&mut self, v: Var, ty: Option<Ty>) {
        let own = self.scalar(Atom::Var(v));
        if let (Some(own), Some(ty)) = (own, ty)
            && own != ty
        {
            let name = self.l.name(v);
            self.add(format!("`{name}` is {own}, but the array holds {ty}"));
        }
    }

    /// Checks that `a` fits an array with elements of type `ty`.
    fn stored(&mut self, a: Atom, ty: Option<Ty>) {
        if let (Some(own), Some(ty)) = (self.scalar(a), ty)
            && own != ty
        {
            let shown = self.show(a);
            self.add(format!("{shown} is {own}, but the array holds {ty}"));
        }
    }

    fn same_arrays(&mut self, a: Var, b: Var) {
        if let (Some(x), Some(y)) = (self.array(a), self.array(b))
            && x != y
        {
            let (a, b) = (self.l.name(a), self.l.name(b));
            self.add(format!("`{a}` holds {x}, but `{b}` holds {y}"));
        }
    }

    fn index(&mut self, a: Atom) {
        self.expect(a, Ty::U64, "an index");
    }

    fn length(&mut self, a: Atom) {
        self.expect(a, Ty::U64, "a length");
    }

    fn arity(&mut self, what: &str, expected: usize, found: usize) {
        if expected != found {
            self.add(format!("expected {expected} {what}, found {found}"));
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Let(v, op, args) => self.operation(*v, *op, args),
            StmtKind::Assign(v, a) | StmtKind::Carry(v, a) => self.same(*v, *a),
            StmtKind::Scan {
                results,
                group,
                elems,
            } => {
                let vars = &self.l.groups[group.index()].vars;
                self.arity("scan results", vars.len(), results.len());
                self.arity("scanned elements", vars.len(), elems.len());
                for (v, e) in vars.iter().zip(elems) {
                    self.same(*v, *e);
                }
                for (v, r) in vars.iter().zip(results) {
                    self.same(*v, Atom::Var(*r));
                }
            }
            StmtKind::NewArray(v, n) => {
                self.array(*v);
                self.length(*n);
            }
            StmtKind::FillArray(v, n, x) => {
                let ty = self.array(*v);
                self.length(*n);
                self.stored(*x, ty);
            }
            StmtKind::CopyArray(v, a) => self.same_arrays(*v, *a),
            StmtKind::ReadArray(v, a, i) => {
                let ty = self.array(*a);
                self.index(*i);
                self.element(*v, ty);
            }
            StmtKind::WriteArray(a, i, x) => {
                let ty = self.array(*a);
                self.index(*i);
                self.stored(*x, ty);
            }
            StmtKind::ScatterArray {
                arrays,
                index,
                values,
                combine,
            } => {
                self.arity("scattered values", arrays.len(), values.len());
                let tys: Vec<Option<Ty>> = arrays.iter().map(|a| self.array(*a)).collect();
                self.index(*index);
                for (x, ty) in values.iter().zip(&tys) {
                    self.stored(*x, *ty);
                }
                if let (Some(combine), Some(tys)) = (combine, tys.into_iter().collect()) {
                    self.combine(*combine, tys);
                }
            }
            StmtKind::SortArrays(arrays, n) => {
                for a in arrays {
                    if self.array(*a).is_some_and(|ty| !ty.is_unsigned()) {
                        let name = self.l.name(*a);
                        self.add(format!("`{name}` is sorted, and not of unsigned integers"));
                    }
                }
                self.length(*n);
            }
            StmtKind::ArrayLength(v, a) => {
                self.array(*a);
                self.expect(Atom::Var(*v), Ty::U64, "an array's length");
            }
            StmtKind::SliceArray(v, a, n) => {
                self.same_arrays(*v, *a);
                self.length(*n);
            }
            StmtKind::Trap {
                unless, payload, ..
            } => {
                self.expect(*unless, Ty::Bool, "a trap's condition");
                payload.iter().for_each(|a| {
                    self.scalar(*a);
                });
                if payload.len() > 3 {
                    self.add(format!(
                        "a trap reports at most 3 values, not {}",
                        payload.len()
                    ));
                }
            }
            StmtKind::If { cond, results, .. } => {
                self.expect(*cond, Ty::Bool, "an `if` condition");
                for (v, a, b) in results {
                    self.same(*v, *a);
                    self.same(*v, *b);
                }
            }
            StmtKind::While {
                state, cond, next, ..
            } => {
                self.expect(*cond, Ty::Bool, "a `while` condition");
                self.arity("next states", state.len(), next.len());
                for (i, (v, start)) in state.iter().enumerate() {
                    self.same(*v, *start);
                    next.get(i).into_iter().for_each(|a| self.same(*v, *a));
                }
            }
        }
        for region in walk::regions(&stmt.kind) {
            region.iter().for_each(|s| self.stmt(s));
        }
    }

    fn operation(&mut self, v: Var, op: crate::Op, args: &[Atom]) {
        let Some(ty) = self.scalar(Atom::Var(v)) else {
            return;
        };
        let tys: Option<Vec<Ty>> = args.iter().map(|a| self.scalar(*a)).collect();
        let Some(tys) = tys else { return };
        let name = self.l.name(v);
        match op.result(&tys, Some(ty)) {
            Some(result) if result == ty => {}
            Some(result) => self.add(format!(
                "`{name}` is {ty}, but `{}` gives {result}",
                op.name()
            )),
            None if args.len() != op.arity() => {
                let message = format!("`{}` takes {} operands", op.name(), op.arity());
                self.add(format!("{message}, not {} (`{name}`)", args.len()));
            }
            None => {
                let tys: Vec<&str> = tys.iter().map(|t| t.name()).collect();
                let message = format!("`{}` does not take {}", op.name(), tys.join(", "));
                self.add(format!("{message} (`{name}`)"));
            }
        }
    }

    fn group(&mut self, group: &Group) {
        let vars = &group.vars;
        for atoms in [&group.start, &group.identity, &group.next] {
            for (v, a) in vars.iter().zip(atoms) {
                self.same(*v, *a);
            }
        }
        if let Some(combine) = group.combine {
            let tys = vars.iter().map(|v| self.l.ty(*v).elem()).collect();
            self.combine(combine, tys);
        }
    }

    /// Checks that two values of types `tys` can be combined.
    fn combine(&mut self, combine: Combine, tys: Vec<Ty>) {
        match combine {
            Combine::Op(op) => {
                let fits = match tys[..] {
                    [ty] => op.result(&[ty, ty], None) == Some(ty),
                    _ => false,
                };
                if !fits {
                    self.add(format!(
                        "`{}` does not join two such values into one",
                        op.name()
                    ));
                }
            }
            Combine::Fn(f) => {
                let f = &self.l.functions[f.index()];
                let params = f.params.iter().map(|v| self.l.ty(*v));
                let pairs = tys.iter().chain(&tys).map(|ty| Type::Scalar(*ty));
                let results = f.results.iter().map(|a| self.l.atom_ty(*a));
                if !params.eq(pairs) || !results.eq(tys.iter().copied()) {
                    self.add(format!(
                        "`{}` does not join two such values into one",
                        f.name
                    ));
                }
            }
        }
    }
}
