//! Bodies of kinds and their roles: one walk for all visitors.

use super::{Body, FoldStyle, Kind, Len, ScanKind};
use smallvec::{SmallVec, smallvec};

/// Distinguishes the purposes of a kind's bodies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BodyRole {
    /// Makes or tests an element, or joins it with an element of a base.
    Element,
    /// Gives the length of a generator.
    Length,
    /// Gives the number of elements to take.
    Number,
    /// Gives the first state of a fold.
    Start,
    /// Takes an element into a fold's state.
    Step,
    /// Joins two values of one type: elements of a fold, or of a scatter.
    Operator,
    /// Joins the states of parts.
    Join,
}

impl BodyRole {
    /// Tells whether the body runs per element, not before a loop.
    pub fn runs_for_elements(self) -> bool {
        !matches!(self, BodyRole::Length | BodyRole::Number | BodyRole::Start)
    }

    /// Tells whether the body becomes a combine function.
    ///
    /// Those only read their parameters.
    pub fn is_function(self) -> bool {
        matches!(self, BodyRole::Operator | BodyRole::Join)
    }

    /// Names it among several.
    pub fn name(self) -> &'static str {
        match self {
            BodyRole::Element => "element",
            BodyRole::Length => "length",
            BodyRole::Number => "number",
            BodyRole::Start => "start",
            BodyRole::Step | BodyRole::Operator => "step",
            BodyRole::Join => "join",
        }
    }
}

/// Visits the bodies of a kind with their roles, as references of the given form, in a fixed order.
/// Also visits its payload as words.
macro_rules! walk {
    ($kind:expr, [$($by:tt)+], $body:ident, $word:ident) => {
        match $kind {
            Kind::Generate(len, element) => {
                match len {
                    Len::Known(_) => $word(0),
                    Len::Delayed(_) => $word(1),
                    Len::Checked(length) => {
                        $word(2);
                        $body(BodyRole::Length, $($by)+ **length);
                    }
                }
                $body(BodyRole::Element, element);
            }
            Kind::Map(b) | Kind::Filter(b) | Kind::Expand(b) | Kind::Merge(b) | Kind::Compute(b) => {
                $body(BodyRole::Element, b);
            }
            Kind::TakeWhile { test, inclusive } => {
                $word(u64::from(*inclusive));
                $body(BodyRole::Element, test);
            }
            Kind::Take(number) => $body(BodyRole::Number, number),
            Kind::Fold(fold) | Kind::FoldS(fold) => {
                let fold = $($by)+ **fold;
                walk_fold!(fold, [$($by)+], $body, $word);
            }
            Kind::Scan(fold, kind) | Kind::ScanS(fold, kind) => {
                let fold = $($by)+ **fold;
                walk_fold!(fold, [$($by)+], $body, $word);
                $word(kind.code());
            }
            Kind::Scatter(join, places) => {
                $word(u64::from(join.is_some()));
                $word(*places as u64);
                if let Some(join) = join {
                    $body(BodyRole::Operator, join);
                }
            }
            Kind::ScanByIndex(step, kind, places) => {
                $word(kind.code());
                $word(*places as u64);
                $body(BodyRole::Element, step);
            }
            Kind::SortS(sorted) => $word(*sorted as u64),
            Kind::MoveS(to) => $word(to.code()),
            Kind::Fields(range) => {
                $word(u64::from(range.start));
                $word(u64::from(range.end));
            }
            Kind::Input(input) => {
                $word(u64::from(input.number));
                $word(u64::from(input.consumed));
            }
            // User-defined combinators have their own keys.
            Kind::Custom(_) => {}
            Kind::Manifest
            | Kind::Zip
            | Kind::ZipShortest
            | Kind::Pack
            | Kind::ScanTotal
            | Kind::CountS
            | Kind::Append
            | Kind::Len => {}
        }
    };
}

/// Visits a fold.
macro_rules! walk_fold {
    ($fold:ident, [$($by:tt)+], $body:ident, $word:ident) => {
        $word($fold.style.code());
        $body(BodyRole::Start, $($by)+ $fold.start);
        $body($fold.style.role(), $($by)+ $fold.step);
        if let FoldStyle::Aggregate(join) | FoldStyle::Exact(join) | FoldStyle::Dealt(join) = $($by)+ $fold.style {
            $body(BodyRole::Join, join);
        }
    };
}

/// Ignores a word.
fn ignore(_: u64) {}

impl Kind {
    /// Lists its bodies, in a fixed order.
    pub fn bodies(&self) -> SmallVec<[&Body; 3]> {
        let mut all = SmallVec::new();
        let mut body = |_, body| all.push(body);
        walk!(self, [&], body, ignore);
        all
    }

    /// Lists its bodies with their roles, in that order.
    pub fn bodies_by_role(&self) -> SmallVec<[(BodyRole, &Body); 3]> {
        let mut all = SmallVec::new();
        let mut body = |role, body| all.push((role, body));
        walk!(self, [&], body, ignore);
        all
    }

    /// Calls a function with each of its bodies, in that order.
    pub(crate) fn each_body_mut(&mut self, mut each: impl FnMut(&mut Body)) {
        let mut body = |_, body: &mut Body| each(body);
        walk!(self, [&mut], body, ignore);
    }

    /// Lists its words for keys of graphs, without links and bodies.
    pub(crate) fn words(&self) -> SmallVec<[u64; 4]> {
        let mut words = smallvec![self.facts().code];
        let mut word = |word| words.push(word);
        let body = |_, _| {};
        walk!(self, [&], body, word);
        words
    }

    /// Tells whether its words are these.
    pub(crate) fn has_words(&self, words: &[u64]) -> bool {
        let mut left = words.iter();
        let mut same = true;
        let mut word = |word| same &= left.next() == Some(&word);
        word(self.facts().code);
        let body = |_, _| {};
        walk!(self, [&], body, word);
        same && left.next().is_none()
    }
}

impl FoldStyle {
    /// Returns the role of the step.
    fn role(&self) -> BodyRole {
        match self {
            FoldStyle::Associative | FoldStyle::First => BodyRole::Operator,
            FoldStyle::Sequential
            | FoldStyle::Aggregate(_)
            | FoldStyle::Exact(_)
            | FoldStyle::Dealt(_) => BodyRole::Step,
        }
    }

    fn code(&self) -> u64 {
        match self {
            FoldStyle::Associative => 0,
            FoldStyle::First => 1,
            FoldStyle::Sequential => 2,
            FoldStyle::Aggregate(_) => 3,
            FoldStyle::Exact(_) => 4,
            FoldStyle::Dealt(_) => 5,
        }
    }
}

impl ScanKind {
    fn code(self) -> u64 {
        u64::from(self == ScanKind::Inclusive)
    }
}
