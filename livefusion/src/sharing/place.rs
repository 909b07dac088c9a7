//! Where each term of a body is let-bound: prune, float, bind (seeds 003 and 000).
//!
//! Hash-consing has pruned already: a shared subterm is one term. *Floating* walks the terms from users
//! to operands and meets, for each term, the regions of all its uses: the lowest region that dominates
//! them is where it is bound. Regions are the body itself, the two arms of every condition, and the test
//! and step of every scalar loop. A term that only one arm uses stays in that arm, so it is neither
//! computed nor traps on the other. *Binding* is the order of terms within their regions.

use crate::ast::{Body, Term, TermId};
use crate::error::{Error, ErrorKind};
use std::fmt::Write;

/// A region of a body, by position in [`Placement::regions`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RegionId(pub u32);

/// The body itself.
pub const OUTER: RegionId = RegionId(0);

/// A region: where it is and what it binds.
#[derive(Clone, Debug)]
pub struct Region {
    /// The region around it; `OUTER` is its own parent.
    pub parent: RegionId,
    /// Nesting depth.
    pub depth: u32,
    /// Items bound here, in order.
    pub items: Vec<Item>,
}

/// Something bound in a region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item {
    /// A term.
    Term(TermId),
    /// A scalar loop.
    Loop(u32),
}

/// Where everything is bound.
#[derive(Clone, Debug)]
pub struct Placement {
    /// Regions; the first is the body.
    pub regions: Vec<Region>,
    /// Region of each used term; none for terms without a use.
    pub region_of: Vec<Option<RegionId>>,
    /// Arms of each condition: (then, else), by term.
    pub arms: Vec<Option<(RegionId, RegionId)>>,
    /// Regions of each scalar loop: (test, step).
    pub loops: Vec<Option<(RegionId, RegionId)>>,
}

/// How deep conditions and scalar loops may nest: below what the Loop language allows, which folds lift by two.
const MAX_DEPTH: u32 = 90;

/// Places the terms that the body's results need.
///
/// Errors: a loop variable used outside of its loop (a leaked expression); conditions nested deeper
/// than 90.
pub fn place(body: &Body) -> Result<Placement, ErrorKind> {
    place_results(body, &body.results)
}

/// Places the terms that some results need.
///
/// Errors: as [`place`].
pub fn place_results(body: &Body, results: &[TermId]) -> Result<Placement, ErrorKind> {
    let mut p = Placer {
        placement: Placement {
            regions: vec![Region { parent: OUTER, depth: 0, items: vec![] }],
            region_of: vec![None; body.terms.len()],
            arms: vec![None; body.terms.len()],
            loops: vec![None; body.loops.len()],
        },
        loop_region: vec![None; body.loops.len()],
        first_result: first_results(body),
    };
    for r in results {
        p.used(*r, OUTER);
    }
    for i in (0..body.terms.len()).rev() {
        if let Some(region) = p.placement.region_of[i] {
            p.float(body, TermId(i as u32), region);
            if p.placement.regions.len() > 1
                && p.placement.regions.last().is_some_and(|r| r.depth > MAX_DEPTH)
            {
                return Err(ErrorKind::Malformed {
                    expected: format!("conditions nested at most {MAX_DEPTH} deep"),
                    got: "deeper ones".into(),
                });
            }
        }
    }
    p.bind(body)?;
    Ok(p.placement)
}

/// The lowest result term of each loop: floated last of them.
fn first_results(body: &Body) -> Vec<Option<TermId>> {
    let mut first = vec![None; body.loops.len()];
    for (i, t) in body.terms.iter().enumerate() {
        if let Term::LoopResult(l, _) = t.term {
            first[l as usize].get_or_insert(TermId(i as u32));
        }
    }
    first
}

struct Placer {
    placement: Placement,
    loop_region: Vec<Option<RegionId>>,
    first_result: Vec<Option<TermId>>,
}

impl Placer {
    fn region(&mut self, parent: RegionId) -> RegionId {
        let depth = self.placement.regions[parent.0 as usize].depth + 1;
        self.placement.regions.push(Region { parent, depth, items: vec![] });
        RegionId(self.placement.regions.len() as u32 - 1)
    }

    /// The lowest region around both.
    fn meet(&self, mut a: RegionId, mut b: RegionId) -> RegionId {
        let region = |r: RegionId| &self.placement.regions[r.0 as usize];
        while a != b {
            if region(a).depth >= region(b).depth {
                a = region(a).parent;
            } else {
                b = region(b).parent;
            }
        }
        a
    }

    fn used(&mut self, t: TermId, at: RegionId) {
        let met = match self.placement.region_of[t.index()] {
            Some(r) => self.meet(r, at),
            None => at,
        };
        self.placement.region_of[t.index()] = Some(met);
    }

