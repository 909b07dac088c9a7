//! Pictures of any input: drawn or refused, with all texts inside and apart.

use livefusion_plot::{Chart, Format, Picture};

#[test]
fn pictures_of_anything_are_drawn_or_refused() {
    let odd = [
        vec![],
        vec![0.0],
        vec![1.0, 1.0 + f64::EPSILON],
        vec![f64::NAN, 1.0, f64::INFINITY, 2.0],
        vec![1e-320, 3e-320],
        vec![f64::MIN, f64::MAX],
        vec![1e15, 1e15 + 0.25],
        (0..10_000).map(f64::from).collect(),
    ];
    for numbers in odd {
        let points: Vec<_> = numbers.iter().map(|x| (*x, -x)).collect();
        let is_refused = numbers.is_empty() || numbers.contains(&f64::MAX);
        for chart in [
            Chart::Line(numbers.clone()),
            Chart::Curve(points.clone()),
            Chart::Histogram(numbers.clone()),
            Chart::Scatter(points),
            Chart::Image(numbers.clone(), 0),
            Chart::Image(numbers.clone(), 1),
            Chart::Image(numbers.clone(), numbers.len()),
            Chart::Image(numbers.clone(), numbers.len() + 1),
        ] {
            for format in [Format::Svg, Format::Png] {
                match Picture::of([chart.clone()]).title("a").file(format) {
                    Ok(file) => assert!(!is_refused && file.len() < 4 << 20),
                    Err(e) => assert!(is_refused, "{e}"),
                }
            }
        }
    }
}

#[test]
fn pictures_of_several_charts_share_axes() {
    let two = || {
        [
            Chart::Line(vec![0.0, 1.0]),
            Chart::Scatter(vec![(5.0, 5.0)]),
        ]
    };
    let svg = svg(&Picture::of(two()));
    assert_eq!((lines(&svg), svg.matches("<circle").count()), (1, 1));
    let wrong = |picture: Picture| picture.file(Format::Svg).unwrap_err().to_string();
    assert_eq!(
        wrong(Picture::of(two()).legend(["a"])),
        "expected a legend of 2, one for each chart, got 1"
    );
    let image = Chart::Image(vec![1.0], 1);
    assert_eq!(
        wrong(Picture::of([Chart::Line(vec![1.0]), image])),
        "expected a matrix by itself, got something beside it"
    );
    let histogram = Chart::Histogram(vec![1.0]);
    assert_eq!(
        wrong(Picture::of([Chart::Line(vec![1.0]), histogram.clone()])),
        "expected histograms beside histograms, got something else"
    );
    assert_eq!(
        wrong(Picture::of([])),
        "expected finite numbers to plot, got none"
    );
    // Two histograms are two outlines.
    let outlines = self::svg(&Picture::of([histogram.clone(), histogram]));
    assert_eq!(lines(&outlines), 2);
}

/// A line has no more points than pixels need, and keeps its peaks.
#[test]
fn pictures_of_many_numbers_keep_peaks() {
    let mut numbers: Vec<f64> = (0..1_000_000).map(|k| f64::from(k % 10)).collect();
    let flat = svg(&Picture::of([Chart::Line(numbers.clone())]));
    numbers[123_456] = 100.0;
    let peak = svg(&Picture::of([Chart::Line(numbers)]));
    for text in [&flat, &peak] {
        assert!(text.len() < 100_000, "{}", text.len());
    }
    assert!(peak.contains("\n100\n") && !flat.contains("\n100\n"));
}

/// Cells of a matrix are squares, for any shape.
#[test]
fn pictures_of_matrices_have_square_cells_and_a_colour_bar() {
    for (rows, columns) in [(2usize, 3usize), (5, 5), (40, 20), (3, 12)] {
        let numbers: Vec<f64> = (0..rows * columns).map(|k| k as f64).collect();
        let svg = svg(&Picture::of([Chart::Image(numbers, columns)])
            .title("m")
            .legend(["K"]));
        let cells: Vec<&str> = svg.lines().filter(|l| l.starts_with("<rect")).collect();
        // The background, the cells, and the bar.
        assert_eq!(cells.len(), 1 + rows * columns + 64, "{rows} x {columns}");
        let side = |line: &str, name: &str| -> f64 { number(line, name).unwrap() };
        for cell in &cells[1..=rows * columns] {
            let (width, height) = (side(cell, "width"), side(cell, "height"));
            assert!((width - height).abs() <= 2.0, "{rows} x {columns}: {cell}");
        }
        assert!(svg.contains("\nK\n") && svg.contains("\nm\n"));
    }
}

