//! Fourier transforms of columns and of segments, by `rustfft` and `realfft`.

use super::stretch::Stretch;
use crate::ast::{Buffer, Function, OfSegments, Value};
use crate::complex::Complex;
use crate::error::ErrorKind;
use crate::external::reserved;
use crate::segmented::fitting;
use livefusion_backend::Prim;
use loop_lang::types::Ty;
use realfft::{FftNum, RealFftPlanner};
use rustfft::num_traits::Zero;
use rustfft::{FftDirection, FftPlanner};
use std::sync::Arc;

/// Selects a transform.
#[derive(Clone, Copy)]
pub enum Transform {
    /// Complex to complex.
    Of(FftDirection),
    /// Real to complex.
    Real,
    /// Complex to real, for a given length, without the division by it.
    ToReal,
}

/// Transforms an array.
pub struct Whole(pub Transform);

/// Transforms each segment.
pub struct Each(pub Transform);

impl Function for Whole {
    fn call(&self, inputs: &[Value], threads: usize) -> Result<Value, ErrorKind> {
        let [Value::Array(columns), rest @ ..] = inputs else {
            return Err(unfit());
        };
        let len = columns.first().map_or(0, |column| column.len() as u64);
        let wanted = match rest {
            [Value::Scalar(wanted)] => wanted.first().map_or(0, |wanted| wanted.bits),
            _ => len,
        };
        self.0.call(columns, &[len], &[wanted], threads)
    }

    fn of_segments(&self) -> Option<OfSegments> {
        Some(OfSegments::Apart(Arc::new(Each(self.0))))
    }

    fn why(&self) -> &str {
        "a Fourier transform looks at all elements before it gives the first"
    }
}

impl Function for Each {
    fn call(&self, inputs: &[Value], threads: usize) -> Result<Value, ErrorKind> {
        let [Value::Array(lengths), Value::Array(columns), rest @ ..] = inputs else {
            return Err(unfit());
        };
        let lengths = fitting(lengths, columns)?;
        let wanted = match rest {
            [Value::Array(wanted)] => wanted.first().and_then(|wanted| wanted.as_slice()),
            _ => Some(lengths),
        };
        self.0
            .call(columns, lengths, wanted.ok_or_else(unfit)?, threads)
    }

    fn why(&self) -> &str {
        "a Fourier transform looks at all elements of a segment before it gives the first"
    }
}

fn unfit() -> ErrorKind {
    ErrorKind::Malformed {
        expected: "columns of floats".into(),
        got: "something else".into(),
    }
}

impl Transform {
    /// Transforms the segments of these lengths, which fit the columns. `wanted` gives the lengths
    /// of a real result.
    fn call(
        self,
        columns: &[Arc<Buffer>],
        lengths: &[u64],
        wanted: &[u64],
        threads: usize,
    ) -> Result<Value, ErrorKind> {
        match columns.first().map(|column| column.ty()) {
            Some(Ty::F32) => self.floats::<f32>(columns, lengths, wanted, threads),
            Some(Ty::F64) => self.floats::<f64>(columns, lengths, wanted, threads),
            _ => Err(unfit()),
        }
    }

    fn floats<T: Prim + FftNum>(
        self,
        columns: &[Arc<Buffer>],
        lengths: &[u64],
        wanted: &[u64],
        threads: usize,
    ) -> Result<Value, ErrorKind> {
        let slices: Option<Vec<&[T]>> = columns.iter().map(|column| column.as_slice()).collect();
        match (self, slices.as_deref()) {
            (Transform::Of(direction), Some([re, im])) => {
                all((re, im), lengths, direction, threads)
            }
            (Transform::Real, Some([xs])) => half(xs, lengths, threads),
            (Transform::ToReal, Some([re, im])) => real((re, im), lengths, wanted, threads),
            _ => Err(unfit()),
        }
    }
}

fn all<T: Prim + FftNum>(
    (re, im): (&[T], &[T]),
    lengths: &[u64],
    direction: FftDirection,
    threads: usize,
) -> Result<Value, ErrorKind> {
    let mut zs = reserved(re.len())?;
    zs.extend(pairs(re, im));
    // Each thread has its own planner, which caches its plans.
    Stretch::all(lengths, &mut zs).shared_out(threads, &|some| {
        let (mut planner, mut scratch) = (FftPlanner::new(), Vec::new());
        for (_, zs) in some.segments(lengths).filter(|(_, zs)| !zs.is_empty()) {
            let plan = planner.plan_fft(zs.len(), direction);
            let scratch = part(&mut scratch, plan.get_inplace_scratch_len())?;
            plan.process_with_scratch(zs, scratch);
        }
        Ok(())
    })?;
    columns(&zs)
}