    /// Passes a term's region on to its operands.
    fn float(&mut self, body: &Body, t: TermId, region: RegionId) {
        match &body.terms[t.index()].term {
            Term::Param(_) | Term::Lit(_) | Term::Scalar { .. } | Term::LoopVar(..) => {}
            Term::Op(_, args) => args.iter().for_each(|a| self.used(*a, region)),
            Term::At { index, .. } => self.used(*index, region),
            Term::Cond(c, a, b) => {
                let arms = match self.arms_of_next(body, t, *c, region) {
                    Some(arms) => arms,
                    None => (self.region(region), self.region(region)),
                };
                self.placement.arms[t.index()] = Some(arms);
                self.used(*c, region);
                self.used(*a, arms.0);
                self.used(*b, arms.1);
            }
            Term::LoopResult(l, _) => {
                let l = *l as usize;
                let at = match self.loop_region[l] {
                    Some(r) => self.meet(r, region),
                    None => region,
                };
                self.loop_region[l] = Some(at);
            }
        }
        // Once its first result has floated, all of a loop's uses are known.
        if let Term::LoopResult(l, _) = body.terms[t.index()].term {
            self.float_loop_if_ready(body, l, t);
        }
    }

    /// The fields of one condition on tuples are neighbouring terms with one test: they share their
    /// arms, so that what the fields have in common stays in the arm.
    fn arms_of_next(
        &self,
        body: &Body,
        t: TermId,
        test: TermId,
        region: RegionId,
    ) -> Option<(RegionId, RegionId)> {
        for next in t.index() + 1..body.terms.len() {
            match body.terms[next].term {
                Term::Cond(c, ..) if c == test => {}
                _ => return None,
            }
            match self.placement.region_of[next] {
                Some(r) if r == region => return self.placement.arms[next],
                Some(_) => return None,
                None => {}
            }
        }
        None
    }

    fn float_loop_if_ready(&mut self, body: &Body, l: u32, t: TermId) {
        let i = l as usize;
        let lowest_used = self.first_result[i].is_some_and(|first| {
            (first.index()..t.index()).all(|k| {
                !matches!(body.terms[k].term, Term::LoopResult(m, _) if m == l)
                    || self.placement.region_of[k].is_none()
            })
        });
        let Some(region) = self.loop_region[i].filter(|_| lowest_used) else { return };
        // The step runs after the test of the same iteration and sees what it has bound.
        let test = self.region(region);
        let inner = (test, self.region(test));
        self.placement.loops[i] = Some(inner);
        let scalar_loop = &body.loops[i];
        scalar_loop.start.iter().for_each(|s| self.used(*s, region));
        self.used(scalar_loop.test, inner.0);
        scalar_loop.next.iter().for_each(|n| self.used(*n, inner.1));
    }

    /// Lists each region's items in dependency order.
    fn bind(&mut self, body: &Body) -> Result<(), ErrorKind> {
        let mut bound = vec![false; body.loops.len()];
        for (i, data) in body.terms.iter().enumerate() {
            let Some(region) = self.placement.region_of[i] else { continue };
            let item = match data.term {
                Term::LoopVar(l, _) => {
                    self.check_inside(l, region)?;
                    continue;
                }
                Term::Param(_) | Term::Lit(_) => continue,
                Term::LoopResult(l, _) => {
                    if std::mem::replace(&mut bound[l as usize], true) {
                        continue;
                    }
                    let at = self.loop_region[l as usize].unwrap_or(region);
                    self.placement.regions[at.0 as usize].items.push(Item::Loop(l));
                    continue;
                }
                Term::Cond(..) if self.is_later_field(i) => continue,
                _ => Item::Term(TermId(i as u32)),
            };
            self.placement.regions[region.0 as usize].items.push(item);
        }
        Ok(())
    }

    /// Whether an earlier term binds the fields of this condition along with its own.
    fn is_later_field(&self, i: usize) -> bool {
        let arms = self.placement.arms[i];
        (0..i)
            .rev()
            .take_while(|k| self.placement.region_of[*k].is_none() || self.placement.arms[*k].is_some())
            .any(|k| self.placement.region_of[k].is_some() && self.placement.arms[k] == arms)
    }

    fn check_inside(&self, l: u32, region: RegionId) -> Result<(), ErrorKind> {
        let Some((test, _)) = self.placement.loops[l as usize] else {
            return Err(ErrorKind::LeakedExp);
        };
        let mut at = region;
        loop {
            if at == test {
                return Ok(());
            }
            if at == OUTER {
                return Err(ErrorKind::LeakedExp);
            }
            at = self.placement.regions[at.0 as usize].parent;
        }
    }
}

impl Placement {
    /// The fields of a condition that are bound together, from the first on.
    pub fn fields_of(&self, first: TermId) -> Vec<TermId> {
        let arms = self.arms[first.index()];
        (first.index()..self.arms.len())
            .take_while(|k| self.region_of[*k].is_none() || self.arms[*k] == arms)
            .filter(|k| self.region_of[*k].is_some())
            .map(|k| TermId(k as u32))
            .collect()
    }
}

