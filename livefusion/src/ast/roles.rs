//! The bodies of a kind, each with its role, and its words in keys: one walk for all visitors.

use super::{Body, FoldStyle, Kind, Len, ScanKind};
use smallvec::{SmallVec, smallvec};

/// Says what a body of a kind is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BodyRole {
    /// Makes or tests an element, or joins it with a place of a base.
    Element,
    /// Gives the length of a generator.
    Length,
    /// Gives the number of elements to take.
    Number,
    /// Gives the first state of a fold.
    Start,
    /// Takes an element into a fold's state.
    Step,
    /// Joins two values of one type: elements of a fold, or of a place.
    Operator,
    /// Joins the states of parts.
    Join,
}

impl BodyRole {
    /// Tells whether the body runs for elements, not before a loop.
    pub fn runs_for_elements(self) -> bool {
        !matches!(self, BodyRole::Length | BodyRole::Number | BodyRole::Start)
    }

    /// Tells whether the body becomes a combine function. Those see nothing but their parameters.
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

/// A list that has few elements.
type Few<T> = SmallVec<[T; 3]>;

/// The bodies of a kind with their roles, as references of this form, in a fixed order; then the words of its payload.
macro_rules! parts_of {
    ($kind:expr, $($by:tt)+) => {{
        let none = Few::<u64>::new();
        match $kind {
            Kind::Generate(Len::Known(_), b) => (smallvec![(BodyRole::Element, b)], smallvec![0]),
            Kind::Generate(Len::Delayed(_), b) => (smallvec![(BodyRole::Element, b)], smallvec![1]),
            Kind::Generate(Len::Checked(l), b) => {
                (smallvec![(BodyRole::Length, $($by)+ **l), (BodyRole::Element, b)], smallvec![2])
            }
            Kind::Map(b) | Kind::Filter(b) | Kind::Expand(b) | Kind::Merge(b) | Kind::Compute(b) => {
                (smallvec![(BodyRole::Element, b)], none)
            }
            Kind::TakeWhile { test, inclusive } => {
                (smallvec![(BodyRole::Element, test)], smallvec![u64::from(*inclusive)])
            }
            Kind::Take(b) => (smallvec![(BodyRole::Number, b)], none),
            Kind::Fold(f) | Kind::FoldS(f) => {
                let style = f.style.code();
                (fold_of!(f, $($by)+), smallvec![style])
            }
            Kind::Scan(f, kind) | Kind::ScanS(f, kind) => {
                let style = f.style.code();
                (fold_of!(f, $($by)+), smallvec![style, kind.code()])
            }
            Kind::Scatter(None, places) => (smallvec![], smallvec![0, *places as u64]),
            Kind::Scatter(Some(b), places) => {
                (smallvec![(BodyRole::Operator, b)], smallvec![1, *places as u64])
            }
            Kind::ScanByIndex(b, kind, places) => {
                (smallvec![(BodyRole::Element, b)], smallvec![kind.code(), *places as u64])
            }
            Kind::SortS(sorted) => (smallvec![], smallvec![*sorted as u64]),
            Kind::Fields(range) => {
                (smallvec![], smallvec![u64::from(range.start), u64::from(range.end)])
            }
            Kind::Input(input) => {
                (smallvec![], smallvec![u64::from(input.number), u64::from(input.consumed)])
            }
            Kind::Manifest
            | Kind::Zip
            | Kind::ZipShortest
            | Kind::Pack
            | Kind::ScanTotal
            | Kind::CountS
            | Kind::Append
            | Kind::Custom(_)
            | Kind::Len => (smallvec![], none),
        }
    }};
}

/// The bodies of a fold.
macro_rules! fold_of {
    ($fold:expr, $($by:tt)+) => {{
        let fold = $($by)+ **$fold;
        match $($by)+ fold.style {
            FoldStyle::Associative | FoldStyle::First => {
                smallvec![(BodyRole::Start, $($by)+ fold.start), (BodyRole::Operator, $($by)+ fold.step)]
            }
            FoldStyle::Sequential => {
                smallvec![(BodyRole::Start, $($by)+ fold.start), (BodyRole::Step, $($by)+ fold.step)]
            }
            FoldStyle::Aggregate(join) | FoldStyle::Exact(join) | FoldStyle::Dealt(join) => {
                smallvec![
                    (BodyRole::Start, $($by)+ fold.start),
                    (BodyRole::Step, $($by)+ fold.step),
                    (BodyRole::Join, join)
                ]
            }
        }
    }};
}

impl Kind {
    /// Gives its bodies, in a fixed order.
    pub fn bodies(&self) -> SmallVec<[&Body; 3]> {
        let all = self.bodies_by_role().into_iter();
        all.map(|(_, body)| body).collect()
    }

    /// Gives its bodies with their roles, in that order.
    pub fn bodies_by_role(&self) -> SmallVec<[(BodyRole, &Body); 3]> {
        let (bodies, _): (Few<(BodyRole, &Body)>, Few<u64>) = parts_of!(self, &);
        bodies
    }

    /// Gives its bodies to be changed, in that order.
    pub fn bodies_mut(&mut self) -> SmallVec<[&mut Body; 3]> {
        let (bodies, _): (Few<(BodyRole, &mut Body)>, Few<u64>) = parts_of!(self, &mut);
        bodies.into_iter().map(|(_, body)| body).collect()
    }

    /// Gives its words in keys of graphs, beside links and bodies.
    ///
    /// Combinators of users have keys of their own.
    pub(crate) fn words(&self) -> SmallVec<[u64; 4]> {
        let (_, words): (Few<(BodyRole, &Body)>, Few<u64>) = parts_of!(self, &);
        std::iter::once(self.facts().code).chain(words).collect()
    }
}

impl FoldStyle {
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
