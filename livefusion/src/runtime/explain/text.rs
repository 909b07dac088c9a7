//! The report: an [`Explanation`] as text for people.

use super::{
    Bytes, Call, EarlierForce, ExplainedApart, ExplainedArrayLoop, ExplainedBytes,
    ExplainedExternal, ExplainedLoop, ExplainedUpdate, Explanation, Place, Traffic,
};
use crate::fusion::Recomputed;
use crate::loc::Loc;
use loop_lang::Loop;
use loop_lang::ir::{Atom, Part, RateId, RateKind, Var};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::{Display, Formatter, Result};

/// The deepest indented rate.
const DEEPEST: usize = 30;

/// Calls by the rate at which they run; none stands for calls computed once.
type AtRates = FxHashMap<Option<RateId>, Vec<usize>>;

/// Shortens a location: `quickhull/hull.rs:23` is enough to find the line.
pub(super) fn short(loc: Loc) -> String {
    let file = loc.file();
    let is_separator = |c: char| c == '/' || c == '\\';
    let cut = file.rmatch_indices(is_separator).nth(1);
    let tail = cut.map_or(file, |(at, _)| &file[at + 1..]);
    format!("{}:{}", tail.replace('\\', "/"), loc.line())
}

/// Shows `1 loop`, `2 loops`.
pub(super) fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

impl Display for Explanation {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let in_loops = |c: &&Call| matches!(c.place, Place::Loop(_));
        let calls = self.calls.iter().filter(in_loops).count();
        writeln!(
            f,
            "{} on {} for {}",
            count(self.loops.len(), "loop"),
            self.backend,
            count(calls, "combinator")
        )?;
        if let Some(why) = &self.fallback {
            writeln!(f, "  without C, for all loops or some: {why}")?;
        }
        self.show_clustering(f)?;
        writeln!(f, "  {}", Moves(&self.traffic))?;
        writeln!(f, "  unfused: {}", Moves(&self.unfused))?;
        for (at, l) in self.loops.iter().enumerate() {
            self.show_loop(f, at, l)?;
        }
        self.show_rewrites(f)?;
        self.show_hints(f)?;
        self.show_known(f)?;
        self.show_kept(f)?;
        self.show_crossings(f)?;
        self.show_literals(f)?;
        if !self.absent.is_empty() {
            let absent = self.absent.join(", ");
            writeln!(f, "\nscheduled, but in no loop here: {absent}")?;
        }
        self.apart.iter().try_for_each(|one| match one {
            ExplainedApart::Loop(l) => write!(f, "\n{l}"),
            ExplainedApart::External(e) => write!(f, "\n{e}"),
        })
    }
}

impl Display for ExplainedArrayLoop {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let (name, loc) = (self.name, short(self.loc));
        let (when, begin, step) = match self.is_side {
            true => ("a side, runs first if it is chosen", "its test", "the side"),
            false => ("runs first", "its start", "each step"),
        };
        writeln!(f, "{name} at {loc}, {when}:")?;
        for (what, part) in [
            (begin, &self.start),
            ("its captures", &self.captured),
            (step, &self.step),
        ] {
            show_part(f, what, part)?;
        }
        Ok(())
    }
}

impl Display for ExplainedExternal {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let (name, loc, why) = (self.name, short(self.loc), &self.why);
        let bits = match self.is_reproducible {
            true => "",
            false => ", whose bits may differ from call to call",
        };
        writeln!(f, "{name} at {loc}{bits}, runs first, since {why}:")?;
        show_part(f, "its inputs", &self.inputs)
    }
}

/// Shows a part's program, if it does anything.
fn show_part(f: &mut Formatter<'_>, what: &str, part: &Explanation) -> Result {
    if part.loops.is_empty() && part.apart.is_empty() {
        return Ok(());
    }
    writeln!(f, "  {what}:")?;
    for line in part.to_string().lines() {
        let indent = if line.is_empty() { 0 } else { 4 };
        writeln!(f, "{:indent$}{line}", "")?;
    }
    Ok(())
}

