//! Expressions whose types are known only at run time.
//!
//! Front ends for other languages trace their closures with them.

use super::trace::{self, Field, Fields};
use crate::ast::{Builder, Node, show_types};
use crate::loc::Loc;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// Each function takes the location that errors refer to. Types are checked, but a mistake does not
/// panic. It gives an expression that carries the error through the node that uses it to `force`.
impl Field {
    /// Applies an operator to expressions.
    ///
    /// For conversions see [`cast`](Field::cast) and [`bitcast`](Field::bitcast). [`Op::Select`]
    /// computes both arms; [`cond`](Field::cond) computes only the selected one.
    pub fn op(op: Op, args: &[Field], loc: Loc) -> Field {
        Field::op_to(op, args, None, loc)
    }

    /// Converts to another type, as Rust's `as`.
    pub fn cast(self, to: Ty, loc: Loc) -> Field {
        match self.ty() == to {
            true => self,
            false => Field::op_to(Op::Cast, &[self], Some(to), loc),
        }
    }

    /// Reinterprets the bits as another type.
    ///
    /// The types are floats and unsigned integers of equal width.
    pub fn bitcast(self, to: Ty, loc: Loc) -> Field {
        Field::op_to(Op::Bitcast, &[self], Some(to), loc)
    }

    fn op_to(op: Op, args: &[Field], target: Option<Ty>, loc: Loc) -> Field {
        let types: Vec<Ty> = args.iter().map(|f| f.ty()).collect();
        if let Some(to) = op.result(&types, target) {
            return trace::op(op, args, to, loc);
        }
        let to = target.or(types.first().copied()).unwrap_or(Ty::U64);
        let expected = format!("operands that `{}` takes", op.name());
        wrong(args, to, expected, show_types(&types), loc)
    }

    /// Returns `then` if this is true, else `otherwise`, field by field.
    ///
    /// Only the selected arm is computed, so a condition can guard a division or an index.
    pub fn cond(self, then: &[Field], otherwise: &[Field], loc: Loc) -> Fields {
        let types = |fields: &[Field]| -> Vec<Ty> { fields.iter().map(|f| f.ty()).collect() };
        let (left, right) = (types(then), types(otherwise));
        if self.ty() == Ty::Bool && left == right {
            let arms: Vec<_> = then
                .iter()
                .copied()
                .zip(otherwise.iter().copied())
                .collect();
            return trace::cond(self, &arms, loc).into();
        }
        let expected = "a bool and two arms of one type".to_string();
        let all = [
            self.ty().name().into(),
            show_types(&left),
            show_types(&right),
        ];
        let used = [&[self], then, otherwise].concat();
        let one = |f: &Field| wrong(&used, f.ty(), expected.clone(), all.join(", "), loc);
        then.iter().map(one).collect()
    }

    /// Returns the fields of a delayed scalar.
    pub fn value(scalar: &Arc<Node>, loc: Loc) -> Fields {
        let fields = (0..).zip(&scalar.types);
        fields
            .map(|(k, ty)| trace::scalar(scalar, k, *ty, loc))
            .collect()
    }

    /// Reads the fields of an array element.
    ///
    /// The index has one integer per axis. An index out of range is an error when forced.
    pub fn at(array: &Arc<Node>, index: &[Field], loc: Loc) -> Fields {
        let fields = (0..).zip(array.types.iter().copied());
        let fits = index.iter().all(|f| f.ty().is_int()) && index.len() == usize::from(array.rank);
        if array.error.is_none() && (!fits || index.is_empty()) {
            let types: Vec<Ty> = index.iter().map(|f| f.ty()).collect();
            let expected = format!("an index of integers for an array of rank {}", array.rank);
            let one = |(_, ty)| wrong(index, ty, expected.clone(), show_types(&types), loc);
            return fields.map(one).collect();
        }
        if let [index, ..] = index
            && (array.rank == 1 || array.error.is_some())
        {
            return fields
                .map(|(k, ty)| trace::at(array, k, ty, *index, loc))
                .collect();
        }
        let builder = Builder::at("at", loc);
        let at = crate::ranked::place(&builder.shape(array), index, loc);
        let elements = builder.reshape(array, None);
        fields
            .map(|(k, ty)| trace::at_unchecked(&elements, k, ty, at, loc))
            .collect()
    }

