//! Fourier transforms.
//!
//! Complex numbers are pairs of floats.

use super::{Combinator, Kind, XS, row};
use crate::eval::{Call, Result};
use crate::value::{Array, Elt, Value};
use livefusion::ast::{Builder, Node};
use livefusion::segmented::Segments;
use loop_lang::Ty;
use std::sync::Arc;

const S: Kind = Kind::Segments;

/// Lists the combinators.
#[rustfmt::skip]
pub static ROWS: &[Combinator] = &[
    row("fft", &[XS], "[(float, float)] => [(float, float)]", "[(1.0, 0.0), (0.0, 1.0)].fft()", |c| whole(c, Builder::fft)),
    row("ifft", &[XS], "[(float, float)] => [(float, float)]", "[(4.0, 0.0), (0.0, 2.0)].ifft()", |c| whole(c, Builder::ifft)),
    row("rfft", &[XS], "[float] => [(float, float)]", "[1.0, 2.0, 3.0, 4.0].rfft()", |c| {
        let xs = c.array(0)?;
        let float = real(c, &xs.elt)?;
        c.give(c.builder.rfft(&xs.node), pair(&float))
    }),
    row("irfft", &[XS, Kind::Count], "([(float, float)], n) => [float]", "[(10.0, 0.0), (-2.0, 2.0), (-2.0, 0.0)].irfft(4)", |c| {
        let (zs, n) = (c.array(0)?, c.count_body(1)?);
        let float = complex(c, &zs.elt)?;
        c.give(c.builder.irfft(&zs.node, &n), float)
    }),
    row("fft", &[S], "segments => segments", "[(1.0, 0.0), (0.0, 1.0), (5.0, 2.0)].chunks(2).fft()", |c| of_each(c, Segments::fft)),
    row("ifft", &[S], "segments => segments", "[(4.0, 0.0), (0.0, 2.0), (5.0, 2.0)].chunks(2).ifft()", |c| of_each(c, Segments::ifft)),
    row("rfft", &[S], "segments => segments", "[1.0, 2.0, 3.0, 4.0, 5.0].chunks(4).rfft()", |c| {
        let (s, elt) = c.segments(0)?;
        let float = real(c, &elt)?;
        c.give_segments(s.rfft(c.builder), pair(&float))
    }),
    row("irfft", &[S, XS], "(segments, [length]) => segments", "(ragged [[(3.0, 0.0), (1.0, 0.0)], [(5.0, 0.0)]]).irfft([2, 1])", |c| {
        let ((s, elt), lengths) = (c.segments(0)?, c.array(1)?);
        let float = complex(c, &elt)?;
        c.give_segments(s.irfft(c.builder, &lengths.node), float)
    }),
];

fn pair(float: &Elt) -> Elt {
    Elt::Tuple(vec![float.clone(), float.clone()])
}

/// The float type of the first argument's elements. For other types, `f64` is expected.
fn real(c: &mut Call<'_, '_>, elt: &Elt) -> Result<Elt> {
    let float = match elt.scalar() {
        Some(Ty::F32) => Ty::F32,
        _ => Ty::F64,
    };
    let float = Elt::Scalar(float);
    c.same(0, elt, &float)?;
    Ok(float)
}

/// The float type of the pairs in the first argument.
fn complex(c: &mut Call<'_, '_>, elt: &Elt) -> Result<Elt> {
    let float = match elt {
        Elt::Tuple(parts) if parts.first() == Some(&Elt::Scalar(Ty::F32)) => Ty::F32,
        _ => Ty::F64,
    };
    let float = Elt::Scalar(float);
    c.same(0, elt, &pair(&float))?;
    Ok(float)
}

fn whole(c: &mut Call<'_, '_>, make: fn(Builder, &Arc<Node>) -> Arc<Node>) -> Result<Value> {
    let Array { node, elt } = c.array(0)?;
    complex(c, &elt)?;
    c.give(make(c.builder, &node), elt)
}

fn of_each(c: &mut Call<'_, '_>, make: fn(&Segments, Builder) -> Segments) -> Result<Value> {
    let (s, elt) = c.segments(0)?;
    complex(c, &elt)?;
    c.give_segments(make(&s, c.builder), elt)
}
