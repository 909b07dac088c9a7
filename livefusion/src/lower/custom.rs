//! User-defined combinators: a template with sections for them to fill.

use super::Lower;
use super::emission::Emission;
use super::fold::Accumulators;
use super::operators;
use super::placement::{DECISION, Placer, Point};
use crate::ast::{Body, Kind, show_types};
use crate::custom::Output;
use crate::error::{Error, ErrorKind, Result};
use crate::sharing::{NodeId, error_at};
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashSet;
use std::fmt;

/// Holds the sections of a loop for one combinator to fill.
///
/// Operands are atoms: results of these methods, and constants (`Const::f64(1.0).into()`).
pub struct Template<'t, 'g> {
    e: &'t mut Emission<'g>,
    id: NodeId,
    at: Accumulators,
    point: Point,
    given: Vec<Option<Atom>>,
    keep: Option<Atom>,
    /// Variables that its methods returned. Operands are these, or constants.
    made: FxHashSet<Var>,
    carries: Vec<Carry>,
}

/// Loop-carried values, and whether their next values are set.
struct Carry {
    vars: Vec<Var>,
    start: Vec<Atom>,
    types: Vec<Ty>,
    has_next: bool,
}

/// Holds values that are carried from one iteration to the next.
#[derive(Clone, Debug)]
pub struct Carried {
    /// Their values in this iteration. After the loop: their final values.
    pub values: Vec<Atom>,
    /// Their index in the template.
    which: usize,
}

impl Template<'_, '_> {
    /// Returns a field of the current element.
    ///
    /// # Errors
    ///
    /// If the element has no such field.
    pub fn element(&mut self, field: u32) -> Result<Atom> {
        let columns = self.e.scope.all_columns(self.id);
        let Some(column) = columns.get(field as usize) else {
            return self.fault(format!("a field below {}", columns.len()), field);
        };
        let elt = self.e.elt(*column, self.point);
        elt.map(|e| self.out(e)).map_err(|kind| self.error(kind))
    }

    /// Returns the current element's index (`u64`).
    pub fn index(&mut self) -> Atom {
        let class = self.e.scope.plan.rates.runs_at(self.id);
        let index = self.e.position(class, self.point.rate);
        self.out(index)
    }

    /// Emits an operation in the loop's body.
    ///
    /// Operators are total here: an integer divided by 0 is 0.
    ///
    /// # Errors
    ///
    /// If the operator does not take operands of these types (a cast needs
    /// [`cast`](Template::cast)).
    pub fn op(&mut self, op: Op, args: &[Atom]) -> Result<Atom> {
        let types = self.types(args)?;
        if op.result(&types, None).is_none() {
            return self.fault(format!("operands of `{op:?}`"), show_types(&types));
        }
        let comb = self.at.comb;
        let result = self.e.emit(comb, Section::Body, "t", op, args);
        Ok(self.out(result.into()))
    }

    /// Emits a conversion, like Rust's `as`.
    ///
    /// # Errors
    ///
    /// If the operand does not belong to this template.
    pub fn cast(&mut self, x: Atom, to: Ty) -> Result<Atom> {
        self.types(&[x])?;
        let v = self.e.scalar("t", self.at.comb, to);
        let cast = StmtKind::Let(v, Op::Cast, Args::from_slice(&[x]));
        self.e.push(self.at.comb, Section::Body, cast);
        Ok(self.out(v.into()))
    }

    /// Declares values that are carried from one iteration to the next.
    ///
    /// They start at `start`. Set their next values with [`next`](Template::next). A loop with such
    /// values runs left to right.
    ///
    /// # Errors
    ///
    /// If `start` is empty.
    pub fn carry(&mut self, start: &[Const]) -> Result<Carried> {
        if start.is_empty() {
            return self.fault("at least one value", "none");
        }
        let start: Vec<Atom> = start.iter().map(|c| Atom::from(*c)).collect();
        let types = self.types(&start)?;
        let vars = self.at.carry_all(self.e, &start, &types);
        let values = vars.iter().map(|v| self.out(Atom::Var(*v))).collect();
        self.carries.push(Carry {
            vars,
            start,
            types,
            has_next: false,
        });
        Ok(Carried {
            values,
            which: self.carries.len() - 1,
        })
    }

