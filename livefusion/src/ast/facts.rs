//! Facts of kinds: a table with one row for each [`Kind`].
//!
//! Passes read a row wherever a decision depends only on the kind. A row lists its differences from
//! [`PLAIN`], the safe row. A plain combinator needs all fields of all inputs, visits elements in
//! order, is computed once, and is never advanced by a zip.

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
    /// The length, as far as the kind determines it.
    pub length: AsLong,
    /// The fields of the inputs that are needed.
    pub consumes: Consumes,
    /// The first parameter of the last body that is a column. Later parameters are columns at their
    /// own positions among those of all inputs. None if no parameter is a column.
    pub columns: Option<u32>,
    /// Whether the last body's results are fields, each computed on demand.
    pub by_field: bool,
    /// Its use of segments, whose lengths are the first input.
    pub by_segments: BySegments,
    /// Whether it iterates over its inputs, so that no element is computed alone.
    pub passes_over: bool,
    /// Whether it passes on elements of the first input. Further inputs are tags.
    pub passes_on: bool,
    /// Whether each element depends on those before it.
    pub scans: bool,
    /// Whether its elements may end early. The loop then exits if it has no other work.
    pub ends: bool,
    /// Whether the first input is a base: in memory or a buffer before the other inputs have
    /// elements.
    pub has_base: bool,
    /// Whether it may run in a reversed loop, if none of its bodies may trap.
    pub any_order: bool,
    /// Whether a second phase may recompute it, if it advances no zip inputs.
    pub elementwise: bool,
    /// Whether a later loop may rematerialise it.
    pub remat: bool,
    /// The class that it defines for its consumers.
    pub makes: Makes,
    /// Whether it may be a co-consumer of a zip input: it can consume arrays of one class at their
    /// definition.
    pub runs_along: bool,
    /// The condition under which a zip advances it as an input.
    pub on_side: OnSide,
    /// The code size that it adds to its bodies.
    pub effort: Effort,
}

/// Orders the elements of a node in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sequence {
    /// Any element can be computed alone.
    Any,
    /// In lockstep with the inputs, one per element: a map, or names of fields.
    AsInputs,
    /// One after the other.
    Stream,
}

/// Tells the length of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AsLong {
    /// Known from memory, from a generator's length, or only by running it.
    Own,
    /// As long as the inputs, which are equally long.
    Inputs,
    /// As long as this input.
    Input(usize),
    /// As long as the base. Elements exist only after the loop.
    Base,
}

/// Selects the fields of the inputs that a node needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Consumes {
    /// All.
    All,
    /// None: its own fields are aliases of them.
    Names,
    /// Those of its own fields that are needed, and all tags.
    Own,
    /// Of each input, those of its own fields that are needed.
    Parts,
    /// The lengths of segments, and the columns that its body uses.
    Lengths,
    /// Only the number of elements.
    Number,
    /// The columns that its bodies use.
    Bodies,
}

/// Relates the elements of a node to segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BySegments {
    /// No segments.
    Never,
    /// It generates their elements.
    Makes,
    /// One element per element of the second input.
    Elements,
    /// One element per segment of the second input.
    Each,
}

impl BySegments {
    /// Tells whether the lengths partition data, the second input.
    pub fn cut(self) -> bool {
        matches!(self, BySegments::Elements | BySegments::Each)
    }

    /// Tells whether an input has an element for each segment.
    pub fn is_of_segments(self, input: usize) -> bool {
        match self {
            BySegments::Never => false,
            BySegments::Makes => true,
            BySegments::Elements | BySegments::Each => input == 0,
        }
    }
}

/// Selects the class that a node defines for its consumers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Makes {
    /// None.
    Nothing,
    /// The class of its elements.
    Elements,
    /// The class of its elements, if it advances zip inputs.
    OfSides,
    /// The class at which it runs.
    Tagged,
}

/// Says when a zip may advance a node as one of its inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnSide {
    /// Never.
    Never,
    /// If its length does not come from an array.
    Generated,
    /// In lockstep with its inputs. With zip inputs of its own, only at the cursor's own level.
    InStep,
    /// At the cursor's own level, not in segments that run before the cursor advances.
    AtLevel,
    /// As parts with cursors of their own.
    Parts,
    /// By a cursor over its elements, nested in a cursor over the segments.
    Elements,
    /// In segments that run before the cursor advances.
    Segments,
}

