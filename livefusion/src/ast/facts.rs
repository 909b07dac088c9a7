//! Facts of kinds: a table with one row for each [`Kind`].
//!
//! Passes read a row wherever a decision depends on nothing but the kind. A row names its differences from [`PLAIN`], the
//! safe row: such a combinator needs all fields of all inputs, goes by the order of its elements, is computed once, and is
//! never advanced by a zip.

use super::{Custom, Kind, Node};
use crate::custom::Output;
use std::sync::Arc;

/// Describes all nodes of a kind.
#[derive(Debug)]
pub struct Facts {
    /// The kind's name.
    pub name: &'static str,
    /// The kind's number in keys of graphs.
    pub code: u64,
    /// The order in which elements are made.
    pub order: Sequence,
    /// The length, as far as the kind tells.
    pub length: AsLong,
    /// The fields of the inputs that it needs.
    pub consumes: Consumes,
    /// The first parameter of the last body that is a column. Each later one is the column at its own position among those
    /// of all inputs. None if no parameter is a column.
    pub columns: Option<u32>,
    /// Whether the last body gives fields, each computed on demand.
    pub by_field: bool,
    /// The way it goes by segments, whose lengths are the first input.
    pub by_segments: BySegments,
    /// Whether it passes over its inputs: no element is computed alone.
    pub passes_over: bool,
    /// Whether it hands on elements of the first input. Further inputs are tags.
    pub passes_on: bool,
    /// Whether it joins each element with those before it.
    pub scans: bool,
    /// Whether its elements end early, and with them the loop if nothing else goes on.
    pub ends: bool,
    /// Whether the first input is a base: in memory, or a buffer, before the others have elements.
    pub has_base: bool,
    /// Whether it may run against its loop, if none of its bodies may trap.
    pub any_order: bool,
    /// Whether a second phase may compute it once more, if it advances no sides.
    pub elementwise: bool,
    /// Whether a later loop may compute it again.
    pub again: bool,
    /// The class that it makes of others.
    pub makes: Makes,
    /// Whether it may be a guest of a zip's side: it consumes arrays of one class wherever these are made.
    pub runs_along: bool,
    /// The condition under which a zip advances it on a side.
    pub on_side: OnSide,
    /// The code that it adds to that of its bodies.
    pub effort: Effort,
}

/// Orders the elements of a node in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sequence {
    /// Any element can be computed alone.
    Any,
    /// In step with the inputs, one for each of their elements: a map, or names of fields.
    AsInputs,
    /// One after the other.
    Stream,
}

/// Tells the length of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AsLong {
    /// Memory tells, or a generator's length, or a run.
    Own,
    /// As long as the inputs, which are equally long.
    Inputs,
    /// As long as this input.
    Input(usize),
    /// As long as the base. Elements are there behind the loop only.
    Base,
}

/// Selects the fields of the inputs that a node needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Consumes {
    /// All.
    All,
    /// None: its own fields are other names for them.
    Names,
    /// Those of its own fields that are needed, and all tags.
    Own,
    /// Of each input, those of its own fields that are needed.
    Parts,
    /// The lengths of segments, and columns that its body uses.
    Lengths,
    /// None, but the number of elements.
    Number,
    /// Columns that its bodies use.
    Bodies,
}

/// Relates the elements of a node to segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BySegments {
    /// There are no segments.
    Never,
    /// It makes their elements.
    Makes,
    /// It has an element for each element of the second input.
    Elements,
    /// It has an element for each segment of the second input.
    Each,
}

impl BySegments {
    /// Tells whether the lengths cut data, the second input.
    pub fn cut(self) -> bool {
        matches!(self, BySegments::Elements | BySegments::Each)
    }
}

/// Selects the class that a node makes, for consumers at that class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Makes {
    /// None.
    Nothing,
    /// The class of its elements.
    Elements,
    /// The class of its elements, if it advances sides.
    OfSides,
    /// The class at which it runs.
    Tagged,
}

/// Says when a zip may advance a node on one of its sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnSide {
    /// Never.
    Never,
    /// If no array gives it its length.
    Generated,
    /// In step with its inputs; with sides of its own, at the level of a cursor.
    InStep,
    /// At the level of a cursor, and not within the segments before it.
    AtLevel,
    /// As parts with cursors of their own.
    Parts,
    /// By a cursor over its elements, within one over the segments.
    Elements,
    /// Where its segments are run over before a cursor goes on.
    Segments,
}

/// Measures the code that a node adds to that of its bodies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Carried variables.
    pub carried: u32,
    /// Scans of blocks.
    pub scans: u32,
    /// Tests and writes.
    pub effects: u32,
    /// Whether these are for each field.
    pub each_field: bool,
}

