//! Complex numbers as elements: [`Complex`] of `f32` or `f64`.
//!
//! A complex array is a pair of columns. Operators and functions fuse as those of floats do. This
//! module needs the feature `complex`; the transforms need the feature `fft`.
//!
//! ```
//! use livefusion::complex::{Complex, ComplexExp};
//! use livefusion::prelude::*;
//! let zs = Array::from(vec![Complex::new(3.0, 4.0), Complex::new(0.0, -1.0)]);
//! assert_eq!(zs.abs().force()?, [5.0, 1.0]);
//! let turned = zs.map(|z| z * Complex::i() + 1.0);
//! assert_eq!(turned.to_vec()?, [Complex::new(-3.0, 3.0), Complex::new(2.0, 0.0)]);
//! // The numbers of a circle, from no array at all.
//! let circle = iota(4).map(|i| ComplexExp::cis(i.cast::<f64>() * std::f64::consts::FRAC_PI_2));
//! assert!(circle.sum().abs().force()? < 1e-15);
//! # Ok::<(), livefusion::Error>(())
//! ```
//!
//! | file | contents |
//! | --- | --- |
//! | `element` | the number as an element, and its parts in closures |
//! | `function` | `abs`, `exp`, `ln`, `sqrt`, ... |
//! | `operator` | `+ - * /` of expressions |
//! | `array` | the same, of arrays |
//! | `fft` | `fft`, `ifft`, `rfft`, `irfft`, also of segments (feature `fft`) |
//! | `transform`, `stretch` | the external functions of the transforms; their segments, divided among threads |

mod array;
mod element;
#[cfg(feature = "fft")]
mod fft;
mod function;
mod operator;
#[cfg(feature = "fft")]
mod stretch;
#[cfg(feature = "fft")]
mod transform;

pub use element::ComplexExp;
pub use num_complex::Complex;
