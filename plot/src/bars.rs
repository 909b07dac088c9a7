//! Bar pictures made of characters.

/// The width and height of a picture in characters.
const SIZE: (usize, usize) = (64, 12);

/// Draws numbers as bars of characters.
///
/// If there are more numbers than columns, a bar is the mean of neighbours. The picture shows the
/// least and the largest number. A NaN has no bar.
///
/// ```
/// let picture = livefusion_plot::bars(&[0.0, 1.0, 2.0]);
/// assert_eq!(picture.lines().count(), 12);
/// assert!(picture.lines().next().unwrap().ends_with("█ 2"));
/// ```
pub fn bars(numbers: &[f64]) -> String {
    let (width, height) = SIZE;
    let size = numbers.len().div_ceil(width).max(1);
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let columns: Vec<f64> = numbers.chunks(size).map(mean).collect();
    let finite = || columns.iter().copied().filter(|x| x.is_finite());
    let (low, high) = (
        finite().fold(f64::INFINITY, f64::min),
        finite().fold(f64::NEG_INFINITY, f64::max),
    );
    if low > high {
        return "nothing to plot\n".into();
    }
    // If all numbers are equal, the bars are full.
    let (base, range) = match high > low {
        true => (low, high - low),
        false => (low - 1.0, 1.0),
    };
    let eighths = |x: f64| ((x - base) / range * (height * 8 - 1) as f64).round() as usize + 1;
    let mut picture = String::new();
    for row in (0..height).rev() {
        for x in &columns {
            let full = if x.is_finite() { eighths(*x) } else { 0 };
            let level = full.saturating_sub(row * 8).min(8);
            picture.push([' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'][level]);
        }
        if row == height - 1 {
            picture += &format!(" {high}");
        } else if row == 0 {
            picture += &format!(" {low}");
        }
        picture.push('\n');
    }
    picture
}
