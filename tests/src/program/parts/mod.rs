//! Parts of several combinators as steps of programs.
//!
//! Each has a builder, and a reference evaluation by plain loops.
//!
//! | file | parts |
//! | --- | --- |
//! | `sorting` | sorts, and combinators built on them |
//! | `drawing` | random numbers, and `linspace` |
//! | `cut` | pairs, and operations within segments |
//! | `counting` | histograms, running folds, windows, grids |
//! | `near` | neighbours beside the elements |
//! | `joined` | appends and combinations of running folds |
//! | `numbers` | complex numbers, halves, comparisons with tolerance |
//! | `apart` | transforms, user functions, foreign memory |
//! | `table` | inputs of parts |

mod apart;
mod counting;
mod cut;
mod drawing;
mod joined;
mod near;
mod numbers;
mod sorting;
mod table;

use super::Step;
use super::random::Making;
use crate::naive::Data;
use livefusion::ast::{Body, Builder, Const, Field, Fields, Node, Op, Ty, trace};
use loop_lang::eval::eval;
use std::fmt;
use std::sync::Arc;
use table::Table;

/// Holds a part, whose inputs are exact to the bit and cannot trap.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// A sort or a combinator built on one.
    Sorting(sorting::Sorting),
    /// An array generated from an index.
    Drawing(drawing::Drawing),
    /// An operation within segments.
    Cut(cut::Cut),
    /// Counts, running folds, windows.
    Counting(counting::Counting),
    /// Neighbours beside the elements.
    Near(near::Near),
    /// A join of two running folds.
    Joined(joined::Joined),
    /// An operation on each number.
    Numbers(numbers::Numbers),
    /// An external part.
    Apart(apart::Apart),
}

/// The operations of a part.
trait Made: fmt::Debug {
    /// Builds its node.
    fn build(&self, b: Builder, inputs: &[Arc<Node>]) -> Arc<Node>;
    /// Whether its inputs are suitable. Shrunk programs may have unsuitable ones.
    fn fits(&self, _inputs: &[Table<'_>]) -> bool {
        true
    }
    /// Its value for suitable inputs.
    fn value(&self, inputs: &[Table<'_>]) -> Data;
}

impl Part {
    fn made(&self) -> &dyn Made {
        match self {
            Part::Sorting(part) => part,
            Part::Drawing(part) => part,
            Part::Cut(part) => part,
            Part::Counting(part) => part,
            Part::Near(part) => part,
            Part::Joined(part) => part,
            Part::Numbers(part) => part,
            Part::Apart(part) => part,
        }
    }

    /// Builds its node.
    pub fn build(&self, b: Builder, inputs: &[Arc<Node>]) -> Arc<Node> {
        self.made().build(b, inputs)
    }

    /// Returns its value, or `None` for unsuitable inputs.
    pub fn value(&self, inputs: &[(&[Ty], &Data)]) -> Option<Data> {
        let tables: Vec<Table<'_>> = inputs.iter().map(|input| Table::of(*input)).collect();
        let made = self.made();
        made.fits(&tables).then(|| made.value(&tables))
    }

    /// Returns whether it gives a delayed scalar.
    pub fn is_scalar(&self) -> bool {
        matches!(
            self,
            Part::Sorting(sorting::Sorting::Quantile(_))
                | Part::Drawing(drawing::Drawing::Split(_))
        )
    }

    /// Returns its name without parameters.
    ///
    /// For complex numbers, it is the name of the function.
    pub fn name(&self) -> String {
        if let Part::Numbers(numbers::Numbers::Complex(of) | numbers::Numbers::ComplexOfF32(of)) =
            self
        {
            return format!("{of:?}");
        }
        let name = format!("{:?}", self.made());
        let end = name.find(|c: char| !c.is_alphanumeric());
        name[..end.unwrap_or(name.len())].to_string()
    }
}

/// An array of one column.
fn one(column: Vec<u64>) -> Data {
    let n = column.len();
    Data::Array(vec![column], n)
}

/// A body that returns a constant.
fn literal(value: Const) -> Body {
    trace(&[], |_| Fields::from_slice(&[Field::literal(value)]))
}

/// A field of each element, converted.
fn converted(b: Builder, xs: &Arc<Node>, field: usize, to: Ty) -> Arc<Node> {
    let loc = b.loc();
    let body = trace(&xs.types, |x| Fields::from_slice(&[x[field].cast(to, loc)]));
    b.map(std::slice::from_ref(xs), body)
}

/// A word, converted.
fn convert(from: Ty, to: Ty, word: u64) -> u64 {
    match from == to {
        true => word,
        false => eval(Op::Cast, from, to, &[word]),
    }
}

impl Making {
    /// A part over exact inputs that cannot trap, because external parts run before everything
    /// else.
    pub(super) fn part(&mut self) -> Option<usize> {
        let (part, inputs) = match self.rng.weighted(&[30, 16, 20, 20, 20, 20, 4, 15]) {
            0 => self.sorting_part(),
            1 => self.drawing_part(),
            2 => self.cut_part(),
            3 => self.counting_part(),
            4 => self.near_part(),
            5 => self.numbers_part(),
            6 => self.joined_part(),
            _ => self.apart_part(),
        }?;
        let is_unknown = |i: &usize| !self.is_exact(*i) || self.may_trap(*i);
        if inputs.iter().any(is_unknown) {
            return None;
        }
        let given = inputs.iter().map(|i| (self.types(*i), &self.data[*i]));
        part.value(&given.collect::<Vec<_>>())?;
        self.add(Step::Part(part, inputs))
    }
}

impl Making {
    /// One numeric field of an array: the array itself, or a new step.
    fn number(&mut self, array: usize) -> Option<usize> {
        let types = self.types(array).to_vec();
        let all: Vec<usize> = (0..types.len()).filter(|k| types[*k] != Ty::Bool).collect();
        if types.len() == 1 || all.is_empty() {
            return (types != [Ty::Bool])
                .then_some(array)
                .filter(|_| !all.is_empty());
        }
        let field = self.rng.pick(&all) as u32;
        self.add(Step::Fields(array, field..field + 1))
    }

    /// Lengths of non-empty segments of an array.
    fn filled(&mut self, array: usize) -> Option<usize> {
        let mut lengths = self.pieces(self.data[array].len());
        lengths.retain(|length| *length > 0);
        self.add_lengths(lengths)
    }
}