    /// Sets the values of the next iteration.
    ///
    /// # Errors
    ///
    /// If their number or types differ from the start's, or if they are set already.
    pub fn next(&mut self, carried: &Carried, values: &[Atom]) -> Result<()> {
        let got = self.types(values)?;
        let Some(carry) = self.carries.get_mut(carried.which) else {
            return self.fault("a value that this template carries", "other values");
        };
        if std::mem::replace(&mut carry.has_next, true) {
            return self.fault("one `next` for each carried value", "another one");
        }
        if got != carry.types {
            let expected = format!("values of types {}", show_types(&carry.types));
            return self.fault(expected, show_types(&got));
        }
        for (v, next) in carry.vars.iter().zip(values) {
            self.at.update(self.e, *v, *next);
        }
        let Carry { vars, start, .. } = carry;
        let group = self.at.sequential_group(vars, start, values.to_vec(), &got);
        self.e.group(group);
        Ok(())
    }

    /// Emits running values under an associative operator.
    ///
    /// `join` takes (left fields, right fields). `elems` is the current element's contribution, and
    /// is included in the result. A loop with such values can run in chunks.
    ///
    /// # Errors
    ///
    /// If the types do not fit, or `join` uses captured values.
    pub fn scan(&mut self, start: &[Const], join: &Body, elems: &[Atom]) -> Result<Vec<Atom>> {
        let start: Vec<Atom> = start.iter().map(|c| Atom::from(*c)).collect();
        let (types, given) = (self.types(&start)?, self.types(elems)?);
        let fits = given == types
            && !types.is_empty()
            && *join.params == [types.as_slice(), &types].concat()
            && *join.result_types() == types
            && join.captures.is_empty();
        if !fits {
            return self.fault(
                format!("a join of two times {}", show_types(&types)),
                show_types(&given),
            );
        }
        let combine = operators::lifted_combine(self.e, self.id, usize::MAX, join);
        let combine = combine.map_err(|kind| self.error(kind))?;
        let yes: Atom = Const::bool(true).into();
        let seen = self.at.carry(self.e, "seen", yes, Ty::Bool);
        let accs = self.at.carry_all(self.e, &start, &types);
        let flagged = |flag: bool, rest: &mut dyn Iterator<Item = Atom>| -> Vec<Atom> {
            [Const::bool(flag).into()].into_iter().chain(rest).collect()
        };
        let comb = self.at.comb;
        let all = [Ty::Bool].into_iter().chain(types.iter().copied());
        let results: Vec<Var> = all.map(|t| self.e.scalar("elt", comb, t)).collect();
        let group = Group {
            vars: [seen].into_iter().chain(accs).collect(),
            owner: self.at.owner,
            step: self.at.rate,
            start: flagged(true, &mut start.iter().copied()),
            identity: flagged(false, &mut types.iter().map(|t| Const::zero(*t).into())),
            next: results.iter().map(|v| (*v).into()).collect(),
            combine: Some(combine),
            level: 0,
            cycle: false,
            order: Order::Prefix(1),
        };
        let id = self.e.group(group);
        let kind = StmtKind::Scan {
            results: results.clone(),
            group: id,
            elems: flagged(true, &mut elems.iter().copied()),
        };
        self.e.push(comb, Section::Body, kind);
        let running = results[1..].iter();
        Ok(running.map(|v| self.out(Atom::Var(*v))).collect())
    }

    /// Sets a field of the result.
    ///
    /// A scalar result takes constants and loop-carried values only: no other value is known after
    /// the loop.
    ///
    /// # Errors
    ///
    /// If the result has no such field, if its type differs, or if the value is not allowed for a
    /// scalar.
    pub fn give(&mut self, field: u32, value: Atom) -> Result<()> {
        let node = self.e.scope.graph.node(self.id);
        let got = self.types(&[value])?[0];
        match node.types.get(field as usize) {
            None => return self.fault(format!("a field below {}", node.types.len()), field),
            Some(want) if *want != got => {
                return self.fault(format!("field {field} of type {want}"), got);
            }
            Some(_) => {}
        }
        let is_carried = |v: Var| self.carries.iter().any(|c| c.vars.contains(&v));
        if node.rank == 0 && !value.var().is_none_or(is_carried) {
            return self.fault("a carried value for a scalar", "one of an iteration");
        }
        self.given[field as usize] = Some(value);
        Ok(())
    }

