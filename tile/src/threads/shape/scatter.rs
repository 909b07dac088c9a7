//! Parallel scatters: to arrays that no other code accesses.
//!
//! The operator must be independent of the order of values, or the last value wins and a number
//! identifies it.

use super::{Refusal, Shape, each};
use livefusion_backend::facts::Facts;
use loop_lang::Loop;
use loop_lang::chunkable::{Reason, chunkable};
use loop_lang::ir::{Atom, Combine, Place, RateId, RateKind, Stmt, StmtKind, Var};
use loop_lang::op::Op;
use loop_lang::walk;
use rustc_hash::{FxHashMap, FxHashSet};

/// Describes an array with combining scatters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scatter {
    /// The array.
    pub array: Var,
    /// The combining operator.
    pub op: Op,
}

/// Describes arrays that steps overwrite together at arbitrary indices.
///
/// The last value wins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Last {
    /// The arrays.
    pub arrays: Vec<Var>,
    /// The loop rate with the counter that orders the steps.
    pub rate: RateId,
}

/// Describes the use of an array.
#[derive(Clone, PartialEq, Eq)]
enum Use {
    Written,
    Joined(Op),
    Last(Vec<Var>),
}

/// Finds the arrays that steps scatter to.
pub(super) fn find(program: &Loop) -> Result<Vec<Scatter>, Refusal> {
    let mut found: FxHashMap<Var, Use> = FxHashMap::default();
    let mut all = Vec::new();
    let mut is_used = |array: Var, how: Use| {
        let known = found.entry(array).or_insert_with(|| how.clone());
        match *known == how {
            true => Ok(()),
            false => Err(Refusal::Scatter("in several ways")),
        }
    };
    for (_, block) in program.blocks.iter() {
        each(&block.stmts, &mut |s| match &s.kind {
            StmtKind::ScatterArray {
                arrays,
                combine: None,
                ..
            } => {
                let mut arrays_used = arrays.iter();
                arrays_used.try_for_each(|a| is_used(*a, Use::Last(arrays.clone())))
            }
            StmtKind::ScatterArray {
                arrays,
                combine: Some(combine),
                ..
            } => {
                let joins = Joins::of(program, arrays, *combine);
                let why = Refusal::Scatter("by a function that may ask for their order");
                for (array, (op, _)) in arrays.iter().zip(&joins.ok_or(why)?.ops) {
                    is_used(*array, Use::Joined(*op))?;
                    let scatter = Scatter {
                        array: *array,
                        op: *op,
                    };
                    if !all.contains(&scatter) {
                        all.push(scatter);
                    }
                }
                Ok(())
            }
            StmtKind::WriteArray(array, ..) => is_used(*array, Use::Written),
            _ => Ok(()),
        })?;
    }
    Ok(all)
}

/// Describes a scatter of several values with an order-independent combine.
pub struct Joins<'a> {
    /// The operator for each array, and its operand. None stands for the value itself.
    pub ops: Vec<(Op, Option<Atom>)>,
    /// The statements of a function that depend on the values alone.
    pub stmts: Vec<&'a Stmt>,
    /// The function's parameters for the values.
    pub values: &'a [Var],
}

impl<'a> Joins<'a> {
    /// Splits a combine into one operator per array.
    ///
    /// A function qualifies if it uses the present elements for nothing else.
    pub fn of(program: &'a Loop, arrays: &[Var], combine: Combine) -> Option<Joins<'a>> {
        let joins = |op: Op, array: Var| op.identity(program.ty(array).elem()).is_some();
        let function = match (arrays, combine) {
            (_, Combine::Fn(f)) => &program.functions[f.index()],
            ([array], Combine::Op(op)) if joins(op, *array) => {
                return Some(Joins {
                    ops: vec![(op, None)],
                    stmts: Vec::new(),
                    values: &[],
                });
            }
            _ => return None,
        };
        let (there, values) = function.params.split_at_checked(arrays.len())?;
        let mut of_there: FxHashSet<Var> = there.iter().copied().collect();
        let (mut stmts, mut lets) = (Vec::new(), FxHashMap::default());
        for stmt in &function.body {
            let (mut reads, mut defined) = (false, Vec::new());
            let mut read = |a: Atom| reads |= a.var().is_some_and(|v| of_there.contains(&v));
            walk::each(stmt, &mut |s| {
                walk::operands(&s.kind, &mut read);
                walk::handed_out(&s.kind, &mut read);
                walk::definitions(&s.kind, &mut |v| defined.push(v));
            });
            match reads {
                true => of_there.extend(defined),
                false => stmts.push(stmt),
            }
            if let StmtKind::Let(v, op, args) = &stmt.kind {
                lets.insert(*v, (*op, &args[..]));
            }
        }
        let free = |a: Atom| a.var().is_none_or(|v| !of_there.contains(&v));
        let op = |((array, result), there): ((&Var, &Atom), &Var)| {
            let (op, args) = lets.get(&result.var()?)?;
            let value = match **args {
                [x, value] | [value, x] if x == Atom::Var(*there) && free(value) => value,
                _ => return None,
            };
            joins(*op, *array).then_some((*op, Some(value)))
        };
        let results = arrays.iter().zip(&function.results).zip(there);
        Some(Joins {
            ops: results.map(op).collect::<Option<_>>()?,
            stmts,
            values,
        })
    }
}

impl Shape<'_> {
    /// Finds the arrays that steps overwrite, with the last value winning.
    pub(super) fn find_last(&self) -> Result<Vec<Last>, Refusal> {
        let mut all: Vec<Last> = Vec::new();
        for placed in self.steps() {
            let Place::At { rate, .. } = placed.place else {
                continue;
            };
            let rate = self.facts.tree.loop_rate(rate);
            each(&placed.block.stmts, &mut |s| {
                let StmtKind::ScatterArray {
                    arrays,
                    combine: None,
                    ..
                } = &s.kind
                else {
                    return Ok(());
                };
                let known = all.iter().find(|l| l.arrays == *arrays).map(|l| l.rate);
                if known.is_none() {
                    let arrays = arrays.clone();
                    all.push(Last { arrays, rate });
                }
                match known.is_none_or(|r| r == rate) && counts_on(self.program, &self.facts, rate)
                {
                    true => Ok(()),
                    false => Err(Refusal::Scatter(
                        "of which the last one stays, and no number says which that is",
                    )),
                }
            })?;
        }
        Ok(all)
    }