/// Measures the code that a node adds to its bodies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Loop-carried variables.
    pub carried: u32,
    /// Block scans.
    pub scans: u32,
    /// Tests and writes.
    pub effects: u32,
    /// Whether the numbers apply to each field.
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

/// The safe row, the default of the others.
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
    remat: false,
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

/// A combinator of inputs in lockstep: a map, or names.
const IN_STEP: Facts = Facts {
    order: Sequence::AsInputs,
    length: AsLong::Inputs,
    any_order: true,
    elementwise: true,
    runs_along: true,
    on_side: OnSide::InStep,
    ..PLAIN
};

/// A combinator that passes on some elements of its first input.
const SOME: Facts = Facts {
    consumes: Consumes::Own,
    passes_on: true,
    makes: Makes::Elements,
    effort: Effort::once(1, 1),
    ..PLAIN
};

/// A combinator that drops some elements of its first input.
const KEEPS: Facts = Facts {
    passes_over: true,
    elementwise: true,
    remat: true,
    runs_along: true,
    on_side: OnSide::InStep,
    ..SOME
};

/// A combinator that folds an array, or each segment.
const FOLDS: Facts = Facts {
    passes_over: true,
    effort: Effort::each_field(1, 0, 0),
    ..PLAIN
};

/// A combinator whose elements depend on those before them.
const SCANS: Facts = Facts {
    passes_over: true,
    scans: true,
    effort: Effort::each_field(0, 1, 0),
    ..PLAIN
};

/// A user-defined combinator.
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
            /// Returns the row of its kind.
            pub fn facts(&self) -> &'static Facts {
                match self {
                    $($kind => { const ROW: Facts = $row; &ROW })*
                }
            }
        }

        impl Facts {
            /// Lists the rows of all kinds.
            pub const ALL: &[Facts] = &[$($row),*];
        }
    };
}

table! {
    Kind::Manifest => Facts { name: "manifest", code: 0, any_order: true, ..AT_ONCE };
    Kind::Input(_) => Facts { name: "input", code: 1, any_order: true, ..AT_ONCE };
    Kind::Generate(..) => Facts {
        name: "generate", code: 2, by_field: true, any_order: true, elementwise: true, remat: true,
        on_side: OnSide::Generated, ..AT_ONCE
    };
    Kind::Map(_) => Facts {
        name: "map", code: 3, consumes: Consumes::Bodies, columns: Some(0), by_field: true,
        remat: true, makes: Makes::OfSides, ..IN_STEP
    };
    Kind::Zip => Facts { name: "zip", code: 4, consumes: Consumes::Names, makes: Makes::OfSides, ..IN_STEP };
    Kind::ZipShortest => Facts {
        name: "zip_shortest", code: 22, consumes: Consumes::Own, makes: Makes::Elements,
        on_side: OnSide::AtLevel, ..PLAIN
    };
    // For each of two inputs it carries whether the next element is demanded, or its position.
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
        by_segments: BySegments::Makes, any_order: true, remat: true, on_side: OnSide::Elements, ..PLAIN
    };
    Kind::FoldS(_) => Facts {
        name: "fold_s", code: 15, length: AsLong::Input(0), by_segments: BySegments::Each,
        on_side: OnSide::Segments, ..FOLDS
    };
    Kind::ScanS(..) => Facts {
        name: "scan_s", code: 16, length: AsLong::Input(1), by_segments: BySegments::Elements,
        on_side: OnSide::Elements, ..SCANS
    };
    // For each field it writes and reads a buffer for one segment.
    Kind::SortS(_) => Facts {
        name: "sort_s", code: 25, length: AsLong::Input(1), by_segments: BySegments::Elements,
        passes_over: true,
        effort: Effort::each_field(0, 0, 2), ..PLAIN
    };
    Kind::MoveS(_) => Facts {
        name: "move_s", code: 26, length: AsLong::Input(1), by_segments: BySegments::Elements,
        any_order: true, passes_over: true, ..PLAIN
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

    /// Tells whether a node over these inputs computes its elements in order.
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
        // A user-defined combinator has a row per kind of output.
        assert_eq!(codes.len() + 2, Facts::ALL.len());
        assert!(all.iter().copied().eq(0..codes.len() as u64), "{codes:?}");
    }
}