/// The traffic of a loop or program.
struct Moves<'a>(&'a Traffic);

impl Display for Moves<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "reads {}, writes {}", self.0.reads, self.0.writes)
    }
}

impl Explanation {
    fn show_clustering(&self, f: &mut Formatter<'_>) -> Result {
        let (cost, bound) = (self.cost, self.bound);
        write!(f, "  {} clustering: ", self.clustering)?;
        if cost == bound {
            writeln!(f, "proven, no plan is better")
        } else if cost.bytes > bound.bytes {
            let gap = 100.0 * (cost.bytes - bound.bytes) as f64 / cost.bytes as f64;
            writeln!(f, "not proven, a schedule could cost up to {gap:.1} % less")
        } else {
            writeln!(
                f,
                "not proven, a schedule could have {} or more",
                count(bound.loops, "loop")
            )
        }
    }

    fn show_loop(&self, f: &mut Formatter<'_>, at: usize, l: &ExplainedLoop) -> Result {
        let program = &l.program;
        let counters = count(counters(program), "counter");
        writeln!(f, "\n{}: {counters}", program.name)?;
        let calls = self.calls_of(at, l);
        let mut stack: Vec<(RateId, usize)> = program.roots.iter().rev().map(|r| (*r, 1)).collect();
        while let Some((id, depth)) = stack.pop() {
            let Some(rate) = program.rates.get(id.index()) else {
                continue;
            };
            let (indent, about) = (2 * depth.min(DEEPEST), about(program, rate.kind));
            writeln!(f, "{:indent$}{}: {about}", "", rate.name)?;
            self.show_calls(f, (at, &calls), Some(id), indent + 2)?;
            let children = rate.parts.iter().rev().filter_map(|p| match p {
                Part::Child(child) => Some((*child, depth + 1)),
                Part::Stage(_) => None,
            });
            stack.extend(children);
        }
        if calls.contains_key(&None) {
            writeln!(f, "  once:")?;
        }
        self.show_calls(f, (at, &calls), None, 4)?;
        if let Some(Recomputed { bytes, kept }) = l.recomputed {
            let price = format!("{bytes} bytes' worth at nominal lengths");
            writeln!(f, "  rematerialises: {price}, {kept} to store it")?;
        }
        self.show_moved(f, "reads", &l.reads, l.traffic.reads)?;
        self.show_moved(f, "writes", &l.writes, l.traffic.writes)?;
        for ExplainedUpdate { node, copied } in &l.updates {
            let (name, loc) = (node.name, short(node.loc));
            match copied {
                None => writeln!(f, "  changed in place: by {name} at {loc}")?,
                Some(why) => writeln!(f, "  copied, then changed: by {name} at {loc}; {why}")?,
            }
        }
        writeln!(f, "  unfused: {}", Moves(&l.unfused))?;
        if let Some(sizing) = &l.sizing {
            let name = &sizing.name;
            writeln!(
                f,
                "  counted first: {name}, which writes nothing, finds the lengths of its results"
            )?;
        }
        if let Some(schedule) = &l.schedule {
            writeln!(f, "  schedule:")?;
            let mut lines = schedule.lines();
            lines.try_for_each(|line| writeln!(f, "    {line}"))?;
        }
        if let Some(tier) = &l.tier {
            writeln!(f, "  {tier}")?;
        }
        match &l.in_order {
            None => writeln!(f, "  chunks in any order"),
            Some(why) => {
                writeln!(f, "  chunks in order only: {why}")?;
                writeln!(f, "    help: {}", why.help())
            }
        }
    }

