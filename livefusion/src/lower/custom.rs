//! Combinators of users: a template whose sections they fill.

use super::anatomy::{Anatomy, Lower, Spot};
use super::fold::Carried as Accumulators;
use super::operators;
use crate::ast::{Body, Kind};
use crate::custom::Output;
use crate::error::{Error, ErrorKind, Result};
use crate::sharing::{NodeId, error_at};
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

/// The sections of a loop, for one combinator to fill. Operands are atoms: what the methods give, and
/// constants (`Const::f64(1.0).into()`).
pub struct Template<'t, 'g> {
    a: &'t mut Anatomy<'g>,
    id: NodeId,
    at: Accumulators,
    spot: Spot,
    given: Vec<Option<Atom>>,
    keep: Option<Atom>,
}

/// Values that are carried from one iteration to the next.
#[derive(Clone, Debug)]
pub struct Carried {
    /// What they are in this iteration; behind the loop, what they are at its end.
    pub values: Vec<Atom>,
    types: Vec<Ty>,
    start: Vec<Atom>,
}

impl Template<'_, '_> {
    /// A field of the current element.
    ///
    /// # Errors
    /// If the element has no such field.
    pub fn element(&mut self, field: u32) -> Result<Atom> {
        let columns = self.a.all_columns(self.id);
        let Some(column) = columns.get(field as usize) else {
            return self.fault(format!("a field below {}", columns.len()), field);
        };
        let elt = self.a.elt(*column, self.spot);
        elt.map_err(|kind| self.error(kind))
    }

    /// The current element's index (`u64`).
    pub fn index(&mut self) -> Atom {
        self.a.index(self.spot.rate).into()
    }

    /// An operation of the loop's body.
    ///
    /// # Errors
    /// If the operator does not take operands of these types (a cast needs [`cast`](Template::cast)).
    pub fn op(&mut self, op: Op, args: &[Atom]) -> Result<Atom> {
        let types: Vec<Ty> = args.iter().map(|a| self.a.program.atom_ty(*a)).collect();
        if op.result(&types, None).is_none() {
            return self.fault(format!("operands of `{op:?}`"), types);
        }
        let comb = self.at.comb;
        Ok(self.a.emit(comb, Section::Body, "t", op, args).into())
    }

    /// A conversion, as Rust's `as`.
    pub fn cast(&mut self, x: Atom, to: Ty) -> Atom {
        let v = self.a.scalar("t", self.at.comb, to);
        let cast = StmtKind::Let(v, Op::Cast, Args::from_slice(&[x]));
        self.a.push(self.at.comb, Section::Body, cast);
        v.into()
    }

    /// Values that are carried from one iteration to the next, from `start` on. Say with
    /// [`next`](Template::next) what they become. A loop that carries such values runs left to right.
    ///
    /// # Errors
    /// If there are none.
    pub fn carry(&mut self, start: &[Const]) -> Result<Carried> {
        if start.is_empty() {
            return self.fault("at least one value", "none");
        }
        let types: Vec<Ty> = start.iter().map(|c| c.ty).collect();
        let start: Vec<Atom> = start.iter().map(|c| Atom::from(*c)).collect();
        let vars = self.at.carry_all(self.a, &start, &types);
        Ok(Carried {
            values: vars.into_iter().map(Atom::Var).collect(),
            types,
            start,
        })
    }

    /// What carried values are in the next iteration.
    ///
    /// # Errors
    /// If they are not as many, or of other types.
    pub fn next(&mut self, carried: &Carried, values: &[Atom]) -> Result<()> {
        let types: Vec<Ty> = values.iter().map(|a| self.a.program.atom_ty(*a)).collect();
        if types != carried.types {
            return self.fault(format!("values of types {:?}", carried.types), types);
        }
        let vars: Vec<Var> = carried
            .values
            .iter()
            .filter_map(|a| match a {
                Atom::Var(v) => Some(*v),
                Atom::Const(_) => None,
            })
            .collect();
        for (v, next) in vars.iter().zip(values) {
            self.at.update(self.a, *v, *next);
        }
        let next = values.to_vec();
        let group = self
            .at
            .sequential_group(&vars, &carried.start, next, &types);
        self.a.program.groups.push(group);
        Ok(())
    }

