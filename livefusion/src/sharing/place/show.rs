//! Placed bodies as text: nested lets.

use super::{OUTER, RegionId, RegionItem, TermPlacement, place};
use crate::ast::{Body, Term, TermId};
use std::fmt::{self, Write};

/// Formats the body as nested lets, each term where it is computed, or the error if placement
/// fails.
impl fmt::Display for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let placed = match place(self) {
            Ok(placed) => placed,
            Err(why) => return writeln!(f, "{why}"),
        };
        let params = self.params.iter().enumerate();
        let params: Vec<String> = params.map(|(i, t)| format!("x{i}: {t}")).collect();
        writeln!(f, "\\{} ->", params.join(", "))?;
        let mut lets = String::new();
        show_region(&placed.body, &placed.placement, OUTER, 1, &mut lets);
        f.write_str(&lets)?;
        let results = placed.results.iter();
        let results: Vec<String> = results.map(|r| operand(&placed.body, *r)).collect();
        writeln!(f, "  in {}", results.join(", "))
    }
}

fn operand(body: &Body, t: TermId) -> String {
    match &body.terms[t.index()].term {
        Term::Param(k) => format!("x{k}"),
        Term::Lit(c) => c.bare(),
        Term::LoopVar(l, k) => format!("s{l}.{k}"),
        Term::LoopResult(l, k) => format!("loop{l}.{k}"),
        _ => format!("t{}", t.0),
    }
}

fn show_region(body: &Body, p: &TermPlacement, region: RegionId, indent: usize, out: &mut String) {
    let pad = "  ".repeat(indent);
    for item in &p.regions[region.0 as usize].items {
        match item {
            RegionItem::Loop(l) => {
                let scalar_loop = &body.loops[*l as usize];
                let start: Vec<_> = scalar_loop
                    .start
                    .iter()
                    .map(|t| operand(body, *t))
                    .collect();
                let _ = writeln!(
                    out,
                    "{pad}let loop{l} = while s{l} = ({})",
                    start.join(", ")
                );
                if let Some((test, step)) = p.inside_loop(*l, region) {
                    let _ = writeln!(out, "{pad}  test");
                    show_region(body, p, test, indent + 2, out);
                    let _ = writeln!(out, "{pad}    in {}", operand(body, scalar_loop.test));
                    let _ = writeln!(out, "{pad}  step");
                    show_region(body, p, step, indent + 2, out);
                    let next: Vec<_> = scalar_loop.next.iter().map(|t| operand(body, *t)).collect();
                    let _ = writeln!(out, "{pad}    in {}", next.join(", "));
                }
            }
            RegionItem::Term(t) => show_term(body, p, *t, region, indent, out),
        }
    }
}

fn show_term(
    body: &Body,
    p: &TermPlacement,
    t: TermId,
    region: RegionId,
    indent: usize,
    out: &mut String,
) {
    let pad = "  ".repeat(indent);
    let name = format!("t{}", t.0);
    match &body.terms[t.index()].term {
        Term::Op(op, args) => {
            let args: Vec<_> = args.iter().map(|a| operand(body, *a)).collect();
            let _ = writeln!(out, "{pad}let {name} = {} {}", op.name(), args.join(" "));
        }
        Term::Flat(args) => {
            let args: Vec<_> = args.iter().map(|a| operand(body, *a)).collect();
            let _ = writeln!(out, "{pad}let {name} = flat {}", args.join(" "));
        }
        Term::Assert(assert, args) => {
            let args: Vec<_> = args.iter().map(|a| operand(body, *a)).collect();
            let (assert, args) = (assert.name(), args.join(" "));
            let _ = writeln!(out, "{pad}let {name} = assert {assert} {args}");
        }
        Term::Scalar { capture, field } => {
            let _ = writeln!(out, "{pad}let {name} = capture {capture}.{field}");
        }
        Term::At {
            capture,
            field,
            index,
            ..
        } => {
            let _ = writeln!(
                out,
                "{pad}let {name} = at {capture}.{field} {}",
                operand(body, *index)
            );
        }
        Term::Cond(c, ..) => show_cond(body, p, (t, region), *c, indent, out),
        Term::Param(_) | Term::Lit(_) | Term::LoopVar(..) | Term::LoopResult(..) => {}
    }
}

fn show_cond(
    body: &Body,
    p: &TermPlacement,
    (t, region): (TermId, RegionId),
    test: TermId,
    indent: usize,
    out: &mut String,
) {
    let pad = "  ".repeat(indent);
    let fields = p.fields_of(t, region);
    let names: Vec<String> = fields.iter().map(|t| format!("t{}", t.0)).collect();
    let arm = |pick: fn(&Term) -> Option<TermId>| -> String {
        let values = fields
            .iter()
            .filter_map(|t| pick(&body.terms[t.index()].term));
        values
            .map(|t| operand(body, t))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let then_values = arm(|t| {
        if let Term::Cond(_, a, _) = t {
            Some(*a)
        } else {
            None
        }
    });
    let else_values = arm(|t| {
        if let Term::Cond(_, _, b) = t {
            Some(*b)
        } else {
            None
        }
    });
    let _ = writeln!(
        out,
        "{pad}let {} = if {}",
        names.join(", "),
        operand(body, test)
    );
    if let Some((then, other)) = p.arms(t, region) {
        let _ = writeln!(out, "{pad}  then");
        show_region(body, p, then, indent + 2, out);
        let _ = writeln!(out, "{pad}    in {then_values}");
        let _ = writeln!(out, "{pad}  else");
        show_region(body, p, other, indent + 2, out);
        let _ = writeln!(out, "{pad}    in {else_values}");
    }
}