    /// Groups the calls in a loop by their rate, each call once.
    fn calls_of(&self, at: usize, l: &ExplainedLoop) -> AtRates {
        let mut rates: FxHashMap<usize, Option<RateId>> = FxHashMap::default();
        let mut order: Vec<usize> = Vec::new();
        for (comb, node) in l.program.combs.iter().zip(&l.nodes) {
            let Some(call) = self.call_of.get(&node.id).copied() else {
                continue;
            };
            let called = &self.calls[call];
            if called.place == Place::Free || called.loops().any(|l| l == at) {
                let rate = comb.slot.map(|h| h.rate);
                let known = rates.entry(call).or_insert_with(|| {
                    order.push(call);
                    rate
                });
                *known = known.or(rate);
            }
        }
        // An inlined call runs at its uses. Uses come after their definitions.
        let mut inlined = order.clone();
        inlined.sort_unstable();
        for call in inlined.iter().rev().filter(|c| self.calls[**c].is_inlined) {
            let users = self.flows_from(*call).map(|flow| flow.to);
            let rate = users.filter_map(|u| rates.get(&u).copied().flatten()).max();
            if let Some(known) = rates.get_mut(call) {
                *known = known.or(rate);
            }
        }
        let mut at_rates = AtRates::default();
        for call in order {
            let rate = rates.get(&call).copied().flatten();
            at_rates.entry(rate).or_default().push(call);
        }
        at_rates
    }

    fn show_calls(
        &self,
        f: &mut Formatter<'_>,
        (at, calls): (usize, &AtRates),
        rate: Option<RateId>,
        indent: usize,
    ) -> Result {
        let here = calls.get(&rate).map_or(&[][..], Vec::as_slice);
        let width = here
            .iter()
            .map(|c| self.calls[*c].name.chars().count())
            .max();
        let width = width.unwrap_or(0);
        for call in here.iter().map(|c| &self.calls[*c]) {
            let remat = if call.remat.contains(&at) {
                ", rematerialised"
            } else {
                ""
            };
            let loc = short(call.loc);
            writeln!(f, "{:indent$}{:width$}  {loc}{remat}", "", call.name)?;
        }
        Ok(())
    }

    fn show_moved(
        &self,
        f: &mut Formatter<'_>,
        what: &str,
        moved: &[ExplainedBytes],
        total: Bytes,
    ) -> Result {
        writeln!(f, "  {what} {total}")?;
        for m in moved {
            let call = self.call_of.get(&m.node.id).map(|c| &self.calls[*c]);
            let shape = call.map_or("", |c| &c.shape);
            let loc = short(m.node.loc);
            writeln!(f, "    {} {shape} at {loc}: {}", m.node.name, m.bytes)?;
        }
        Ok(())
    }

    fn show_rewrites(&self, f: &mut Formatter<'_>) -> Result {
        if !self.rewrites.is_empty() {
            writeln!(f, "\nrewrites:")?;
        }
        self.rewrites.iter().try_for_each(|r| {
            let (rewrite, reason) = (r.rewrite, r.rewrite.reason());
            writeln!(f, "  {rewrite}: {} at {}", r.call, short(r.loc))?;
            writeln!(f, "      {reason}")
        })
    }

    fn show_hints(&self, f: &mut Formatter<'_>) -> Result {
        if !self.hints.is_empty() {
            writeln!(f, "\nhints:")?;
        }
        let mut hints = self.hints.iter();
        hints.try_for_each(|hint| writeln!(f, "  {} at {}: {hint}", hint.call, short(hint.loc)))
    }

    /// Shows results that need no loop: lengths.
    fn show_known(&self, f: &mut Formatter<'_>) -> Result {
        let known = |c: &&Call| c.place == Place::Free && c.is_result;
        let mut first = true;
        self.calls.iter().filter(known).try_for_each(|call| {
            if std::mem::take(&mut first) {
                writeln!(f, "\nin no loop:")?;
            }
            writeln!(f, "    {} {} at {}", call.name, call.shape, short(call.loc))
        })
    }

