//! SVG text: renders a layout with text, colours and a legend.

use super::layout::{self, Curve, Drawing, Rect};
use super::{LineStyle, NodeStyle, Picture, PictureNode};
use std::fmt::Write;

const FONT: &str = "system-ui, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif";
const NAME: f64 = 13.0;
const DETAIL: f64 = 10.5;
const SMALL: f64 = 11.5;
const ROW: f64 = 20.0;
const MARGIN: f64 = 24.0;

const STYLES: [LineStyle; 4] = [
    LineStyle::Fused,
    LineStyle::Input,
    LineStyle::Free,
    LineStyle::Memory,
];

/// Renders the picture as SVG.
pub(crate) fn svg(p: &Picture) -> String {
    let laid_out = layout::layout(&graph(p));
    let too_large = laid_out.is_none();
    let drawing = laid_out.unwrap_or_default();
    let mut body = String::new();
    text(
        &mut body,
        (MARGIN, MARGIN + 4.0),
        15.0,
        "#1f2933",
        "bold",
        &p.title,
    );
    let top = MARGIN + 8.0;
    let mut rest = String::new();
    let mut size = (drawing.width, top + drawing.height);
    if too_large {
        let note = format!("too large to draw: {} nodes", p.nodes.len());
        text(
            &mut rest,
            (MARGIN, size.1 + ROW),
            SMALL,
            "#52606d",
            "normal",
            &note,
        );
        size.1 += 2.0 * ROW;
    } else {
        size = legend(&mut rest, p, size);
    }
    size.0 = size.0.max(width(&p.title, 15.0) + 2.0 * MARGIN);
    let left = number((size.0 - drawing.width) / 2.0);
    let _ = writeln!(body, "<g transform=\"translate({left} {})\">", number(top));
    draw(&mut body, p, &drawing);
    body.push_str("</g>\n");
    body.push_str(&rest);
    let (w, h) = (number(size.0), number(size.1));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
         font-family=\"{FONT}\">\n{}<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{body}</svg>\n",
        markers()
    )
}

fn graph(p: &Picture) -> layout::LayoutGraph {
    let node =
        |n: &PictureNode| width(&n.name, NAME).max(width(&n.detail, DETAIL)).max(36.0) + 20.0;
    let gutter = |lines: &Vec<String>| {
        let widths = lines.iter().map(|l| width(l, SMALL));
        widths.fold(0.0, f64::max) + 12.0
    };
    let n = p.nodes.len();
    let known = p.lines.iter().filter(|l| l.from < n && l.to < n);
    layout::LayoutGraph {
        widths: p.nodes.iter().map(node).collect(),
        boxed: p
            .nodes
            .iter()
            .map(|n| n.boxed.filter(|b| *b < p.boxes.len()))
            .collect(),
        boxes: p.boxes.iter().map(gutter).collect(),
        edges: known.map(|l| (l.from, l.to, l.style as u8)).collect(),
    }
}

fn draw(out: &mut String, p: &Picture, drawing: &Drawing) {
    for r in drawing.boxes.iter().flatten() {
        let stroke = "stroke=\"#9fb3c8\" stroke-width=\"1.2\"";
        rect(out, *r, 12.0, &format!("fill=\"#f0f4f8\" {stroke}"));
    }
    for c in &drawing.curves {
        curve(out, c);
    }
    for (lines, r) in p.boxes.iter().zip(&drawing.boxes) {
        let Some(r) = r else { continue };
        for (at, line) in lines.iter().enumerate() {
            let (weight, down) = if at == 0 {
                ("bold", 19.0)
            } else {
                ("normal", 22.0)
            };
            let y = r.y + down + 15.0 * at as f64;
            text(out, (r.x + 14.0, y), SMALL, "#486581", weight, line);
        }
    }
    for (node, r) in p.nodes.iter().zip(&drawing.nodes) {
        draw_node(out, node, *r);
    }
    let labels = labels(p);
    let number_of = |line: usize| {
        let label = p.lines.get(line)?.label.as_deref()?;
        labels.iter().position(|l| *l == label)
    };
    for c in &drawing.curves {
        if let Some(n) = c.ends.and_then(number_of) {
            badge(out, (c.to.0, c.to.1 - 17.0), n + 1);
        }
    }
}

