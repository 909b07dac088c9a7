//! Merging of two arrays by flags: `combine`.

use crate::array::Array;
use crate::array::append::total;
use crate::array::merge::truth;
use crate::ast::{
    Body, BodyBuilder, Builder, Field, Fields, Fold, FoldStyle, Kind, Node, ScanKind, Term,
    TermData, TermId, identities, identity, is_exact, trace,
};
use crate::elt::Elt;
use crate::loc::Loc;
use crate::over::by;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

impl Builder {
    /// Takes the next element of `xs` for a true flag, else of `ys`.
    ///
    /// Both arrays must have the same element type.
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
        // The map below checks that there are as many flags as elements. The reads check that
        // neither array is too short. Together these checks also exclude an array that is too long.
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
    /// Takes the next element of `xs` for a true flag, else of `ys`.
    ///
    /// This inverts a [`partition`](Array::partition), or two [`pack`](Array::pack)s. The result is
    /// as long as the flags.
    ///
    /// It takes one pass over the flags, and fuses with their producer and with the consumers of
    /// the result. It also fuses with streams (filters, scans, elements of segments, ...) among
    /// `xs`, `ys` and the flags. The loop advances a stream when it takes an element from it. If no
    /// input is a stream, `xs` and `ys` are read at random.
    ///
    /// If `xs` and `ys` are packs by these flags (and by `!flags`), no packed array is made. The
    /// same holds for cheap maps of such packs, and for their scans by exact operators, such as
    /// sums of integers.
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
    /// When forced: if the flags are not as many as the elements of both arrays together. Also if
    /// one array is too short for its flags: the error is an index out of range, or a wrong length
    /// for streams.
    #[doc(alias = "choose")]
    #[track_caller]
    pub fn combine<T: Elt>(&self, xs: &Array<T>, ys: &Array<T>) -> Array<T> {
        let builder = Builder::named("combine");
        Array::wrap(builder.combine(self.node(), xs.node(), ys.node()))
    }
}

/// The step of a merge of streams by flags. Each flag requests one element.
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
        // The error is a flag without an element, or an element without a flag.
        let next = op(Op::Add, &[i, Field::literal(Const::u64(1))]);
        let (got, expected) = (cond(more, i, next), cond(more, next, i));
        let left = cond(more, flag, truth(false));
        let right = cond(more, op(Op::Not, &[flag]), truth(false));
        let mut all = Fields::from_slice(&[is_there, left, right, fits, got, expected]);
        all.extend(flag.cond(xs, ys, loc));
        all
    })
}

/// An array computed from a pack by some flags, as unpacked data with cheap maps applied to it.
struct Packed<'n> {
    /// The unpacked data. Only elements with a flag count.
    data: Arc<Node>,
    /// The maps applied to the data, the last one first.
    maps: Vec<&'n Body>,
    /// The number of terms per element.
    terms: usize,
}

/// At most this many terms are cheaper to recompute than to store and load.
const CHEAP: usize = 8;

impl<'n> Packed<'n> {
    /// Recognises an array packed by the flags, or by their negation if `wanted` is false. Scans
    /// of packs become scans of the unpacked data, without the terms that are already used.
    fn of(
        builder: Builder,
        array: &'n Arc<Node>,
        (flags, wanted): (&Arc<Node>, bool),
        mut terms: usize,
    ) -> Option<Packed<'n>> {
        let (mut at, mut maps) = (array, Vec::new());
        let data = loop {
            if at.value.get().is_some() || at.error.is_some() || terms > CHEAP {
                return None;
            }
            match (&at.kind, at.inputs.as_slice()) {
                (Kind::Map(body), [input]) if is_cheap(body) => {
                    terms += body.terms.len() - body.params.len();
                    maps.push(body);
                    at = input;
                }
                (Kind::Pack, [data, tags]) if selects(tags, flags, wanted) => break data.clone(),
                (Kind::Scan(fold, kind), [input]) => {
                    let nothing = neutral(fold)?;
                    terms += fold.step.results.len();
                    let inner = Packed::of(builder, input, (flags, wanted), terms)?;
                    terms = inner.terms;
                    let spread = inner.spread(builder, (flags, wanted), &nothing)?;
                    let builder = Builder::like(at);
                    break builder.scan(&spread, (**fold).clone(), *kind);
                }
                _ => return None,
            }
        };
        Some(Packed { data, maps, terms })
    }

    /// Emits the maps for one element of the data.
    fn embed(&self, b: &mut BodyBuilder, fields: Vec<TermId>) -> Option<Vec<TermId>> {
        let mut maps = self.maps.iter().rev();
        maps.try_fold(fields, |fields, body| b.embed(body, &fields))
    }

    /// Computes the elements, each at the position of its flag, and `nothing` elsewhere.
    fn spread(
        &self,
        builder: Builder,
        (flags, wanted): (&Arc<Node>, bool),
        nothing: &Body,
    ) -> Option<Arc<Node>> {
        let types = [&[Ty::Bool], &self.data.types[..]].concat();
        let mut b = BodyBuilder::new(&types);
        b.locate(Some(builder.loc()));
        let flag = b.param(0);
        let fields = (1..types.len() as u32).map(|k| b.param(k)).collect();
        let elements = self.embed(&mut b, fields)?;
        let nothing = b.embed(nothing, &[])?;
        let both = elements.into_iter().zip(nothing);
        let fields: Vec<TermId> = both
            .map(|(x, none)| match wanted {
                true => b.cond(flag, x, none),
                false => b.cond(flag, none, x),
            })
            .collect();
        Some(builder.map(&[flags.clone(), self.data.clone()], b.finish(&fields)))
    }
}

/// The element that a scan may join anywhere. The scan is exact in any order, and cannot fail.
fn neutral(fold: &Fold) -> Option<Body> {
    let is_plain = matches!(fold.style, FoldStyle::Associative) && is_exact(&fold.step);
    identities(&fold.step).filter(|_| is_plain && !fold.start.may_trap())
}

/// Tests if the tags are the flags, or their negation if `wanted` is false.
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

/// Tests that a body has no traps and no expensive operation. A trap would be reported for the
/// wrong combinator.
fn is_cheap(body: &Body) -> bool {
    let costs = |d: &TermData| matches!(&d.term, Term::Op(op, _) if op.is_transcendental());
    !body.may_trap() && !body.terms.iter().any(costs)
}

/// Combines packs by the flags and by their negation without packing. The flag selects between the
/// elements of both sides.
fn of_packs(
    builder: Builder,
    flags: &Arc<Node>,
    xs: &Arc<Node>,
    ys: &Arc<Node>,
) -> Option<Arc<Node>> {
    let left = Packed::of(builder, xs, (flags, true), 0)?;
    let right = Packed::of(builder, ys, (flags, false), 0)?;
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

/// Counts the true flags before each position.
fn trues_before(builder: Builder, flags: &Arc<Node>) -> Arc<Node> {
    let mut b = BodyBuilder::new(&[Ty::Bool]);
    let flag = b.param(0);
    let number = b.cast(flag, Ty::U64);
    let numbers = builder.map(std::slice::from_ref(flags), b.finish(&[number]));
    builder.scan(&numbers, by(Op::Add, Const::u64(0)), ScanKind::Exclusive)
}