    /// Shows arrays of earlier forces, which could be computed in a loop of this program instead.
    fn show_kept(&self, f: &mut Formatter<'_>) -> Result {
        let mut shown: FxHashSet<(&str, Loc, EarlierForce)> = FxHashSet::default();
        for call in &self.calls {
            let Some(force) = call.kept else { continue };
            if shown.is_empty() {
                writeln!(f, "\nin memory since an earlier force:")?;
            }
            if shown.insert((call.name, call.loc, force)) {
                let (name, shape, at) = (call.name, &call.shape, short(call.loc));
                match force.loc {
                    Some(loc) => writeln!(f, "  {name} {shape} at {at}, forced at {}", short(loc))?,
                    None => writeln!(f, "  {name} {shape} at {at}")?,
                }
            }
        }
        match shown.is_empty() {
            true => Ok(()),
            false => writeln!(
                f,
                "      help: force it with this program, and both may share a loop"
            ),
        }
    }

    fn show_literals(&self, f: &mut Formatter<'_>) -> Result {
        if !self.literals.is_empty() {
            writeln!(
                f,
                "\npart of the code, so that others compile anew (delayed scalars do not):"
            )?;
        }
        self.literals.iter().try_for_each(|l| {
            let value = l.value.bare();
            let (role, call, at) = (l.role, l.call, short(l.loc));
            writeln!(f, "    {role} {value} in `{call}` at {at}")
        })
    }

    fn show_crossings(&self, f: &mut Formatter<'_>) -> Result {
        let mut crossings = self.flows.iter().filter_map(|flow| {
            let (from, to) = (&self.calls[flow.from], &self.calls[flow.to]);
            let elsewhere = |l: &usize| !from.loops().any(|made| made == *l);
            let into = match to.place {
                // Into every loop that computes it.
                Place::Free => Some("later".to_string()),
                _ => to.loops().find(elsewhere).map(|l| l.to_string()),
            };
            match from.place {
                Place::Loop(a) => into.map(|into| (flow, format!("{a} -> {into}"))),
                _ => None,
            }
        });
        let mut shown: FxHashSet<String> = FxHashSet::default();
        crossings.try_for_each(|(flow, way)| {
            let (from, to) = (&self.calls[flow.from], &self.calls[flow.to]);
            let (at, by) = (short(from.loc), short(to.loc));
            let mut text = match from.is_part_of(to) {
                true => format!("  {way}: within {} at {at}\n", from.name),
                false => format!("  {way}: {} at {at}, for {} at {by}\n", from.name, to.name),
            };
            if let Some(reason) = &flow.reason {
                text += &format!("      {reason}\n");
            }
            if let Some(help) = flow.help {
                text += &format!("      help: {help}\n");
            }
            if shown.is_empty() {
                writeln!(f, "\nbetween loops:")?;
            }
            match shown.contains(&text) {
                true => Ok(()),
                false => {
                    write!(f, "{text}")?;
                    shown.insert(text);
                    Ok(())
                }
            }
        })
    }
}

fn name(program: &Loop, v: Var) -> &str {
    program.vars.get(v.index()).map_or("", |v| &v.name)
}

/// Shows `sub, counter ix_2`.
fn about(program: &Loop, kind: RateKind) -> String {
    let what = match kind {
        RateKind::Root { .. } => "root",
        RateKind::Nested { .. } => "nested",
        RateKind::Cursor { .. } => "cursor",
        RateKind::Sub { .. } => "sub",
    };
    let counter = counter(kind).map(|v| format!(", counter {}", name(program, v)));
    let bound = kind.bound().map(|bound| match bound {
        Atom::Var(v) => format!(" below {}", name(program, v)),
        Atom::Const(c) => format!(" below {}", c.bare()),
    });
    format!(
        "{what}{}{}",
        counter.unwrap_or_default(),
        bound.unwrap_or_default()
    )
}

fn counter(kind: RateKind) -> Option<Var> {
    match kind {
        RateKind::Sub { count, .. } => count,
        _ => kind.counter(),
    }
}

/// Counts the counters of the rates.
fn counters(program: &Loop) -> usize {
    let counters = program.rates.iter().filter_map(|r| counter(r.kind));
    counters.collect::<FxHashSet<Var>>().len()
}
