//! Text form of tiles, as read by [`parse`](crate::parse).
//!
//! ```text
//! tile to_percentages_mfst at mfst
//!   range from .. end
//!   entry (a) capacity arr_mfst at ix_mfst
//!   entry (b) capacity out_map at ix_filt
//!   entry (c) whole 32
//!   given least_filt: f64
//!   given factor_map: f64
//!   state ix_filt: u64
//!   for strip in from .. end step 32 @mfst
//!     for lane in 0 .. 32 step 8 unrolled
//!       let ix_mfst: u64 = add strip lane
//!       let elt_mfst: f64x8 = load arr_mfst[ix_mfst] by (a)
//!       let p_filt: mask8 = ge elt_mfst least_filt @filt
//!       let count: u64 = count p_filt
//!       let elt_map: f64x8 = mul elt_mfst factor_map @map
//!       compress p_filt elt_map -> out_map[ix_filt] by (b)
//!       let next: u64 = add ix_filt count @filt
//!       set ix_filt = next
//! ```
//!
//! `@filt` names the combinator of this line and of the lines below, up to the next `@`. A loop
//! value with a different name here shows both: `given n_2: u64 of n`. Extra state of a scan shows
//! its kind: `scan t: f64 of acc total`. `stream 524288 out_1` lists the arrays that bypass the
//! caches, and the minimum number of steps.

use crate::ir::{Entry, Memory, Operand, Origin, Proof, Stmt, StmtKind, Sum, Tile, Value};
use loop_lang::Loop;
use loop_lang::ir::{CombId, Var};
use std::fmt;

/// Displays a tile of a loop.
pub struct Shown<'a> {
    tile: &'a Tile,
    program: &'a Loop,
}

impl Tile {
    /// Returns a displayable form of the tile, with the names of its loop.
    pub fn show<'a>(&'a self, program: &'a Loop) -> Shown<'a> {
        Shown {
            tile: self,
            program,
        }
    }
}

/// The line of a statement, without its combinator.
pub(crate) struct StmtLine<'a>(pub &'a Tile, pub &'a Loop, pub &'a StmtKind);

impl fmt::Display for StmtLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.show(self.1).stmt(f, self.2)
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shown { tile, program } = self;
        writeln!(f, "tile {} at {}", tile.name, program.rate(tile.rate).name)?;
        let range = [Origin::From, Origin::End].map(|o| tile.of_origin(o));
        if let [Some(from), Some(end)] = range {
            writeln!(f, "  range {} .. {}", self.name(from), self.name(end))?;
        }
        for (i, entry) in tile.entries.iter().enumerate() {
            let letter = crate::ir::letter(i);
            write!(f, "  entry ({letter}) ")?;
            match entry {
                Entry::Capacity { array, index } => {
                    writeln!(f, "capacity {} at {}", self.var(*array), self.sum(index))?;
                }
                Entry::Keeps { comparison, holds } => {
                    let word = match holds {
                        Some(true) => "holds",
                        Some(false) => "fails",
                        None => "keeps",
                    };
                    let than = if comparison.inclusive { "<=" } else { "<" };
                    let (moving, edge) = (self.sum(&comparison.moving), self.sum(&comparison.edge));
                    writeln!(f, "{word} {moving} {than} {edge}")?;
                }
                Entry::Most(steps) => writeln!(f, "most {steps}")?,
                Entry::Before(steps) => writeln!(f, "before {steps}")?,
                Entry::Whole(steps) => writeln!(f, "whole {steps}")?,
                Entry::Aligned(steps) => writeln!(f, "aligned {steps}")?,
                Entry::Runs(steps) => writeln!(f, "runs {steps}")?,
            }
        }
        if let Some(stream) = &tile.stream {
            write!(f, "  stream {}", stream.least)?;
            let mut names = stream.arrays.iter().map(|a| self.var(*a));
            names.try_for_each(|name| write!(f, " {name}"))?;
            writeln!(f)?;
        }
        for (_, data) in tile.each_value() {
            let (word, of) = match data.origin {
                Origin::Given(v) => ("given", Some(v)),
                Origin::State(v) => ("state", Some(v)),
                Origin::Scan(v, _) => ("scan", Some(v)),
                Origin::Register => ("register", None),
                Origin::Buffer => ("buffer", None),
                Origin::From | Origin::End | Origin::Let => continue,
            };
            write!(f, "  {word} {}: {}", data.name, data.shape)?;
            match (of.map(|v| self.var(v)), data.origin) {
                (Some(of), Origin::Scan(_, kept)) => writeln!(f, " of {of} {}", kept.name())?,
                (Some(of), _) if of != data.name => writeln!(f, " of {of}")?,
                _ => writeln!(f)?,
            }
        }
        self.stmts(f, &tile.body)
    }
}