/// The distinct labels of lines, numbered from 1 by position.
fn labels(p: &Picture) -> Vec<&str> {
    let mut labels: Vec<&str> = Vec::new();
    for label in p.lines.iter().filter_map(|l| l.label.as_deref()) {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    labels
}

fn draw_node(out: &mut String, node: &PictureNode, r: Rect) {
    let (fill, dashes) = match node.style {
        NodeStyle::Computed => ("#ffffff", ""),
        NodeStyle::Input => ("#e6f0e2", ""),
        NodeStyle::Free => ("#ffffff", " stroke-dasharray=\"4 3\""),
    };
    let (stroke, wide) = match (node.is_result, node.style) {
        (true, _) => ("#1d5fa8", 2.6),
        (false, NodeStyle::Input) => ("#5b7f5b", 1.2),
        (false, _) => ("#627d98", 1.2),
    };
    let style = format!("fill=\"{fill}\" stroke=\"{stroke}\" stroke-width=\"{wide}\"{dashes}");
    rect(out, r, 7.0, &style);
    let middle = r.x + r.w / 2.0;
    centred(
        out,
        (middle, r.y + 19.0),
        NAME,
        "#102a43",
        "600",
        &node.name,
    );
    centred(
        out,
        (middle, r.y + 34.0),
        DETAIL,
        "#627d98",
        "normal",
        &node.detail,
    );
}

fn colour(style: LineStyle) -> &'static str {
    match style {
        LineStyle::Fused => "#334e68",
        LineStyle::Input => "#5b7f5b",
        LineStyle::Free => "#829ab1",
        LineStyle::Memory => "#c2571a",
    }
}

fn stroke(style: LineStyle) -> String {
    let (wide, dashes) = match style {
        LineStyle::Fused | LineStyle::Input => (1.4, ""),
        LineStyle::Free => (1.4, " stroke-dasharray=\"5 3\""),
        LineStyle::Memory => (2.6, ""),
    };
    let colour = colour(style);
    format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"{wide}\"{dashes}")
}

fn curve(out: &mut String, c: &Curve) {
    let Some(style) = STYLES.into_iter().find(|s| *s as u8 == c.style) else {
        return;
    };
    // The line ends at the point of its arrow.
    let to = (
        c.to.0,
        if c.ends.is_some() {
            c.to.1 - 1.0
        } else {
            c.to.1
        },
    );
    let (x0, y0, x1, y1) = (
        number(c.from.0),
        number(c.from.1),
        number(to.0),
        number(to.1),
    );
    let path = if (c.from.0 - to.0).abs() < 0.05 {
        format!("M{x0} {y0}V{y1}")
    } else {
        let middle = number((c.from.1 + to.1) / 2.0);
        format!("M{x0} {y0}C{x0} {middle} {x1} {middle} {x1} {y1}")
    };
    let arrow = match c.ends {
        Some(_) => format!(" marker-end=\"url(#arrow{})\"", c.style),
        None => String::new(),
    };
    let _ = writeln!(out, "<path d=\"{path}\" {}{arrow}/>", stroke(style));
}

fn markers() -> String {
    let mut out = String::from("<defs>\n");
    for style in STYLES {
        let _ = writeln!(
            out,
            "<marker id=\"arrow{}\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"8\" \
             markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">\
             <path d=\"M0 0.5L8 4L0 7.5z\" fill=\"{}\"/></marker>",
            style as u8,
            colour(style)
        );
    }
    out.push_str("</defs>\n");
    out
}