    /// Lists the arrays that steps write elementwise, with the loop rate that orders the writes, if
    /// any.
    fn written(&self) -> Vec<(Var, Option<RateId>)> {
        let mut all: Vec<(Var, Option<RateId>)> = Vec::new();
        for placed in self.steps() {
            let Place::At { rate, .. } = placed.place else {
                continue;
            };
            let rate = self.facts.tree.loop_rate(rate);
            let rate = counts_on(self.program, &self.facts, rate).then_some(rate);
            for s in &placed.block.stmts {
                let StmtKind::WriteArray(array, ..) = s.kind else {
                    continue;
                };
                match all.iter_mut().find(|(a, _)| *a == array) {
                    Some((_, known)) => *known = known.filter(|_| *known == rate),
                    None => all.push((array, rate)),
                }
            }
        }
        all
    }

    /// Checks that no other effect depends on the order of steps. Arrays that steps may write twice
    /// at an index count as overwritten.
    pub(super) fn check_order(&mut self) -> Result<(), Refusal> {
        let rest = without(self.contracted.left_out(self.program), &|_| false);
        let repeats = |rest: &Loop| chunkable(rest).is_err_and(|why| why.reason == Reason::Writes);
        if repeats(&rest) {
            let alone = |array| without(rest.clone(), &|a| a != array);
            let mut found = self.written();
            found.retain(|(array, _)| repeats(&alone(*array)));
            self.last
                .extend(found.into_iter().filter_map(|(array, rate)| {
                    let arrays = vec![array];
                    Some(Last {
                        arrays,
                        rate: rate?,
                    })
                }));
        }
        let is_last = |a: Var| self.last.iter().any(|l| l.arrays == [a]);
        chunkable(&without(rest, &is_last)).map_err(|why| Refusal::Order(why.to_string()))
    }

    /// Tells whether steps scatter to an array.
    pub(super) fn is_scattered(&self, array: Var) -> bool {
        let mut is_it = false;
        for stmt in self.steps().flat_map(|b| &b.block.stmts) {
            walk::each(stmt, &mut |s| {
                is_it |= matches!(&s.kind, StmtKind::ScatterArray { arrays, .. } if arrays.contains(&array));
            });
        }
        is_it
    }
}

/// Tells whether a loop rate's counter increases from its first step to its last, across iterations
/// of outer loops.
fn counts_on(program: &Loop, facts: &Facts<'_>, rate: RateId) -> bool {
    let RateKind::Nested { counter, .. } = program.rate(rate).kind else {
        return program.roots.contains(&rate);
    };
    let group = facts.group.get(&counter).map(|(g, _)| g.index());
    group.is_some_and(|g| program.roots.contains(&program.groups[g].owner))
}

/// Returns a loop without its scatters and without some of its writes.
fn without(mut rest: Loop, is_left_out: &dyn Fn(Var) -> bool) -> Loop {
    let is_kept = |s: &Stmt| match s.kind {
        StmtKind::ScatterArray { .. } => false,
        StmtKind::WriteArray(array, ..) => !is_left_out(array),
        _ => true,
    };
    for block in rest.blocks.values_mut() {
        block.stmts.retain(is_kept);
    }
    rest
}