/// The body as nested lets, for people and golden tests.
pub fn show(body: &Body) -> Result<String, Error> {
    let placement = place(body)
        .map_err(|kind| Error { combinator: "show", location: None, kind })?;
    let mut out = String::new();
    let params: Vec<String> = body.params.iter().enumerate().map(|(i, t)| format!("x{i}: {t}")).collect();
    let _ = writeln!(out, "\\{} ->", params.join(", "));
    show_region(body, &placement, OUTER, 1, &mut out);
    let results: Vec<String> = body.results.iter().map(|r| operand(body, *r)).collect();
    let _ = writeln!(out, "  in {}", results.join(", "));
    Ok(out)
}

fn operand(body: &Body, t: TermId) -> String {
    match &body.terms[t.index()].term {
        Term::Param(k) => format!("x{k}"),
        Term::Lit(c) => show_const(*c),
        Term::LoopVar(l, k) => format!("s{l}.{k}"),
        Term::LoopResult(l, k) => format!("loop{l}.{k}"),
        _ => format!("t{}", t.0),
    }
}

fn show_const(c: loop_lang::types::Const) -> String {
    use loop_lang::types::Ty;
    match c.ty {
        Ty::Bool => (c.bits != 0).to_string(),
        Ty::F64 => format!("{:?}", f64::from_bits(c.bits)),
        Ty::F32 => format!("{:?}", f32::from_bits(c.bits as u32)),
        t if t.is_signed() => (c.bits as i64).to_string(),
        _ => c.bits.to_string(),
    }
}

fn show_region(body: &Body, p: &Placement, region: RegionId, indent: usize, out: &mut String) {
    let pad = "  ".repeat(indent);
    for item in &p.regions[region.0 as usize].items {
        match item {
            Item::Loop(l) => {
                let scalar_loop = &body.loops[*l as usize];
                let start: Vec<_> = scalar_loop.start.iter().map(|t| operand(body, *t)).collect();
                let _ = writeln!(out, "{pad}let loop{l} = while s{l} = ({})", start.join(", "));
                if let Some((test, step)) = p.loops[*l as usize] {
                    let _ = writeln!(out, "{pad}  test");
                    show_region(body, p, test, indent + 2, out);
                    let _ = writeln!(out, "{pad}    in {}", operand(body, scalar_loop.test));
                    let _ = writeln!(out, "{pad}  step");
                    show_region(body, p, step, indent + 2, out);
                    let next: Vec<_> = scalar_loop.next.iter().map(|t| operand(body, *t)).collect();
                    let _ = writeln!(out, "{pad}    in {}", next.join(", "));
                }
            }
            Item::Term(t) => show_term(body, p, *t, indent, out),
        }
    }
}

fn show_term(body: &Body, p: &Placement, t: TermId, indent: usize, out: &mut String) {
    let pad = "  ".repeat(indent);
    let name = format!("t{}", t.0);
    match &body.terms[t.index()].term {
        Term::Op(op, args) => {
            let args: Vec<_> = args.iter().map(|a| operand(body, *a)).collect();
            let _ = writeln!(out, "{pad}let {name} = {} {}", op.name(), args.join(" "));
        }
        Term::Scalar { capture, field } => {
            let _ = writeln!(out, "{pad}let {name} = capture {capture}.{field}");
        }
        Term::At { capture, field, index, .. } => {
            let _ = writeln!(out, "{pad}let {name} = at {capture}.{field} {}", operand(body, *index));
        }
        Term::Cond(c, ..) => show_cond(body, p, t, *c, indent, out),
        Term::Param(_) | Term::Lit(_) | Term::LoopVar(..) | Term::LoopResult(..) => {}
    }
}

fn show_cond(body: &Body, p: &Placement, t: TermId, test: TermId, indent: usize, out: &mut String) {
    let pad = "  ".repeat(indent);
    let fields = p.fields_of(t);
    let names: Vec<String> = fields.iter().map(|t| format!("t{}", t.0)).collect();
    let arm = |pick: fn(&Term) -> Option<TermId>| -> String {
        let values = fields.iter().filter_map(|t| pick(&body.terms[t.index()].term));
        values.map(|t| operand(body, t)).collect::<Vec<_>>().join(", ")
    };
    let then_values = arm(|t| if let Term::Cond(_, a, _) = t { Some(*a) } else { None });
    let else_values = arm(|t| if let Term::Cond(_, _, b) = t { Some(*b) } else { None });
    let _ = writeln!(out, "{pad}let {} = if {}", names.join(", "), operand(body, test));
    if let Some((then, other)) = p.arms[t.index()] {
        let _ = writeln!(out, "{pad}  then");
        show_region(body, p, then, indent + 2, out);
        let _ = writeln!(out, "{pad}    in {then_values}");
        let _ = writeln!(out, "{pad}  else");
        show_region(body, p, other, indent + 2, out);
        let _ = writeln!(out, "{pad}    in {else_values}");
    }
}