fn half<T: Prim + FftNum>(xs: &[T], lengths: &[u64], threads: usize) -> Result<Value, ErrorKind> {
    let mut halves = reserved(lengths.len())?;
    halves.extend(lengths.iter().map(|n| halved(*n)));
    let mut zs = zeros(halves.iter().sum::<u64>() as usize)?;
    Stretch::all(&halves, &mut zs).shared_out(threads, &|some| {
        let (mut planner, mut work, mut scratch) = (RealFftPlanner::new(), Vec::new(), Vec::new());
        for (place, zs) in some.segments(lengths).filter(|(_, zs)| !zs.is_empty()) {
            let plan = planner.plan_fft_forward(place.len());
            let work = part(&mut work, place.len())?;
            work.copy_from_slice(&xs[place]);
            let scratch = part(&mut scratch, plan.get_scratch_len())?;
            let done = plan.process_with_scratch(work, zs, scratch);
            done.map_err(|_| unfit())?;
        }
        Ok(())
    })?;
    columns(&zs)
}

fn real<T: Prim + FftNum>(
    (re, im): (&[T], &[T]),
    lengths: &[u64],
    wanted: &[u64],
    threads: usize,
) -> Result<Value, ErrorKind> {
    let same = |expected, got| match expected == got {
        true => Ok(()),
        false => Err(ErrorKind::LengthMismatch { expected, got }),
    };
    same(lengths.len() as u64, wanted.len() as u64)?;
    for (n, got) in wanted.iter().zip(lengths) {
        same(halved(*n), *got)?;
    }
    let mut xs = zeros(wanted.iter().sum::<u64>() as usize)?;
    Stretch::all(wanted, &mut xs).shared_out(threads, &|some| {
        let (mut planner, mut work, mut scratch) = (RealFftPlanner::new(), Vec::new(), Vec::new());
        for (place, xs) in some.segments(lengths).filter(|(_, xs)| !xs.is_empty()) {
            let plan = planner.plan_fft_inverse(xs.len());
            let work = part(&mut work, place.len())?;
            let zs = pairs(&re[place.clone()], &im[place]);
            work.iter_mut().zip(zs).for_each(|(to, z)| *to = z);
            // These elements are their own conjugates, so their imaginary parts are 0 for a real
            // signal.
            if let [first, ..] = work {
                first.im = T::zero();
            }
            if let ([.., last], true) = (&mut *work, xs.len().is_multiple_of(2)) {
                last.im = T::zero();
            }
            let scratch = part(&mut scratch, plan.get_scratch_len())?;
            let done = plan.process_with_scratch(work, xs, scratch);
            done.map_err(|_| unfit())?;
        }
        Ok(())
    })?;
    Ok(Value::Array(vec![Arc::new(Buffer::from_vec(xs))]))
}

/// The length of the first half of a transform of `n` numbers.
fn halved(n: u64) -> u64 {
    n / 2 + u64::from(n > 0)
}

fn pairs<T: Prim>(re: &[T], im: &[T]) -> impl Iterator<Item = Complex<T>> {
    let parts = re.iter().zip(im);
    parts.map(|(re, im)| Complex { re: *re, im: *im })
}

/// Returns `len` elements of scratch memory, with arbitrary contents. The memory is reused between
/// segments.
fn part<Z: Zero + Clone>(kept: &mut Vec<Z>, len: usize) -> Result<&mut [Z], ErrorKind> {
    if kept.len() < len {
        *kept = zeros(len)?;
    }
    Ok(&mut kept[..len])
}

fn zeros<Z: Zero + Clone>(len: usize) -> Result<Vec<Z>, ErrorKind> {
    let mut zeros = reserved(len)?;
    zeros.resize(len, Z::zero());
    Ok(zeros)
}

fn columns<T: Prim>(zs: &[Complex<T>]) -> Result<Value, ErrorKind> {
    let column = |part: fn(&Complex<T>) -> T| {
        let mut column = reserved(zs.len())?;
        column.extend(zs.iter().map(part));
        Ok(Arc::new(Buffer::from_vec(column)))
    };
    Ok(Value::Array(vec![column(|z| z.re)?, column(|z| z.im)?]))
}
