//! Two arrays in an order that flags give: `combine`.

use crate::array::Array;
use crate::array::append::total;
use crate::array::merge::truth;
use crate::ast::{
    Body, BodyBuilder, Builder, Field, Fields, Kind, Node, ScanKind, Term, TermData, TermId,
    identity, trace,
};
use crate::elt::Elt;
use crate::loc::Loc;
use crate::over::by;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

impl Builder {
    /// Where a flag is true the next element of `xs`, else the next one of `ys`, which are of one type.
    pub fn combine(self, flags: &Arc<Node>, xs: &Arc<Node>, ys: &Arc<Node>) -> Arc<Node> {
        if *flags.types != [Ty::Bool] {
            return self.unfit(flags, &xs.types, 1, "flags of type bool");
        }
        if xs.types != ys.types {
            return self.append(&[xs.clone(), ys.clone()]);
        }
        if let Some(both) = of_packs(self, flags, xs, ys) {
            return both;
        }
        let inputs = [flags, xs, ys].map(Arc::clone);
        if inputs.iter().any(|n| n.comes_in_order()) {
            return self.merge(&inputs, by_flag(&xs.types, self.loc()));
        }
        // The map below checks that there are as many flags as elements. So neither array has too
        // many elements if none has too few, which the reads check.
        let len = total(self, &[xs.clone(), ys.clone()]);
        let indices = self.generate(len, identity(&[Ty::U64]));
        let taken = trues_before(self, flags);
        let mut b = BodyBuilder::new(&[Ty::Bool, Ty::U64, Ty::U64]);
        b.locate(Some(self.loc()));
        let [flag, left, i] = [0, 1, 2].map(|k| b.param(k));
        let right = b.op(Op::Sub, &[i, left]);
        let fields: Vec<_> = (0..xs.types.len() as u32)
            .map(|f| {
                let (x, y) = (b.at(xs, f, left, true), b.at(ys, f, right, true));
                b.cond(flag, x, y)
            })
            .collect();
        self.map(&[flags.clone(), taken, indices], b.finish(&fields))
    }
}

impl Array<bool> {
    /// Where a flag is true the next element of `xs`, else the next one of `ys`: what undoes a
    /// [`partition`](Array::partition) or two [`pack`](Array::pack)s.
    ///
    /// Of the flags' length, computed in one pass over them and fused with what makes them and what
    /// uses the result. Fuses with streams (filters, scans, elements of segments, ...) among `xs`, `ys` and the flags: each
    /// is advanced where its last element was taken. Where none is a stream `xs` and `ys` are read at random. Of packs by
    /// these flags (and by `!flags`), and cheap maps of such, nothing is packed.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let flags = Array::from(vec![true, false, true, true, false]);
    /// let (xs, ys) = (Array::from(vec![1i64, 2, 3]), Array::from(vec![-1i64, -2]));
    /// assert_eq!(flags.combine(&xs, &ys).force()?, [1, -1, 2, 3, -2]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there are not as many flags as elements in both arrays, or if one of the
    /// arrays has fewer elements than the flags ask it for (an index behind its end, or, of streams, a wrong length).
    #[doc(alias = "choose")]
    #[track_caller]
    pub fn combine<T: Elt>(&self, xs: &Array<T>, ys: &Array<T>) -> Array<T> {
        let builder = Builder::named("combine");
        Array::wrap(builder.combine(self.node(), xs.node(), ys.node()))
    }
}

/// The step of a merge of streams by flags, each of which asks for an element.
fn by_flag(types: &[Ty], loc: Loc) -> Body {
    let ends = [Ty::Bool, Ty::Bool, Ty::Bool, Ty::U64];
    let params = [&[Ty::Bool], types, types, &ends].concat();
    trace(&params, |params| {
        let op = |op, args: &[Field]| Field::op(op, args, loc);
        let cond = |c: Field, a, b| c.cond(&[a], &[b], loc)[0];
        let flag = params[0];
        let (xs, rest) = params[1..].split_at(types.len());
        let (ys, rest) = rest.split_at(types.len());
        let (more, more_x, more_y, i) = (rest[0], rest[1], rest[2], rest[3]);
        let is_there = cond(flag, more_x, more_y);
        let none = op(Op::Not, &[cond(more_x, truth(true), more_y)]);
        let fits = cond(more, is_there, none);
        // A flag without an element, or elements without a flag.
        let next = op(Op::Add, &[i, Field::literal(Const::u64(1))]);
        let (got, expected) = (cond(more, i, next), cond(more, next, i));
        let left = cond(more, flag, truth(false));
        let right = cond(more, op(Op::Not, &[flag]), truth(false));
        let mut all = Fields::from_slice(&[is_there, left, right, fits, got, expected]);
        all.extend(flag.cond(xs, ys, loc));
        all
    })
}

