//! The detector as array programs: pixel marks and hysteresis.

use crate::{HIGH, LOW, NONE, STRONG, TAN_22, WEAK, taps};
use livefusion::prelude::*;
use livefusion::prepare::{Program, prepare_with};
use livefusion::runtime::Explanation;

/// Holds a gray picture.
pub type Gray = Array<u8, Ix2>;

/// Marks each pixel.
///
/// A pixel is no edge, a weak one, or a strong one.
pub fn marks(photo: &Gray) -> Gray {
    let thin = thin(&gradient(&blur(photo)));
    thin.map(|size| size.ge(HIGH).cond(STRONG, size.ge(LOW).cond(WEAK, NONE)))
}

/// A Gaussian blur: along the rows, then along the columns.
fn blur(photo: &Gray) -> Array<f32, Ix2> {
    let [far, near, here] = taps();
    let weigh = |[a, b, c, d, e]: [Exp<f32>; 5]| far * (a + e) + near * (b + d) + here * c;
    let gray = photo.map(|x| x.cast::<f32>());
    let across = gray.stencil2(Boundary::Clamp, |[row]: [[_; 5]; 1]| weigh(row));
    across.stencil2(Boundary::Clamp, |column: [[_; 1]; 5]| {
        weigh(column.map(|[x]| x))
    })
}

/// The gradient's size at each pixel and its direction, by Sobel's operators. Directions are 0
/// along the row, 1 down and right, 2 along the column, 3 down and left.
fn gradient(picture: &Array<f32, Ix2>) -> Array<(f32, u8), Ix2> {
    picture.stencil2(Boundary::Clamp, |[[a, b, c], [d, _, e], [f, g, h]]| {
        let x = (c - a) + 2.0 * (e - d) + (h - f);
        let y = (f - a) + 2.0 * (g - b) + (h - c);
        let size = (x * x + y * y).sqrt();
        let is_row = y.abs().le(TAN_22 * x.abs());
        let is_column = x.abs().lt(TAN_22 * y.abs());
        let diagonal = (x * y).gt(0.0).cond(1u8, 3u8);
        (size, is_row.cond(0u8, is_column.cond(2u8, diagonal)))
    })
}

/// The sizes of local maxima along the gradient's direction; 0 elsewhere.
fn thin(gradient: &Array<(f32, u8), Ix2>) -> Array<f32, Ix2> {
    gradient.stencil2(
        Boundary::Constant((0.0, 0)),
        |[[a, b, c], [d, here, e], [f, g, h]]| {
            let (size, direction) = here;
            let along = |k: u8, before: Exp<f32>, after: Exp<f32>| {
                direction.eq(k) & size.gt(before) & size.ge(after)
            };
            let is_top =
                along(0, d.0, e.0) | along(1, a.0, h.0) | along(2, b.0, g.0) | along(3, c.0, f.0);
            is_top.cond(size, 0.0)
        },
    )
}

/// One step of hysteresis: weak pixels next to strong ones become strong.
fn grow(marks: &Gray) -> Gray {
    // A pixel outside repeats the nearest pixel inside, which is this one or a neighbour of it.
    marks.stencil2(Boundary::Clamp, |[[a, b, c], [d, here, e], [f, g, h]]| {
        let strongest = a.max(b).max(c).max(d).max(e).max(f).max(g).max(h);
        (here.eq(WEAK) & strongest.eq(STRONG)).cond(STRONG, here)
    })
}

/// Whether any pixel differs. Stops at the first.
fn differ(old: &Gray, new: &Gray) -> Array<bool, Ix0> {
    old.zip_with(new, |old, new| old.ne(new))
        .any(|is_new| is_new)
}

/// Holds the compiled detector of an engine.
pub struct Detector {
    marks: Program<Gray, Gray>,
    grow: Program<Gray, Gray>,
    differ: Program<(Gray, Gray), Array<bool, Ix0>>,
    last: Program<Gray, Gray>,
}

impl Detector {
    /// Compiles the programs.
    pub fn new(engine: &Engine) -> livefusion::Result<Detector> {
        Ok(Detector {
            marks: prepare_with(engine, |photo: Gray| marks(&photo))?,
            grow: prepare_with(engine, |marks: Gray| grow(&marks))?,
            differ: prepare_with(engine, |(old, new): (Gray, Gray)| differ(&old, &new))?,
            last: prepare_with(engine, |marks: Gray| {
                marks.map(|m| m.eq(STRONG).cond(0u8, 255))
            })?,
        })
    }

    /// Marks each pixel.
    pub fn marks(&self, photo: &Gray) -> livefusion::Result<Gray> {
        Ok(self.marks.call(photo)?.into())
    }

    /// Keeps the weak pixels that are connected to strong ones.
    ///
    /// Returns a picture of the edges, black on white, and the number of steps.
    pub fn link(&self, marks: Gray) -> livefusion::Result<(Manifest<u8, Ix2>, usize)> {
        let (mut old, mut steps) = (marks, 0);
        loop {
            let new = self.grow.call(&old)?.into();
            steps += 1;
            let pair = (old, new);
            if !self.differ.call(&pair)? {
                return Ok((self.last.call(&pair.1)?, steps));
            }
            old = pair.1;
        }
    }
}

/// Explains the loops of the parts.
///
/// They are the marks, a step of hysteresis, and its test.
pub fn explain(engine: &Engine, photo: &Gray) -> livefusion::Result<[Explanation; 3]> {
    let marks = marks(photo);
    let old: Gray = marks.force_with(engine)?.into();
    let new: Gray = grow(&old).force_with(engine)?.into();
    Ok([
        self::marks(photo).explain_with(engine)?,
        grow(&old).explain_with(engine)?,
        differ(&old, &new).explain_with(engine)?,
    ])
}