    /// Keeps the current element only if a test holds.
    ///
    /// It is for [`Output::Some`].
    ///
    /// # Errors
    ///
    /// If the test is not a `bool`.
    pub fn keep_if(&mut self, test: Atom) -> Result<()> {
        let got = self.types(&[test])?[0];
        if got != Ty::Bool {
            return self.fault("a bool", got);
        }
        self.keep = Some(test);
        Ok(())
    }

    /// Registers a value that is returned to the user.
    fn out(&mut self, atom: Atom) -> Atom {
        self.made.extend(atom.var());
        atom
    }

    /// The types of operands.
    ///
    /// # Errors
    ///
    /// If an operand is neither a result of these methods nor a valid constant.
    fn types(&self, operands: &[Atom]) -> Result<Vec<Ty>> {
        for atom in operands {
            match atom {
                Atom::Var(v) if !self.made.contains(v) => {
                    return self.fault("a value of this template's methods", "another value");
                }
                Atom::Const(c) if *c != Const::new(c.ty, c.bits) => {
                    let got = format!("{:#x}", c.bits);
                    return self.fault(format!("a constant of type {}", c.ty), got);
                }
                _ => {}
            }
        }
        let types = operands.iter().map(|a| self.e.program.atom_ty(*a));
        Ok(types.collect())
    }

    fn error(&self, kind: ErrorKind) -> Error {
        error_at(self.e.scope.graph, self.id, kind)
    }

    fn fault<T>(&self, expected: impl Into<String>, got: impl fmt::Display) -> Result<T> {
        Err(self.error(ErrorKind::Malformed {
            expected: expected.into(),
            got: got.to_string(),
        }))
    }
}

/// Places a user-defined combinator in step with its input.
///
/// Its decision to keep an element is known from there on.
pub fn place(p: &mut Placer<'_>, id: NodeId) -> Lower {
    let point = p.point_of(id, 0..1)?;
    p.input_elts(id, 0..1, point)?;
    p.run(id, point);
    p.know((id, DECISION).into(), point);
    p.know_all(id, point);
    Ok(())
}

/// Emits a user-defined combinator.
pub fn emit(e: &mut Emission<'_>, id: NodeId, point: Point) -> Lower {
    let graph = e.scope.graph;
    let Kind::Custom(custom) = &graph.node(id).kind else {
        return Ok(());
    };
    let comb = e.comb_at(id, point);
    let owner = e.owner();
    let at = Accumulators {
        comb,
        starts: comb,
        rate: point.rate,
        owner,
    };
    let width = graph.node(id).types.len();
    let mut template = Template {
        e,
        id,
        at,
        point,
        given: vec![None; width],
        keep: None,
        made: FxHashSet::default(),
        carries: Vec::new(),
    };
    custom.combinator.fill(&mut template).map_err(|e| e.kind)?;
    let Template {
        given,
        keep,
        carries,
        ..
    } = template;
    let malformed = |expected: &str, got: &str| ErrorKind::Malformed {
        expected: expected.into(),
        got: got.into(),
    };
    if carries.iter().any(|c| !c.has_next) {
        return Err(malformed("a `next` for each carried value", "none"));
    }
    let given: Option<Vec<Atom>> = given.into_iter().collect();
    let given = given.ok_or_else(|| malformed("every field of the result", "some"))?;
    match (&custom.output, keep) {
        (Output::Scalar(_), None) => {
            e.values.set_scalars(id, given);
            return Ok(());
        }
        (Output::InStep(_), None) => {}
        (Output::Some(_), Some(test)) => {
            e.values.set_column((id, DECISION).into(), point, test);
        }
        (_, Some(_)) => return Err(malformed("no `keep_if`", "one")),
        (_, None) => return Err(malformed("a `keep_if`", "none")),
    }
    e.values.set_elts(id, point, given);
    Ok(())
}