impl Effort {
    const NONE: Effort = Effort::once(0, 0);

    const fn once(carried: u32, effects: u32) -> Effort {
        Effort {
            carried,
            scans: 0,
            effects,
            each_field: false,
        }
    }

    const fn each_field(carried: u32, scans: u32, effects: u32) -> Effort {
        Effort {
            carried,
            scans,
            effects,
            each_field: true,
        }
    }
}

/// The safe row, from which others differ.
const PLAIN: Facts = Facts {
    name: "",
    code: 0,
    order: Sequence::Stream,
    length: AsLong::Own,
    consumes: Consumes::All,
    columns: None,
    by_field: false,
    by_segments: BySegments::Never,
    passes_over: false,
    passes_on: false,
    scans: false,
    ends: false,
    has_base: false,
    any_order: false,
    elementwise: false,
    again: false,
    makes: Makes::Nothing,
    runs_along: false,
    on_side: OnSide::Never,
    effort: Effort::NONE,
};

/// A scalar, or an array with random access.
const AT_ONCE: Facts = Facts {
    order: Sequence::Any,
    consumes: Consumes::Bodies,
    ..PLAIN
};

/// A combinator of inputs in step: a map, or names.
const IN_STEP: Facts = Facts {
    order: Sequence::AsInputs,
    length: AsLong::Inputs,
    any_order: true,
    elementwise: true,
    runs_along: true,
    on_side: OnSide::InStep,
    ..PLAIN
};

/// A combinator that passes some of its first input's elements on.
const SOME: Facts = Facts {
    consumes: Consumes::Own,
    passes_on: true,
    makes: Makes::Elements,
    effort: Effort::once(1, 1),
    ..PLAIN
};

/// A combinator that leaves some elements of its first input out.
const KEEPS: Facts = Facts {
    passes_over: true,
    elementwise: true,
    again: true,
    runs_along: true,
    on_side: OnSide::InStep,
    ..SOME
};

/// A combinator that joins all elements of an array, or of each segment.
const FOLDS: Facts = Facts {
    passes_over: true,
    effort: Effort::each_field(1, 0, 0),
    ..PLAIN
};

/// A combinator that joins each element with those before it.
const SCANS: Facts = Facts {
    passes_over: true,
    scans: true,
    effort: Effort::each_field(0, 1, 0),
    ..PLAIN
};

/// A combinator of a user's.
const CUSTOM: Facts = Facts {
    name: "custom",
    code: 19,
    passes_over: true,
    effort: Effort::once(1, 1),
    ..PLAIN
};

macro_rules! table {
    ($($kind:pat => $row:expr;)*) => {
        impl Kind {
            /// Gives the row of its kind.
            pub fn facts(&self) -> &'static Facts {
                match self {
                    $($kind => { const ROW: Facts = $row; &ROW })*
                }
            }
        }

        impl Facts {
            /// The rows of all kinds.
            pub const ALL: &[Facts] = &[$($row),*];
        }
    };
}