/// An array that a pack by some flags leaves, and cheap maps of that.
struct Packed<'n> {
    /// What is packed.
    data: &'n Arc<Node>,
    /// Maps of what is left, the last one first.
    maps: Vec<&'n Body>,
}

/// Terms that are cheaper to compute again than to store and read.
const CHEAP: usize = 8;

impl<'n> Packed<'n> {
    /// Sees through an array, if it is one that the flags (or with `wanted` false, their opposite) leave.
    fn of(array: &'n Arc<Node>, flags: &Arc<Node>, wanted: bool) -> Option<Packed<'n>> {
        let (mut at, mut maps, mut terms) = (array, Vec::new(), 0);
        loop {
            if at.value.get().is_some() || at.error.is_some() {
                return None;
            }
            match (&at.kind, at.inputs.as_slice()) {
                (Kind::Map(body), [input]) => {
                    terms += body.terms.len() - body.params.len();
                    maps.push(body);
                    at = input;
                }
                (Kind::Pack, [data, tags]) if selects(tags, flags, wanted) => {
                    let cheap = terms <= CHEAP && maps.iter().all(|m| is_cheap(m));
                    return cheap.then_some(Packed { data, maps });
                }
                _ => return None,
            }
        }
    }

    /// What becomes of an element of the data.
    fn embed(&self, b: &mut BodyBuilder, fields: Vec<TermId>) -> Option<Vec<TermId>> {
        let mut maps = self.maps.iter().rev();
        maps.try_fold(fields, |fields, body| b.embed(body, &fields))
    }
}

/// Whether tags are the flags, or their opposite.
fn selects(tags: &Arc<Node>, flags: &Arc<Node>, wanted: bool) -> bool {
    if wanted {
        return Arc::ptr_eq(tags, flags);
    }
    let (Kind::Map(body), [of]) = (&tags.kind, tags.inputs.as_slice()) else {
        return false;
    };
    let negates = matches!(
        (body.terms.as_slice(), body.results.as_slice()),
        ([_, TermData { term: Term::Op(Op::Not, args), .. }], [TermId(1)]) if args[0] == TermId(0)
    );
    negates && Arc::ptr_eq(of, flags)
}

/// No traps, which would be blamed on another combinator, and nothing that costs much.
fn is_cheap(body: &Body) -> bool {
    let costs = |d: &TermData| matches!(&d.term, Term::Op(op, _) if op.is_transcendental());
    !body.may_trap() && !body.terms.iter().any(costs)
}

/// Of two packs by the flags and by their opposite nothing has to be packed: where a flag is true the
/// element is what became of the one there.
fn of_packs(
    builder: Builder,
    flags: &Arc<Node>,
    xs: &Arc<Node>,
    ys: &Arc<Node>,
) -> Option<Arc<Node>> {
    let (left, right) = (Packed::of(xs, flags, true)?, Packed::of(ys, flags, false)?);
    let types: Vec<Ty> = [Ty::Bool]
        .iter()
        .chain(&left.data.types)
        .chain(&right.data.types)
        .copied()
        .collect();
    let mut b = BodyBuilder::new(&types);
    b.locate(Some(builder.loc()));
    let width = left.data.types.len();
    let mut all: Vec<TermId> = (0..types.len() as u32).map(|k| b.param(k)).collect();
    let theirs = all.split_off(1 + width);
    let mine = all.split_off(1);
    let mine = left.embed(&mut b, mine)?;
    let theirs = right.embed(&mut b, theirs)?;
    let chosen = mine.into_iter().zip(theirs);
    let fields: Vec<TermId> = chosen.map(|(x, y)| b.cond(all[0], x, y)).collect();
    let inputs = [flags.clone(), left.data.clone(), right.data.clone()];
    Some(builder.map(&inputs, b.finish(&fields)))
}

/// How many flags before each are true.
fn trues_before(builder: Builder, flags: &Arc<Node>) -> Arc<Node> {
    let mut b = BodyBuilder::new(&[Ty::Bool]);
    let flag = b.param(0);
    let number = b.cast(flag, Ty::U64);
    let numbers = builder.map(std::slice::from_ref(flags), b.finish(&[number]));
    builder.scan(&numbers, by(Op::Add, Const::u64(0)), ScanKind::Exclusive)
}