/// The number of lines that are not axes.
fn lines(svg: &str) -> usize {
    let elements = svg.lines().filter(|l| l.starts_with("<polyline"));
    elements
        .filter(|l| l.contains("stroke-width=\"2\""))
        .count()
}

fn svg(picture: &Picture) -> String {
    String::from_utf8(picture.file(Format::Svg).unwrap()).unwrap()
}

/// A numeric attribute of an element.
fn number(element: &str, name: &str) -> Option<f64> {
    let (_, rest) = element.split_once(&format!(" {name}=\""))?;
    rest.split_once('"')?.0.parse().ok()
}

/// The left, top, right and bottom of each text, and the text. The assumed width of a letter is
/// three fifths of its height.
fn texts(svg: &str) -> Vec<([f64; 4], String)> {
    let elements = svg.split("<text ").skip(1);
    let of = |element: &str| {
        let (head, rest) = element.split_once('>').unwrap();
        let head = format!(" {head}");
        let text = rest.split_once("</text>").unwrap().0.trim().to_string();
        let [x, y, size] = ["x", "y", "font-size"].map(|name| number(&head, name).unwrap());
        let size = size * 1.24;
        let wide = text.chars().count() as f64 * size * 0.6;
        let left = match () {
            () if head.contains("text-anchor=\"middle\"") => -wide / 2.0,
            () if head.contains("text-anchor=\"end\"") => -wide,
            () => 0.0,
        };
        // The vertical position, by the text's offset.
        let top = match () {
            () if head.contains("dy=\"0.5ex\"") => -size / 2.0,
            () if head.contains("dy=\"0.76em\"") => 0.0,
            () => -size,
        };
        let place = match head.contains("rotate(270") {
            true => [x + top, y - left - wide, x + top + size, y - left],
            false => [x + left, y + top, x + left + wide, y + top + size],
        };
        (place, text)
    };
    elements.map(of).collect()
}

#[test]
fn pictures_have_all_texts_inside_and_apart() {
    let line = |scale: f64| Chart::Line((0..300).map(|k| scale * f64::from(k).sin()).collect());
    let long = "a title, an axis or a chart whose name is longer than any that has room";
    let matrix = |rows: usize, columns: usize| {
        Chart::Image(
            (0..rows * columns).map(|k| k as f64 * 1e-7).collect(),
            columns,
        )
    };
    let far: Vec<_> = (0..9)
        .map(|k| (1e12 + f64::from(k), -1e-12 * f64::from(k)))
        .collect();
    let pictures = [
        Picture::of([line(1.0)])
            .title("Waves")
            .x("time")
            .y("height"),
        Picture::of([line(1e9), line(2e9)])
            .legend(["low", "high"])
            .title(long)
            .x(long)
            .y(long),
        Picture::of((0..20).map(|k| line(f64::from(k)))).legend(vec![long; 20]),
        Picture::of([Chart::Curve(far)]).title("far").x("x").y("y"),
        Picture::of([Chart::Histogram(vec![1.0, 2.0, 2.5])])
            .title("counts")
            .y("n"),
        Picture::of([matrix(10, 10)])
            .title("square")
            .x("column")
            .y("row")
            .legend(["Kelvin"]),
        Picture::of([matrix(2, 1000)])
            .title(long)
            .x(long)
            .y(long)
            .legend([long]),
        Picture::of([matrix(1000, 2)])
            .title(long)
            .x(long)
            .y(long)
            .legend([long]),
    ];
    for (k, picture) in pictures.iter().enumerate() {
        let texts = texts(&svg(picture));
        assert!(texts.len() > 4, "{k}");
        for (i, (a, text)) in texts.iter().enumerate() {
            let [left, top, right, bottom] = *a;
            assert!(
                left >= 0.0 && top >= 0.0 && right <= 800.0 && bottom <= 500.0,
                "{k}: {text} {a:?}"
            );
            for (b, other) in &texts[i + 1..] {
                let is_past = |a: &[f64; 4], b: &[f64; 4]| a[2] <= b[0] + 1.0 || a[3] <= b[1] + 1.0;
                let is_apart = is_past(a, b) || is_past(b, a);
                assert!(is_apart, "{k}: {text} {a:?} and {other} {b:?}");
            }
        }
    }
}