table! {
    Kind::Manifest => Facts { name: "manifest", code: 0, any_order: true, ..AT_ONCE };
    Kind::Input(_) => Facts { name: "input", code: 1, any_order: true, ..AT_ONCE };
    Kind::Generate(..) => Facts {
        name: "generate", code: 2, by_field: true, any_order: true, elementwise: true, again: true,
        on_side: OnSide::Generated, ..AT_ONCE
    };
    Kind::Map(_) => Facts {
        name: "map", code: 3, consumes: Consumes::Bodies, columns: Some(0), by_field: true,
        again: true, makes: Makes::OfSides, ..IN_STEP
    };
    Kind::Zip => Facts { name: "zip", code: 4, consumes: Consumes::Names, makes: Makes::OfSides, ..IN_STEP };
    Kind::ZipShortest => Facts {
        name: "zip_shortest", code: 22, consumes: Consumes::Own, makes: Makes::Elements,
        on_side: OnSide::AtLevel, ..PLAIN
    };
    // Of each of two inputs it carries whether a next element is asked for, or where that is.
    Kind::Merge(_) => Facts {
        name: "merge", code: 23, consumes: Consumes::Bodies, columns: Some(0), passes_over: true,
        makes: Makes::Elements, on_side: OnSide::AtLevel, effort: Effort::once(2, 0), ..PLAIN
    };
    Kind::Fields(_) => Facts { name: "fields", code: 5, consumes: Consumes::Names, ..IN_STEP };
    Kind::Filter(_) => Facts { name: "filter", code: 6, columns: Some(0), ..KEEPS };
    Kind::Pack => Facts { name: "pack", code: 7, ..KEEPS };
    Kind::Fold(_) => Facts { name: "fold", code: 8, order: Sequence::Any, runs_along: true, ..FOLDS };
    Kind::Scan(..) => Facts {
        name: "scan", code: 9, length: AsLong::Inputs, runs_along: true, on_side: OnSide::InStep, ..SCANS
    };
    Kind::ScanTotal => Facts {
        name: "scan total", code: 10, order: Sequence::Any, passes_over: true, runs_along: true, ..PLAIN
    };
    Kind::Expand(_) => Facts {
        name: "expand", code: 14, consumes: Consumes::Lengths, columns: Some(1), by_field: true,
        by_segments: BySegments::Makes, again: true, on_side: OnSide::Elements, ..PLAIN
    };
    Kind::FoldS(_) => Facts {
        name: "fold_s", code: 15, length: AsLong::Input(0), by_segments: BySegments::Each,
        on_side: OnSide::Segments, ..FOLDS
    };
    Kind::ScanS(..) => Facts {
        name: "scan_s", code: 16, length: AsLong::Input(1), by_segments: BySegments::Elements,
        on_side: OnSide::Elements, ..SCANS
    };
    // Of each field it writes and reads room for a segment.
    Kind::SortS(_) => Facts {
        name: "sort_s", code: 25, length: AsLong::Input(1), by_segments: BySegments::Elements,
        passes_over: true,
        effort: Effort::each_field(0, 0, 2), ..PLAIN
    };
    Kind::CountS => Facts {
        name: "count_s", code: 17, length: AsLong::Input(0), by_segments: BySegments::Each,
        makes: Makes::Tagged,
        on_side: OnSide::Segments, effort: Effort::once(1, 1), ..FOLDS
    };
    Kind::TakeWhile { .. } => Facts {
        name: "take_while", code: 18, columns: Some(0), passes_over: true, ends: true,
        on_side: OnSide::AtLevel, ..SOME
    };
    Kind::Take(_) => Facts { name: "take", code: 20, ends: true, on_side: OnSide::AtLevel, ..SOME };
    Kind::Append => Facts {
        name: "append", code: 21, consumes: Consumes::Parts, makes: Makes::Elements, on_side: OnSide::Parts,
        effort: Effort::once(1, 1), ..PLAIN
    };
    Kind::Scatter(..) => Facts {
        name: "scatter", code: 11, order: Sequence::Any, length: AsLong::Base, passes_over: true,
        has_base: true,
        effort: Effort::each_field(0, 0, 1), ..PLAIN
    };
    Kind::ScanByIndex(..) => Facts {
        name: "scan by index", code: 24, length: AsLong::Input(1), has_base: true,
        effort: Effort::each_field(0, 1, 1), ..SCANS
    };
    Kind::Custom(Custom { output: Output::InStep(_), .. }) => Facts { length: AsLong::Input(0), ..CUSTOM };
    Kind::Custom(Custom { output: Output::Some(_), .. }) => Facts { makes: Makes::Elements, ..CUSTOM };
    Kind::Custom(Custom { output: Output::Scalar(_), .. }) => CUSTOM;
    Kind::Compute(_) => Facts { name: "compute", code: 12, by_field: true, ..AT_ONCE };
    Kind::Len => Facts {
        name: "len", code: 13, order: Sequence::Any, consumes: Consumes::Number, any_order: true,
        runs_along: true, ..PLAIN
    };
}

impl Facts {
    /// Tells whether a combinator is a map, or names its inputs' fields.
    pub fn in_step(&self) -> bool {
        self.order == Sequence::AsInputs
    }

    /// Tells whether a combinator only names its inputs' fields.
    pub fn names(&self) -> bool {
        self.consumes == Consumes::Names
    }

    /// Tells whether a node over these inputs makes elements in order.
    pub(crate) fn is_stream(&self, inputs: &[Arc<Node>]) -> bool {
        match self.order {
            Sequence::Any => false,
            Sequence::AsInputs => inputs.iter().any(|i| i.comes_in_order()),
            Sequence::Stream => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn kinds_have_names_and_codes_of_their_own() {
        let rows = Facts::ALL.iter();
        let codes: BTreeMap<&str, u64> = rows.map(|row| (row.name, row.code)).collect();
        let mut all: Vec<u64> = codes.values().copied().collect();
        all.sort_unstable();
        // A combinator of a user's has a row for each output.
        assert_eq!(codes.len() + 2, Facts::ALL.len());
        assert!(all.iter().copied().eq(0..codes.len() as u64), "{codes:?}");
    }
}