    /// Running values under an associative operator `join` of (left fields, right fields), the current
    /// element's contribution `elems` included. Loops of such values can be cut into chunks.
    ///
    /// # Errors
    /// If the types do not fit, or `join` uses captured values.
    pub fn scan(&mut self, start: &[Const], join: &Body, elems: &[Atom]) -> Result<Vec<Atom>> {
        let types: Vec<Ty> = start.iter().map(|c| c.ty).collect();
        let given: Vec<Ty> = elems.iter().map(|a| self.a.program.atom_ty(*a)).collect();
        let fits = given == types
            && !types.is_empty()
            && *join.params == [types.as_slice(), &types].concat()
            && *join.result_types() == types
            && join.captures.is_empty();
        if !fits {
            return self.fault(format!("a join of two times {types:?}"), given);
        }
        let start: Vec<Atom> = start.iter().map(|c| Atom::from(*c)).collect();
        let combine = operators::lifted_combine(self.a, self.id, usize::MAX, join);
        let combine = combine.map_err(|kind| self.error(kind))?;
        let yes: Atom = Const::bool(true).into();
        let seen = self.at.carry(self.a, "seen", yes, Ty::Bool);
        let accs = self.at.carry_all(self.a, &start, &types);
        let flagged = |flag: bool, rest: &mut dyn Iterator<Item = Atom>| -> Vec<Atom> {
            [Const::bool(flag).into()].into_iter().chain(rest).collect()
        };
        let comb = self.at.comb;
        let all = [Ty::Bool].into_iter().chain(types.iter().copied());
        let results: Vec<Var> = all.map(|t| self.a.scalar("elt", comb, t)).collect();
        let group = Group {
            vars: [seen].into_iter().chain(accs).collect(),
            owner: self.at.owner,
            step: self.at.rate,
            start: flagged(true, &mut start.iter().copied()),
            identity: flagged(false, &mut types.iter().map(|t| Const::zero(*t).into())),
            next: results.iter().map(|v| (*v).into()).collect(),
            combine: Some(combine),
            level: 0,
            order: Order::Prefix(1),
        };
        let id = GroupId::new(self.a.program.groups.len());
        self.a.program.groups.push(group);
        let kind = StmtKind::Scan {
            results: results.clone(),
            group: id,
            elems: flagged(true, &mut elems.iter().copied()),
        };
        self.a.push(comb, Section::Body, kind);
        Ok(results[1..].iter().map(|v| (*v).into()).collect())
    }

    /// Says what a field of the result is.
    ///
    /// # Errors
    /// If the result has no such field, or one of another type.
    pub fn give(&mut self, field: u32, value: Atom) -> Result<()> {
        let want = self
            .a
            .graph
            .node(self.id)
            .types
            .get(field as usize)
            .copied();
        let got = self.a.program.atom_ty(value);
        if want != Some(got) {
            return self.fault(format!("field {field} of type {want:?}"), got);
        }
        self.given[field as usize] = Some(value);
        Ok(())
    }

    /// Keeps the current element only if this is true; for [`Output::Some`].
    ///
    /// # Errors
    /// If it is no `bool`.
    pub fn keep_if(&mut self, test: Atom) -> Result<()> {
        let got = self.a.program.atom_ty(test);
        if got != Ty::Bool {
            return self.fault("a bool", got);
        }
        self.keep = Some(test);
        Ok(())
    }

    fn error(&self, kind: ErrorKind) -> Error {
        error_at(self.a.graph, self.id, kind)
    }

    fn fault<T>(&self, expected: impl Into<String>, got: impl std::fmt::Debug) -> Result<T> {
        Err(self.error(ErrorKind::Malformed {
            expected: expected.into(),
            got: format!("{got:?}"),
        }))
    }
}

/// Lowers a combinator of a user's.
pub fn lower(a: &mut Anatomy<'_>, id: NodeId) -> Lower {
    let graph = a.graph;
    let Kind::Custom(custom) = &graph.node(id).kind else {
        return Ok(());
    };
    let spot = a.spot_of(id, 0..1)?;
    let comb = a.comb_at(id, spot);
    let owner = a.owner();
    let at = Accumulators {
        comb,
        rate: spot.rate,
        owner,
    };
    let width = graph.node(id).types.len();
    let mut template = Template {
        a,
        id,
        at,
        spot,
        given: vec![None; width],
        keep: None,
    };
    custom.combinator.fill(&mut template).map_err(|e| e.kind)?;
    let Template { given, keep, .. } = template;
    let malformed = |expected: &str, got: &str| ErrorKind::Malformed {
        expected: expected.into(),
        got: got.into(),
    };
    let given: Option<Vec<Atom>> = given.into_iter().collect();
    let given = given.ok_or_else(|| malformed("every field of the result", "some"))?;
    match (&custom.output, keep) {
        (Output::Scalar(_), None) => {
            for (field, value) in given.into_iter().enumerate() {
                a.set_delayed((id, field as u32), value);
            }
            return Ok(());
        }
        (Output::InStep(_), None) => {}
        (Output::Some(_), Some(test)) => {
            if let Some(class) = a.plan.rates.output(id) {
                a.set_test(class, spot.rate, test);
            }
        }
        (_, Some(_)) => return Err(malformed("no `keep_if`", "one")),
        (_, None) => return Err(malformed("a `keep_if`", "none")),
    }
    for (field, value) in given.into_iter().enumerate() {
        a.set_elt((id, field as u32), spot, value);
    }
    Ok(())
}
