//! Two loops as phases of one, each with its stand-alone behaviour.

use loop_lang::Loop;
use loop_lang::gotos::{Tree, complete_blocks, derive_gotos};
use loop_lang::ir::{CombId, Label, Place, Section};

/// Joins two loops into one.
///
/// It runs the phases of the first, then those of the second. Parameters and results are those of
/// the first, then those of the second. Returns `None` if the two cannot share a loop.
pub fn joined(first: &Loop, second: &Loop) -> Option<Loop> {
    let (a, b) = (
        Half::of(first, "", 0),
        Half::of(second, "b", first.traps.len()),
    );
    // The first loop's last phase now has a successor. Its exits go to the end of both.
    let inner = |label: &&String| !a.slotted.contains(label);
    let last: Vec<&String> = a.last.iter().filter(inner).chain(&b.last).collect();
    let last = last
        .iter()
        .map(|l| l.as_str())
        .collect::<Vec<_>>()
        .join(", ");
    let init = [&a.init[..], &b.init].concat().join(", ");
    let text = format!(
        "loop joined\n{}{}{init}:\n{}{}{}{}{last}:\n{}{}  return{}{}\n",
        a.declared,
        b.declared,
        a.started,
        b.started,
        a.blocks,
        b.blocks,
        a.ended,
        b.ended,
        a.results,
        b.results,
    );
    let mut program = loop_lang::parse::parse(&text).ok()?;
    complete_blocks(&mut program);
    derive_gotos(&mut program);
    loop_lang::levels::set_levels(&mut program);
    loop_lang::chunkable::raise_levels(&mut program);
    loop_lang::verify::verify(&program)
        .is_ok()
        .then_some(program)
}

/// A loop's text in parts, without gotos to its end.
#[derive(Default)]
struct Half {
    declared: String,
    /// The labels and contents of the first and of the last block.
    init: Vec<String>,
    started: String,
    last: Vec<String>,
    ended: String,
    /// The labels of the last block that belong to a rate.
    slotted: Vec<String>,
    blocks: String,
    results: String,
}

impl Half {
    /// The parts of a loop with suffixed names, and with traps numbered from `traps` on.
    fn of(program: &Loop, suffix: &str, traps: usize) -> Half {
        let mut program = program.clone();
        let names = program.vars.iter_mut().map(|v| &mut v.name);
        let names = names.chain(program.combs.iter_mut().map(|c| &mut c.name));
        let names = names.chain(program.rates.iter_mut().map(|r| &mut r.name));
        let names = names.chain(program.functions.iter_mut().map(|f| &mut f.name));
        names.for_each(|name| name.push_str(suffix));
        let tree = Tree::of(&program);
        let (mut ends, mut slotted) = (Vec::new(), Vec::new());
        for (i, comb) in program.combs.iter().enumerate() {
            let (section, comb_id) = (Section::Done, CombId::new(i));
            let label = Label {
                section,
                comb: comb_id,
            };
            if tree.place(&program, label) == Place::Return {
                ends.push(program.label_name(label));
                slotted.extend(comb.slot.map(|_| program.label_name(label)));
            }
        }
        let mut half = Half {
            slotted,
            ..Half::default()
        };
        let mut at = At::Declared;
        for line in program.to_string().lines().skip(1) {
            let labels = line.strip_suffix(':').filter(|l| !l.starts_with(' '));
            if let Some(labels) = labels {
                let labels: Vec<String> = labels.split(", ").map(String::from).collect();
                at = match () {
                    () if labels[0].starts_with("init_") => At::Init,
                    () if ends.contains(&labels[0]) => At::Last,
                    () => At::Blocks,
                };
                match at {
                    At::Init => half.init = labels,
                    At::Last => half.last = labels,
                    _ => half.blocks += &format!("{line}\n"),
                }
                continue;
            }
            half.line(at, &renumbered(line, traps), &ends);
        }
        half
    }

    fn line(&mut self, at: At, line: &str, ends: &[String]) {
        let text = line.trim_start();
        let to_end =
            |to: &str| ends.iter().any(|e| e == to) && !self.slotted.iter().any(|h| h == to);
        match at {
            At::Declared => self.declared += &format!("{line}\n"),
            _ if text.strip_prefix("goto ").is_some_and(to_end) => {}
            At::Init if text.starts_with("goto ") => {}
            At::Init => self.started += &format!("{line}\n"),
            At::Last => match text.strip_prefix("return") {
                Some(results) => self.results = results.into(),
                None => self.ended += &format!("{line}\n"),
            },
            At::Blocks => {
                // Exits from guards are derived again.
                let out = line.split_once(" | ").filter(|(_, to)| to_end(to));
                self.blocks += &format!("{}\n", out.map_or(line, |(test, _)| test));
            }
        }
    }
}

/// The part of a text being read.
#[derive(Clone, Copy)]
enum At {
    Declared,
    Init,
    Blocks,
    Last,
}

/// A line with shifted trap numbers.
fn renumbered(line: &str, from: usize) -> String {
    let (before, after) = match line.split_once("trap t") {
        Some((before, after)) if before.is_empty() => (format!("{before}trap t"), after),
        _ => match line
            .split_once(", t")
            .filter(|(l, _)| l.contains("trap unless"))
        {
            Some((before, after)) => (format!("{before}, t"), after),
            None => return line.into(),
        },
    };
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    match after[..digits].parse::<usize>() {
        Ok(n) => format!("{before}{}{}", n + from, &after[digits..]),
        Err(_) => line.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loops::random;

    #[test]
    fn most_pairs_of_loops_can_be_joined() {
        let loops: Vec<Loop> = (0..20).map(|seed| random(seed).program).collect();
        let pairs = loops.iter().flat_map(|a| loops.iter().map(move |b| (a, b)));
        let all: Vec<Option<Loop>> = pairs.map(|(a, b)| joined(a, b)).collect();
        let made = all.iter().flatten().count();
        assert!(made > 350, "{made} of {}", all.len());
    }
}
