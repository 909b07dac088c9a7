//! Faults in the Loop language and in the backends.

use super::Fault;

/// Faults below lowering, by file path from the workspace root. The language's test files, random
/// loops and mutants catch them.
pub(super) const BELOW: &[Fault] = &[
    Fault {
        what: "a side of a zip is found again before the last element that was used",
        file: "backends/c/src/emit/tile/zip.rs",
        sound: "lf_taken_{k} = lf_first_{k};\"));",
        faulty: "lf_taken_{k} = lf_first_{k} - 1;\"));",
    },
    Fault {
        what: "C takes the literal of a word for a condition",
        file: "tile/src/region/case.rs",
        sound: "Atom::Const(c) => (c.ty == Ty::Bool).then_some(c.bits != 0),",
        faulty: "Atom::Const(c) => Some(c.bits & 1 != 0),",
    },
    Fault {
        what: "a later phase deals lanes by the first one's counter",
        file: "backends/api/src/facts.rs",
        sound: "self.steps.at(g, rate)",
        faulty: "self.steps.at(g, RateId::new(0)).or(self.steps.at(g, rate))",
    },
    Fault {
        what: "a subrate's count may be another rate's",
        file: "loop-lang/src/verify/groups.rs",
        sound: "Some(g) if !self.counts_at(g, RateId::new(i)) => {",
        faulty: "Some(g) if false && !self.counts_at(g, RateId::new(i)) => {",
    },
    Fault {
        what: "a cursor in a cursor goes around it",
        file: "loop-lang/src/verify/flow.rs",
        sound: "if rate == cursor && section == Section::Guard {",
        faulty: "if view.below(cursor, rate) && section == Section::Guard {",
    },
    Fault {
        what: "a cursor in a cursor counts for it",
        file: "loop-lang/src/verify/groups.rs",
        sound: "view.tree.loop_rate(rate) == id && section != Section::Nest",
        faulty: "view.below(rate, id) && section != Section::Nest",
    },
    Fault {
        what: "what a cursor's end changes is as it was before",
        file: "loop-lang/src/passes/context.rs",
        sound: "} => (tree.loop_rate(rate), When::Passing),",
        faulty: "} if rate.index() == usize::MAX => (tree.loop_rate(rate), When::Passing),",
    },
    Fault {
        what: "a loop's guard may let turns pass by",
        file: "loop-lang/src/verify/flow.rs",
        sound: "} else if self.enters_without_a_step(place, to) {",
        faulty: "} else if false && self.enters_without_a_step(place, to) {",
    },
    Fault {
        what: "C looks for what an inner loop defines behind it",
        file: "tile/src/region/nest.rs",
        sound: "if outer.scalars.iter().any(|v| inside.contains(v)) {",
        faulty: "if false && outer.scalars.iter().any(|v| inside.contains(v)) {",
    },
    Fault {
        what: "in a network the first column has no part in the order",
        file: "backends/c/src/emit/sort.rs",
        sound: "let columns = (0..types.len()).rev();",
        faulty: "let columns = (1..types.len()).rev();",
    },
    Fault {
        what: "the third column that is sorted has no part in the order",
        file: "backends/api/src/sort.rs",
        sound: ".find(|order| order.is_ne())",
        faulty: ".take(2).find(|order| order.is_ne())",
    },
    Fault {
        what: "what is scratch may be a result",
        file: "loop-lang/src/verify/placement.rs",
        sound: "walk::leaving(placed.block, &mut used);",
        faulty: "",
    },
    Fault {
        what: "anything may be sorted",
        file: "loop-lang/src/verify/types.rs",
        sound: "self.add(format!(\"`{name}` is sorted, and not of unsigned integers\"));",
        faulty: "let _ = name;",
    },
];
