//! Programs as text, for the analysis of failures.

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
            Step::Part(part, inputs) => write!(f, "{part:?} {}", steps(inputs)),
            _ => {
                write!(f, "{}{}", self.name(), self.detail())?;
                let inputs = steps(&self.inputs());
                if !inputs.is_empty() {
                    write!(f, " {inputs}")?;
                }
                match self {
                    Step::Fold(.., fold)
                    | Step::Scan(_, fold, _)
                    | Step::FoldS(.., fold)
                    | Step::ScanS(.., fold, _) => write!(f, " {fold}"),
                    _ => self.bodies().iter().try_for_each(|b| write!(f, " {b}")),
                }
            }
        }
    }
}

impl Step {
    /// Its settings, without inputs and bodies.
    fn detail(&self) -> String {
        match self {
            Step::Generate(Length::Known(n), _) => format!(" {n}"),
            Step::Generate(Length::Delayed(s), _) => format!(" step{s}"),
            Step::Fields(_, range) => format!(" {range:?}"),
            Step::Scan(.., kind) | Step::ScanS(.., kind) | Step::ScanByIndex(.., kind) => {
                format!(" {kind:?}")
            }
            Step::SortS(.., sorted) => format!(" {sorted:?}"),
            Step::TakeWhile(.., true) => " and one more".into(),
            _ => String::new(),
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
