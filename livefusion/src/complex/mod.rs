//! Complex numbers as elements: [`Complex`] of `f32` or `f64`, a pair of columns. Operators and functions fuse as those of floats do.
//! (Feature `complex`; `fft` has the transforms too.)
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
//! | file | room for |
//! | --- | --- |
//! | `element` | the number as an element, and its parts in closures |
//! | `function` | `abs`, `exp`, `ln`, `sqrt`, ... |
//! | `operator` | `+ - * /` of expressions |
//! | `array` | the same, of arrays |
//! | `fft` | `fft`, `ifft`, `rfft`, `irfft`, also of segments (feature `fft`) |
//! | `transform`, `stretch` | the functions that these call; the segments that these make, for several threads |

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
