//! Pictures of numbers in SVG and PNG: lines, points, histograms and matrices.
//!
//! The shell `lf` draws with this crate.
//!
//! ```
//! use livefusion_plot::{Chart, Format, Picture};
//! let (low, high) = (vec![-3.0, -1.5, 2.0], vec![1.0, 4.5, 9.0]);
//! let picture = Picture::of([Chart::Line(low), Chart::Line(high)])
//!     .title("Temperatures")
//!     .x("month")
//!     .y("°C")
//!     .legend(["low", "high"]);
//! let svg = String::from_utf8(picture.file(Format::Svg)?).unwrap();
//! assert!(svg.contains("Temperatures") && svg.matches("stroke-width=\"2\"").count() == 2);
//! # Ok::<(), livefusion_plot::Error>(())
//! ```

mod axis;
mod bars;
mod chart;
mod font;
mod picture;
mod pixels;
mod thin;

pub use bars::bars;
pub use chart::Chart;
pub use picture::{Format, Picture};

/// Explains a failure to draw a picture.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("expected {expected}, got {got}")]
pub struct Error {
    /// The expected value.
    pub expected: String,
    /// The actual value.
    pub got: String,
}

impl Error {
    fn new(expected: impl Into<String>, got: impl Into<String>) -> Error {
        let (expected, got) = (expected.into(), got.into());
        Error { expected, got }
    }
}