impl Shown<'_> {
    fn var(&self, v: Var) -> &str {
        self.program.name(v)
    }

    /// Shows positive terms first, then negative ones.
    fn sum(&self, sum: &Sum) -> String {
        let often = |(n, v): &(i64, Var)| {
            let times = n.unsigned_abs() as usize;
            std::iter::repeat_n(self.var(*v), times).collect::<Vec<_>>()
        };
        let (more, less): (Vec<_>, Vec<_>) = sum.terms.iter().partition(|(n, _)| *n > 0);
        let more: Vec<&str> = more.iter().copied().flat_map(often).collect();
        let less: Vec<&str> = less.iter().copied().flat_map(often).collect();
        let number = (sum.plus as i64).unsigned_abs();
        let mut text = match more.is_empty() {
            true => sum.plus.to_string(),
            false => more.join(" + "),
        };
        less.iter().for_each(|name| text += &format!(" - {name}"));
        match (more.is_empty(), sum.plus as i64) {
            (true, _) | (_, 0) => {}
            (_, 1..) => text += &format!(" + {number}"),
            _ => text += &format!(" - {number}"),
        }
        text
    }

    fn name(&self, v: Value) -> &str {
        &self.tile.value(v).name
    }

    fn operand(&self, a: Operand) -> String {
        match a {
            Operand::Value(v) => self.name(v).to_string(),
            Operand::Const(c) => c.to_string(),
        }
    }

    fn memory(&self, m: Memory, at: Operand) -> String {
        let at = self.operand(at);
        match m {
            Memory::Array(a) => format!("{}[{at}]", self.var(a)),
            Memory::Lanes(v) => format!("lanes {}[{at}]", self.var(v)),
            Memory::Tree(v) => format!("tree {}[{at}]", self.var(v)),
            Memory::Register(v) | Memory::Buffer(v) => format!("{}[{at}]", self.name(v)),
        }
    }

    fn under(&self, under: Option<Operand>) -> String {
        under.map_or(String::new(), |m| format!(" under {}", self.operand(m)))
    }

    fn let_(&self, f: &mut fmt::Formatter<'_>, to: Value) -> fmt::Result {
        write!(f, "let {}: {} = ", self.name(to), self.tile.shape(to))
    }

    /// Shows statements and nested statements. It uses an explicit stack, since tiles may be deeply
    /// nested.
    fn stmts(&self, f: &mut fmt::Formatter<'_>, stmts: &[Stmt]) -> fmt::Result {
        let mut open = vec![(stmts, 1, None)];
        let mut before: Option<CombId> = None;
        while let Some((stmts, depth, title)) = open.pop() {
            if let Some(title) = title {
                writeln!(f, "{:1$}{title}", "", 2 * (depth - 1))?;
            }
            let Some((first, rest)) = stmts.split_first() else {
                continue;
            };
            open.push((rest, depth, None));
            write!(f, "{:1$}", "", 2 * depth)?;
            self.stmt(f, &first.kind)?;
            match before.replace(first.comb) {
                Some(comb) if comb == first.comb => writeln!(f)?,
                _ => writeln!(f, " @{}", self.program.comb(first.comb).name)?,
            }
            match &first.kind {
                StmtKind::For { body, .. } | StmtKind::DryRun { body } => {
                    open.push((body, depth + 1, None));
                }
                StmtKind::Segment {
                    body,
                    epilogue,
                    scalar_epilogue,
                    ..
                } => {
                    if !scalar_epilogue.is_empty() {
                        open.push((scalar_epilogue, depth + 1, Some("scalar".to_string())));
                    }
                    if !epilogue.is_empty() {
                        open.push((epilogue, depth + 1, Some("epilogue".to_string())));
                    }
                    open.push((body, depth + 1, None));
                }
                StmtKind::If { then, other, .. } => {
                    if !other.is_empty() {
                        open.push((other, depth + 1, Some("else".to_string())));
                    }
                    open.push((then, depth + 1, None));
                }
                StmtKind::While { test, cond, body } => {
                    let title = format!("go {}", self.operand(*cond));
                    open.push((body, depth + 1, Some(title)));
                    open.push((test, depth + 1, None));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn stmt(&self, f: &mut fmt::Formatter<'_>, kind: &StmtKind) -> fmt::Result {
        let by = |proof: &Proof| format!(" {proof}");
        match kind {
            StmtKind::Let { to, op, args } => {
                self.let_(f, *to)?;
                write!(f, "{}", op.name())?;
                (args.iter()).try_for_each(|a| write!(f, " {}", self.operand(*a)))
            }
            StmtKind::Positions { to, from } => {
                self.let_(f, *to)?;
                write!(f, "positions {}", self.operand(*from))
            }
            StmtKind::Until { to, at, end } => {
                self.let_(f, *to)?;
                write!(f, "until {} {}", self.operand(*at), self.operand(*end))
            }
            StmtKind::Load {
                to,
                from,
                at,
                under,
                proof,
            } => {
                self.let_(f, *to)?;
                let (memory, under) = (self.memory(*from, *at), self.under(*under));
                write!(f, "load {memory}{under}{}", by(proof))
            }
            StmtKind::Gather { to, array, at } => {
                self.let_(f, *to)?;
                write!(f, "gather {}", self.memory(Memory::Array(*array), *at))
            }
            StmtKind::Across {
                into,
                array,
                at,
                lanes,
                apart,
                steps,
                proof,
            } => {
                let (into, memory) = (self.name(*into), self.memory(Memory::Array(*array), *at));
                write!(
                    f,
                    "across {into} = {memory} x{lanes} apart {apart} steps {steps}{}",
                    by(proof)
                )
            }
            StmtKind::Store {
                into,
                at,
                value,
                under,
                lanes,
                proof,
            } => {
                let (memory, value) = (self.memory(*into, *at), self.operand(*value));
                let (wide, under) = (wide(*lanes), self.under(*under));
                write!(f, "store{wide} {memory} = {value}{under}{}", by(proof))
            }
            StmtKind::Put {
                array,
                at,
                value,
                by,
                under,
                lanes,
            } => {
                let (wide, by) = (wide(*lanes), by.map(|op| format!(" {}", op.name())));
                let memory = self.memory(Memory::Array(*array), *at);
                let (by, value, under) = (
                    by.unwrap_or_default(),
                    self.operand(*value),
                    self.under(*under),
                );
                write!(f, "put{wide}{by} {memory} = {value}{under}")
            }
            StmtKind::Compress {
                into,
                at,
                value,
                under,
                proof,
            } => {
                let (under, value) = (self.operand(*under), self.operand(*value));
                let memory = self.memory(*into, *at);
                write!(f, "compress {under} {value} -> {memory}{}", by(proof))
            }
            StmtKind::Sort { arrays, rows } => {
                let names: Vec<&str> = arrays.iter().map(|a| self.var(*a)).collect();
                write!(f, "sort {} {}", names.join(", "), self.operand(*rows))
            }
            StmtKind::Length { to, array } => {
                self.let_(f, *to)?;
                write!(f, "length {}", self.var(*array))
            }
            StmtKind::Count { to, of } => {
                self.let_(f, *to)?;
                write!(f, "count {}", self.operand(*of))
            }
            StmtKind::Any { to, of } => {
                self.let_(f, *to)?;
                write!(f, "any {}", self.operand(*of))
            }
            StmtKind::Scan { to, op, of } => {
                self.let_(f, *to)?;
                write!(f, "scan {} {}", op.name(), self.operand(*of))
            }
            StmtKind::Beat { to, op, new, old } => {
                self.let_(f, *to)?;
                let (new, old) = (self.operand(*new), self.operand(*old));
                write!(f, "beat {} {new} {old}", op.name())
            }
            StmtKind::Last { to, of } => {
                self.let_(f, *to)?;
                write!(f, "last {}", self.operand(*of))
            }
            StmtKind::Lane { to, of, at } => {
                self.let_(f, *to)?;
                let (of, at) = (self.operand(*of), self.operand(*at));
                write!(f, "lane {of} {at}")
            }
            StmtKind::SetLane { to, at, value } => {
                let (at, value) = (self.operand(*at), self.operand(*value));
                write!(f, "set lane {} {at} = {value}", self.name(*to))
            }
            StmtKind::Slide { to, first, of } => {
                self.let_(f, *to)?;
                let (first, of) = (self.operand(*first), self.operand(*of));
                write!(f, "slide {first} {of}")
            }
            StmtKind::Reverse { to, of } => {
                self.let_(f, *to)?;
                write!(f, "reverse {}", self.operand(*of))
            }
            StmtKind::Halves { to, op, beats, of } => {
                self.let_(f, *to)?;
                let how = if *beats { "beat " } else { "" };
                write!(f, "halves {how}{} {}", op.name(), self.operand(*of))
            }
            StmtKind::Set { to, value } => {
                write!(f, "set {} = {}", self.name(*to), self.operand(*value))
            }
            StmtKind::Trap { unless } => write!(f, "trap unless {}", self.operand(*unless)),
            StmtKind::Leave { at, unless } => {
                let (at, unless) = (self.operand(*at), self.operand(*unless));
                write!(f, "leave at {at} unless {unless}")
            }
            StmtKind::For {
                counter,
                from,
                to,
                step,
                unroll,
                ..
            } => {
                let (from, to) = (self.operand(*from), self.operand(*to));
                let how = if *unroll { " unrolled" } else { "" };
                let counter = self.name(*counter);
                write!(f, "for {counter} in {from} .. {to} step {step}{how}")
            }
            StmtKind::Segment {
                counter,
                from,
                to,
                step,
                aligned,
                single_trip,
                again,
                capacities,
                ..
            } => {
                let (from, to) = (self.operand(*from), self.operand(*to));
                write!(f, "segment {} in {from} .. {to}", self.name(*counter))?;
                if *step != 1 {
                    write!(f, " step {step}")?;
                }
                if *aligned {
                    f.write_str(" aligned")?;
                }
                if *single_trip {
                    f.write_str(" single")?;
                }
                if *again {
                    f.write_str(" again")?;
                }
                capacities.iter().try_for_each(|(array, index)| {
                    write!(
                        f,
                        " capacity {} at {}",
                        self.var(*array),
                        self.operand(*index)
                    )
                })
            }
            StmtKind::DryRun { .. } => write!(f, "dryrun"),
            StmtKind::If { cond, .. } => write!(f, "if {}", self.operand(*cond)),
            StmtKind::While { .. } => write!(f, "while"),
        }
    }
}

/// Shows the number of stored lanes, if greater than one.
fn wide(lanes: u32) -> String {
    match lanes {
        1 => String::new(),
        lanes => format!(" x{lanes}"),
    }
}