/// Draws a legend of the occurring line styles and labels. Returns the new size of the picture.
fn legend(out: &mut String, p: &Picture, (mut w, mut h): (f64, f64)) -> (f64, f64) {
    let mut x = MARGIN;
    for style in STYLES {
        if !p.lines.iter().any(|l| l.style == style) {
            continue;
        }
        let meaning = match style {
            LineStyle::Fused => "fused, in registers",
            LineStyle::Input => "read from memory",
            LineStyle::Free => "computed where it is used",
            LineStyle::Memory => "through memory, from loop to loop",
        };
        let (from, to) = (number(x), number(x + 26.0));
        let _ = writeln!(
            out,
            "<path d=\"M{from} {y}H{to}\" {}/>",
            stroke(style),
            y = number(h - 4.0)
        );
        text(out, (x + 32.0, h), SMALL, "#52606d", "normal", meaning);
        x += 32.0 + width(meaning, SMALL) + 18.0;
    }
    if p.nodes.iter().any(|n| n.is_result) {
        let swatch = Rect {
            x,
            y: h - 11.0,
            w: 24.0,
            h: 14.0,
        };
        let style = "fill=\"#ffffff\" stroke=\"#1d5fa8\" stroke-width=\"2.6\"";
        rect(out, swatch, 4.0, style);
        text(out, (x + 32.0, h), SMALL, "#52606d", "normal", "result");
        x += 32.0 + width("result", SMALL) + 18.0;
    }
    w = w.max(x + MARGIN);
    for (at, label) in labels(p).into_iter().enumerate() {
        h += ROW;
        badge(out, (MARGIN + 8.0, h - 4.0), at + 1);
        text(out, (MARGIN + 24.0, h), SMALL, "#52606d", "normal", label);
        w = w.max(MARGIN + 24.0 + width(label, SMALL) + MARGIN);
    }
    (w, h + MARGIN)
}

fn badge(out: &mut String, (x, y): (f64, f64), n: usize) {
    let _ = writeln!(
        out,
        "<circle cx=\"{}\" cy=\"{}\" r=\"8\" fill=\"#ffffff\" stroke=\"#c2571a\"/>",
        number(x),
        number(y)
    );
    centred(out, (x, y + 3.5), 10.0, "#c2571a", "bold", &n.to_string());
}

fn rect(out: &mut String, r: Rect, round: f64, style: &str) {
    let _ = writeln!(
        out,
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\" {style}/>",
        number(r.x),
        number(r.y),
        number(r.w),
        number(r.h),
        number(round)
    );
}

fn centred(out: &mut String, at: (f64, f64), size: f64, colour: &str, weight: &str, s: &str) {
    anchored(out, at, size, ("middle", colour, weight), s);
}

fn text(out: &mut String, at: (f64, f64), size: f64, colour: &str, weight: &str, s: &str) {
    anchored(out, at, size, ("start", colour, weight), s);
}

fn anchored(
    out: &mut String,
    (x, y): (f64, f64),
    size: f64,
    (anchor, colour, weight): (&str, &str, &str),
    s: &str,
) {
    let (x, y, s) = (number(x), number(y), escaped(s));
    let _ = writeln!(
        out,
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" font-weight=\"{weight}\" fill=\"{colour}\" \
         text-anchor=\"{anchor}\">{s}</text>"
    );
}

/// Text in XML. Characters that XML does not allow become spaces.
fn escaped(s: &str) -> String {
    let mut out = String::with_capacity(s.len());
    for c in s.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// A number with one decimal, so that the text is equal on every machine.
fn number(x: f64) -> String {
    let s = format!("{x:.1}");
    match s.strip_suffix(".0") {
        Some("-0") => "0".to_string(),
        Some(whole) => whole.to_string(),
        None => s,
    }
}

/// The maximal width of a text, in the widest of the fonts.
fn width(s: &str, size: f64) -> f64 {
    let em = |c: char| match c {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | '.' | ',' | ':' | ';' | '\'' | '|' | ' ' | '('
        | ')' | '[' | ']' | '/' | '!' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 1.0,
        'A'..='Z' => 0.74,
        c if c.is_ascii() => 0.65,
        _ => 1.05,
    };
    s.chars().map(em).sum::<f64>() * size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        let text = "a<b> & \"c\"\n\u{1}\u{ffff}é";
        assert_eq!(escaped(text), "a&lt;b&gt; &amp; &quot;c&quot;   é");
    }

    #[test]
    fn numbers_are_short() {
        let shown = [0.0, -0.04, 12.0, 12.34, -7.96].map(number);
        assert_eq!(shown, ["0", "0", "12", "12.3", "-8"]);
    }
}