    /// As [`at`](Field::at) for an array of one axis, without a bounds check. The index (`u64`)
    /// must be in range wherever the value is used.
    pub(crate) fn at_unchecked(array: &Arc<Node>, index: Field, loc: Loc) -> Fields {
        let fields = (0..).zip(&array.types);
        fields
            .map(|(k, ty)| trace::at_unchecked(array, k, *ty, index, loc))
            .collect()
    }

    /// Repeats `state = next(state)` while `test(state)`, and returns the last state.
    ///
    /// For that state the test is false. Both closures are traced once.
    pub fn while_loop(
        start: &[Field],
        test: impl FnOnce(&[Field]) -> Field,
        next: impl FnOnce(&[Field]) -> Fields,
        loc: Loc,
    ) -> Fields {
        trace::while_loop(start, test, next, loc).into()
    }

    /// Applies `next` to `start`, `n` times.
    ///
    /// `n` is a `u64`. The closure is traced once.
    pub fn iterate(
        n: Field,
        start: &[Field],
        next: impl FnOnce(&[Field]) -> Fields,
        loc: Loc,
    ) -> Fields {
        let [zero, one] = [0, 1].map(|n| Field::literal(Const::u64(n)));
        let mut end = Field::while_loop(
            &[&[zero], start].concat(),
            |state| Field::op(Op::Lt, &[state[0], n], loc),
            |state| {
                let turns = Field::op(Op::Add, &[state[0], one], loc);
                std::iter::once(turns).chain(next(&state[1..])).collect()
            },
            loc,
        );
        end.drain(..end.len().min(1));
        end
    }

    /// Tests if `|self - other| <= atol + rtol * |other|`.
    ///
    /// All operands are floats of one type. [`Exp::isclose`](crate::Exp::isclose) has the details.
    pub fn isclose(
        self,
        other: Field,
        rtol: Field,
        atol: Field,
        equal_nan: Field,
        loc: Loc,
    ) -> Field {
        let op = |op, args: &[Field]| Field::op(op, args, loc);
        let both = |a, b| op(Op::And, &[a, b]);
        let away = op(Op::Abs, &[op(Op::Sub, &[self, other])]);
        let relative = op(Op::Mul, &[rtol, op(Op::Abs, &[other])]);
        let near = op(Op::Le, &[away, op(Op::Add, &[atol, relative])]);
        // An infinity is close only to itself.
        let finite = op(
            Op::Eq,
            &[
                op(Op::Sub, &[other, other]),
                Field::literal(Const::zero(other.ty())),
            ],
        );
        let [nan, other_nan] = [self, other].map(|x| op(Op::Ne, &[x, x]));
        let nans = both(equal_nan, both(nan, other_nan));
        let same = op(Op::Or, &[op(Op::Eq, &[self, other]), nans]);
        op(Op::Or, &[both(near, finite), same])
    }

    /// Returns an expression that reports a mistake in the closure that uses it.
    pub fn mistake(ty: Ty, expected: String, got: String, loc: Loc) -> Field {
        trace::malformed(ty, expected, got, loc)
    }
}

/// Reports a malformed use of expressions. If an operand already carries a mistake, that one is
/// kept.
fn wrong(args: &[Field], ty: Ty, expected: String, got: String, loc: Loc) -> Field {
    let known = args.iter().find_map(|f| f.as_mistake(ty));
    known.unwrap_or_else(|| trace::malformed(ty, expected, got, loc))
}
