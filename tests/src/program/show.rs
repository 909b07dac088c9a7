//! Programs as text, for people who look for the cause of a failure.

use super::{Body, Fold, Length, Program, Step, Style, Term};
use crate::scalar;
use std::fmt;

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.steps.iter().enumerate() {
            writeln!(f, "step{i} = {step}")?;
        }
        let roots: Vec<String> = self.roots.iter().map(|r| format!("step{r}")).collect();
        writeln!(f, "force {}", roots.join(", "))
    }
}

fn steps(of: &[usize]) -> String {
    of.iter()
        .map(|s| format!("step{s}"))
        .collect::<Vec<_>>()
        .join(", ")
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Data(columns) => {
                write!(f, "data")?;
                for (ty, words) in columns {
                    let some: Vec<String> = words
                        .iter()
                        .take(8)
                        .map(|w| scalar::show(*ty, *w))
                        .collect();
                    write!(f, " [{ty}; {}] {}", words.len(), some.join(" "))?;
                }
                Ok(())
            }
            Step::Constant(fields) => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|c| format!("{}: {}", scalar::show(c.ty, c.bits), c.ty))
                    .collect();
                write!(f, "constant {}", fields.join(", "))
            }
            Step::Generate(Length::Known(n), b) => write!(f, "generate {n} {b}"),
            Step::Generate(Length::Delayed(s), b) => write!(f, "generate step{s} {b}"),
            Step::Generate(Length::Checked(l), b) => write!(f, "generate {l} {b}"),
            Step::Map(inputs, b) => write!(f, "map {} {b}", steps(inputs)),
            Step::Zip(inputs) => write!(f, "zip {}", steps(inputs)),
            Step::ZipShortest(inputs) => write!(f, "zip_shortest {}", steps(inputs)),
            Step::Merge(inputs, b) => write!(f, "merge {} {b}", steps(inputs)),
            Step::Fields(i, range) => write!(f, "fields step{i} {range:?}"),
            Step::Filter(i, b) => write!(f, "filter step{i} {b}"),
            Step::Pack(d, t) => write!(f, "pack step{d} step{t}"),
            Step::Fold(i, fold) => write!(f, "fold step{i} {fold}"),
            Step::Scan(i, fold, kind) => write!(f, "scan {kind:?} step{i} {fold}"),
            Step::ScanTotal(i) => write!(f, "total step{i}"),
            Step::Scatter(b, i, v, None) => write!(f, "scatter step{b} step{i} step{v}"),
            Step::Scatter(b, i, v, Some(c)) => {
                write!(f, "scatter step{b} step{i} step{v} with {c}")
            }
            Step::ScanByIndex(b, i, v, step, kind) => {
                write!(f, "scan by index {kind:?} step{b} step{i} step{v} {step}")
            }
            Step::Compute(b) => write!(f, "compute {b}"),
            Step::Len(i) => write!(f, "len step{i}"),
            Step::Expand(l, values, b) => write!(f, "expand step{l} {} {b}", steps(values)),
            Step::FoldS(l, i, fold) => write!(f, "fold_s step{l} step{i} {fold}"),
            Step::ScanS(l, i, fold, kind) => write!(f, "scan_s {kind:?} step{l} step{i} {fold}"),
            Step::SortS(l, k, sorted) => write!(f, "sort_s {sorted:?} step{l} step{k}"),
            Step::CountS(l, t) => write!(f, "count_s step{l} step{t}"),
            Step::Part(part, inputs) => write!(f, "{part:?} {}", steps(inputs)),
            Step::Append(parts) => write!(f, "append {}", steps(parts)),
            Step::Take(i, b) => write!(f, "take step{i} {b}"),
            Step::TakeWhile(i, b, true) => write!(f, "take_while and one more step{i} {b}"),
            Step::TakeWhile(i, b, false) => write!(f, "take_while step{i} {b}"),
        }
    }
}

impl fmt::Display for Fold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.style {
            Style::Associative => write!(f, "associative from {} by {}", self.start, self.step),
            Style::First => write!(f, "first by {}", self.step),
            Style::Sequential => write!(f, "sequential from {} by {}", self.start, self.step),
            Style::Aggregate(c) => {
                write!(f, "aggregate from {} by {} join {c}", self.start, self.step)
            }
        }
    }
}

impl fmt::Display for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |of: &[usize]| {
            of.iter()
                .map(|t| self.operand(*t))
                .collect::<Vec<_>>()
                .join(" ")
        };
        write!(f, "{{")?;
        for (i, term) in self.terms.iter().enumerate() {
            match term {
                Term::Param(_) | Term::Lit(_) => {}
                Term::Op(op, args) => write!(f, " t{i} = {} {};", op.name(), list(args))?,
                Term::Cast(x, to) => write!(f, " t{i} = cast.{to} {};", self.operand(*x))?,
                Term::Bitcast(x, to) => write!(f, " t{i} = bitcast.{to} {};", self.operand(*x))?,
                Term::Cond(c, x, y) => {
                    let [c, x, y] = [c, x, y].map(|t| self.operand(*t));
                    write!(f, " t{i} = if {c} then {x} else {y};")?;
                }
                Term::LoopVar(l, k) => {
                    write!(
                        f,
                        " t{i} = loop{l}.{k} from {};",
                        self.operand(self.loops[*l].start[*k])
                    )?;
                }
                Term::LoopResult(l, k) => {
                    let s = &self.loops[*l];
                    let (test, next) = (self.operand(s.test), self.operand(s.next[*k]));
                    write!(f, " t{i} = end of loop{l}.{k} while {test} next {next};")?;
                }
                Term::Scalar(s, k) => write!(f, " t{i} = step{s}.{k};")?,
                Term::At(s, k, i2, checked) => {
                    let mark = if *checked { "!" } else { "" };
                    write!(f, " t{i} = step{s}.{k}[{}]{mark};", self.operand(*i2))?;
                }
            }
        }
        write!(f, " {} }}", list(&self.results))
    }
}

impl Body {
    fn operand(&self, t: usize) -> String {
        match &self.terms[t] {
            Term::Param(k) => format!("x{k}:{}", self.params[*k as usize]),
            Term::Lit(c) => format!("{}:{}", scalar::show(c.ty, c.bits), c.ty),
            _ => format!("t{t}"),
        }
    }
}
