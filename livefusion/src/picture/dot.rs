//! DOT text for graphviz and similar tools. Loops are clusters.

use super::{LineStyle, NodeStyle, Picture, PictureNode};
use std::fmt::Write;

/// Renders the picture as DOT.
pub(crate) fn dot(p: &Picture) -> String {
    let mut out = String::from("digraph livefusion {\n");
    let _ = writeln!(out, "  label={};", quoted(&p.title));
    out.push_str("  labelloc=t; fontname=Helvetica; bgcolor=white; newrank=true;\n");
    out.push_str(
        "  node [shape=box, style=\"rounded,filled\", fontname=Helvetica, fontsize=12];\n",
    );
    out.push_str("  edge [fontname=Helvetica, fontsize=10];\n");
    let mut in_box: Vec<Vec<usize>> = vec![Vec::new(); p.boxes.len()];
    for (at, n) in p.nodes.iter().enumerate() {
        match n.boxed.and_then(|b| in_box.get_mut(b)) {
            Some(members) => members.push(at),
            None => node(&mut out, "  ", at, n),
        }
    }
    for (at, (lines, members)) in p.boxes.iter().zip(&in_box).enumerate() {
        let _ = writeln!(out, "  subgraph cluster_{at} {{");
        let _ = writeln!(out, "    label={}; labeljust=l;", quoted(&lines.join("\n")));
        out.push_str("    style=\"rounded,filled\"; color=\"#9fb3c8\"; fillcolor=\"#f0f4f8\";\n");
        for member in members {
            node(&mut out, "    ", *member, &p.nodes[*member]);
        }
        out.push_str("  }\n");
    }
    for l in &p.lines {
        let style = match l.style {
            LineStyle::Fused => "style=solid",
            LineStyle::Input => "color=\"#5b7f5b\"",
            LineStyle::Free => "style=dashed, color=\"#777777\"",
            LineStyle::Memory => "style=bold, penwidth=2.5, color=\"#b4501e\"",
        };
        let _ = write!(out, "  n{} -> n{} [{style}", l.from, l.to);
        if let Some(label) = &l.label {
            let _ = write!(out, ", label={}", quoted(label));
        }
        out.push_str("];\n");
    }
    out.push_str("}\n");
    out
}

fn node(out: &mut String, indent: &str, at: usize, n: &PictureNode) {
    let label = quoted(&format!("{}\n{}", n.name, n.detail));
    let style = match n.style {
        NodeStyle::Computed => "fillcolor=white",
        NodeStyle::Input => "fillcolor=\"#e6f0e2\"",
        NodeStyle::Free => "fillcolor=white, style=\"rounded,filled,dashed\"",
    };
    let result = if n.is_result { ", penwidth=2.5" } else { "" };
    let _ = writeln!(out, "{indent}n{at} [label={label}, {style}{result}];");
}

/// A DOT string. Backslashes are escaped, because graphviz would interpret them.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped() {
        assert_eq!(quoted("a \"b\\\"\n\u{1}<c>"), r#""a \"b\\\"\n <c>""#);
    }
}
