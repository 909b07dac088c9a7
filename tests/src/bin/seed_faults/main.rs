//! Seeds faults into lowering (and what feeds it) and below it, one at a time, in a copy of the workspace, and
//! shows that the tests catch each: `cargo run -p livefusion-tests --bin seed_faults [name...]`.

mod tile;

use std::fs;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

/// A fault: what it breaks, where, what is there, and what is put in its place.
struct Fault {
    what: &'static str,
    file: &'static str,
    sound: &'static str,
    faulty: &'static str,
}

/// Faults below lowering, by their files from the workspace's root: the language's files, random loops and mutants catch these.
const BELOW: &[Fault] = &[
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
];

const FAULTS: &[Fault] = &[
    Fault {
        what: "what a rate runs over is as long as it, whoever made them one class",
        file: "lower/mod.rs",
        sound: "lengths::check_all(&mut p);",
        faulty: "",
    },
    Fault {
        what: "a fold forgets its starting value",
        file: "lower/fold.rs",
        sound: "let start = self.start.get(field).copied().unwrap_or(identity);",
        faulty: "let start = identity;",
    },
    Fault {
        what: "a take takes one more",
        file: "lower/take_while.rs",
        sound: "let few = e.emit(comb, Section::Guard, \"few\", Op::Lt, &[count, n]);",
        faulty: "let few = e.emit(comb, Section::Guard, \"few\", Op::Le, &[count, n]);",
    },
    Fault {
        what: "what is carried goes on in the next phase",
        file: "lower/emission/phases.rs",
        sound: "let known = act.and_then(|act| self.shared.carried.get(&act).copied());",
        faulty: "let known: Option<Var> = None;",
    },
    Fault {
        what: "a part of an append is behind those before it",
        file: "lower/emission/phases.rs",
        sound: "before.retain(|r| self.placed.tree.root_of(*r) < root);",
        faulty: "before.retain(|r| self.placed.tree.root_of(*r) > root);",
    },
    Fault {
        what: "phases that read an append from memory are parts of it",
        file: "lower/emission/phases.rs",
        sound: "all.filter(move |rate| self.is_appended(class, *rate))",
        faulty: "all.filter(move |rate| rate.index() < usize::MAX)",
    },
    Fault {
        what: "whoever runs in each phase counts its elements for the others",
        file: "lower/emission/phases.rs",
        sound: ".filter(|r| self.placed.outlasts(rates, **r, rate));",
        faulty: ".filter(|_| true);",
    },
    Fault {
        what: "whatever a phase runs over is as long as what the first one does",
        file: "lower/lengths.rs",
        sound: "if class.is_none_or(|class| *firsts.entry(class).or_insert(rate) == rate) {",
        faulty: "if class.is_none_or(|class| *firsts.entry(class).or_insert(rate) <= rate) {",
    },
    Fault {
        what: "what is decided where something lives is decided around it",
        file: "lower/placement/mod.rs",
        sound: "if from.is_some_and(|from| *from < before) {",
        faulty: "if from.is_some() {",
    },
    Fault {
        what: "a segment that nobody asks for any more has an element",
        file: "lower/take_while.rs",
        sound: "e.trap_after(fold, TrapKind::Empty, &[seen, left]);",
        faulty: "e.trap_after(fold, TrapKind::Empty, &[seen]);",
    },
    Fault {
        what: "a zip that a later loop consumes ends with this one",
        file: "fusion/cluster/schedule.rs",
        sound: "} else if let Kind::Zip = node.node.kind {",
        faulty: "} else if let Kind::Len = node.node.kind {",
    },
    Fault {
        what: "tags decide over nothing",
        file: "fusion/rates.rs",
        sound: "ClassKind::Sub(_, Selector::Tags(tags)) => Some(tags),",
        faulty: "ClassKind::Sub(_, Selector::Tags(_)) => None,",
    },
    Fault {
        what: "a segment goes on in the next phase",
        file: "lower/fold.rs",
        sound: "self.carried.is_segmented(e) || e.is_last(class, self.carried.rate)",
        faulty: "e.is_last(class, self.carried.rate)",
    },
    Fault {
        what: "what counts tags has one for each that is true",
        file: "fusion/rates.rs",
        sound: "Kind::CountS => self.runs_at(n).and_then(|c| self.parent(c)),",
        faulty: "Kind::CountS => self.runs_at(n),",
    },
    Fault {
        what: "a phase has the lengths of its segments",
        file: "fusion/phases.rs",
        sound: "let in_first = behind(graph, in_first, here, above);",
        faulty: "let in_first: FxHashSet<NodeId> = in_first.into_iter().collect();",
    },
    Fault {
        what: "a part that goes by the elements of an earlier one carries nothing",
        file: "fusion/phases.rs",
        sound: "let again = family == Some(adding.family) && parts.iter().all(is_elementwise);",
        faulty: "let again = family == Some(adding.family);",
    },
    Fault {
        what: "a scalar is captured where an earlier phase has folded it",
        file: "fusion/phases.rs",
        sound: "order.is_some_and(|(root, other)| root < other)",
        faulty: "order.is_some_and(|(root, other)| root <= other)",
    },
    Fault {
        what: "what is left early must have visited all",
        file: "lower/lengths.rs",
        sound: "let all = take_while::or_left(e, comb, rate, all.into());",
        faulty: "let all = Atom::from(all);",
    },
    Fault {
        what: "a part that ends does not leave its loop",
        file: "lower/take_while.rs",
        sound: "group.iter().copied().filter(|id| !is_around(id)).collect()",
        faulty: "group.iter().copied().filter(|id| !is_around(id) || true).collect()",
    },
    Fault {
        what: "what runs for an exit alone is as long in need as the others",
        file: "lower/placement/exits/asked.rs",
        sound: "(Needed::Always, Some(class)) => Needed::While(smallvec![class]),",
        faulty: "(Needed::Always, Some(class)) if class.to_string().is_empty() => Needed::While(smallvec![class]),",
    },
    Fault {
        what: "what exits share with others runs as long as any of them does",
        file: "lower/placement/exits/apart.rs",
        sound: "if !self.sets.contains(&new) { self.sets.push(new); }",
        faulty: "match self.sets.iter_mut().find(|s| s.iter().any(|c| new.contains(c))) { Some(s) => s.extend(new), None => self.sets.push(new) }",
    },
    Fault {
        what: "who asks for less decides how long something is needed",
        file: "lower/placement/exits/asked.rs",
        sound: "(_, Needed::Always) | (Needed::Never, _) => *self = other.clone(),",
        faulty: "(Needed::While(_), Needed::Always) => {} (_, Needed::Always) | (Needed::Never, _) => *self = other.clone(),",
    },
    Fault {
        what: "a side's scan of segments goes on with the next segment",
        file: "lower/cursor.rs",
        sound: "for (var, start) in e.values.anew.remove(&elements).unwrap_or_default() {",
        faulty: "for (var, start) in e.values.anew.remove(&elements).unwrap_or_default().into_iter().take(0) {",
    },
    Fault {
        what: "a side delivers empty segments",
        file: "lower/cursor.rs",
        sound: "e.emit(comb, Section::Guard, \"some\", Op::Gt,",
        faulty: "e.emit(comb, Section::Guard, \"some\", Op::Ge,",
    },
    Fault {
        what: "a zip may wait for what runs along with its sides",
        file: "fusion/sides/guests.rs",
        sound: "!may_end && !self.waits(graph, rates, twins, zip)",
        faulty: "!may_end",
    },
    Fault {
        what: "guests run along with a zip that may be left early",
        file: "fusion/sides/guests.rs",
        sound: "!may_end && !self.waits(graph, rates, twins, zip)",
        faulty: "!self.waits(graph, rates, twins, zip)",
    },
    Fault {
        what: "guests use what is behind an end on a side",
        file: "fusion/sides/guests.rs",
        sound: "captured || !used.iter().all(has)",
        faulty: "captured",
    },
    Fault {
        what: "results are below a side that ends apart",
        file: "fusion/sides/guests.rs",
        sound: "let shared_inside = inside.is_shared || inside.has_twins(rates);",
        faulty: "let shared_inside = inside.has_twins(rates);",
    },
    Fault {
        what: "guests are of several classes",
        file: "fusion/sides/guests.rs",
        sound: "if one.is_some_and(|one| one != class) { return None; }",
        faulty: "",
    },
    Fault {
        what: "a later part of an append on a side does not wait",
        file: "lower/append.rs",
        sound: "e.exit(comb, over.into());",
        faulty: "",
    },
    Fault {
        what: "an append on a side counts its attempts",
        file: "lower/cursor.rs",
        sound: "p.placed.tree.put_children_first(attempts);",
        faulty: "",
    },
    Fault {
        what: "what is beside an append on a side has any length",
        file: "lower/lengths.rs",
        sound: "if opening.is_counted() || is_part {",
        faulty: "if opening.is_sub() || is_part {",
    },
    Fault {
        what: "a zip has of one side what another is made of",
        file: "fusion/sides.rs",
        sound: "others.any(|(maker, _)| collecting.seen.contains(&maker))",
        faulty: "others.any(|_| false)",
    },
    Fault {
        what: "what runs against its loop is written from the front",
        file: "lower/emission/elements.rs",
        sound: "let mirrored = self.scope.runs_against(field.0) && self.scope.is_made_once(field.0);",
        faulty: "let mirrored = false;",
    },
    Fault {
        what: "a mirror reads memory forwards",
        file: "lower/scope.rs",
        sound: "mirrored: !self.runs_against(id) && !self.is_made_once(field.0),",
        faulty: "mirrored: self.runs_against(field.0) && !self.is_made_once(field.0),",
    },
    Fault {
        what: "a scan may run against another",
        file: "fusion/mirror.rs",
        sound: "!(same && other)",
        faulty: "!(same && other) || true",
    },
    Fault {
        what: "fold1 does not mind an empty array",
        file: "lower/fold.rs",
        sound: "self.check_nonempty(e);",
        faulty: "",
    },
    Fault {
        what: "a lifted fold does not join its starting value",
        file: "lower/fold.rs",
        sound: "_ => (true, self.start.clone(), zeros),",
        faulty: "_ => (false, self.start.clone(), zeros),",
    },
    Fault {
        what: "a subrate's accumulators are updated for rejected elements",
        file: "lower/emission/rates.rs",
        sound: "RateKind::Sub { .. } | RateKind::Cursor { .. } => Section::Yield,",
        faulty: "RateKind::Sub { .. } | RateKind::Cursor { .. } => Section::Bottom,",
    },
    Fault {
        what: "exclusive and inclusive scans are exchanged",
        file: "lower/scan.rs",
        sound: "if kind == ScanKind::Exclusive",
        faulty: "if kind == ScanKind::Inclusive",
    },
    Fault {
        what: "the identity of float products is 0",
        file: "../../loop-lang/src/op/mod.rs",
        sound: "(Unit::One, Ty::F64) => Const::f64(1.0),",
        faulty: "(Unit::One, Ty::F64) => Const::f64(0.0),",
    },
    Fault {
        what: "the identity of float minima is not what they ignore",
        file: "../../loop-lang/src/op/mod.rs",
        sound: "(Unit::Greatest | Unit::Least, Ty::F32) => Const::f32(f32::NAN),",
        faulty: "(Unit::Greatest | Unit::Least, Ty::F32) => Const::f32(0.0),",
    },
    Fault {
        what: "a combine function takes its right side for its left",
        file: "lower/operators.rs",
        sound: "let args: Vec<Atom> = left.iter().chain(&right)",
        faulty: "let args: Vec<Atom> = right.iter().chain(&left)",
    },
    Fault {
        what: "a side of zip_shortest that ends is asked again",
        file: "lower/emission/blocks.rs",
        sound: "_ => sides::end_apart(self.scope.graph, s.zip),",
        faulty: "_ => false,",
    },
    Fault {
        what: "an append on a side goes on behind its last part",
        file: "lower/emission/blocks.rs",
        sound: "Kind::Append => s.side + 1 == sides.len(),",
        faulty: "Kind::Append => false,",
    },
    Fault {
        what: "guests run along with sides that end apart",
        file: "fusion/sides/guests.rs",
        sound: "if end_apart(graph, zip) { return false; }",
        faulty: "",
    },
    Fault {
        what: "zip_shortest attempts more than there is in memory",
        file: "lower/cursor.rs",
        sound: "if apart { 0 } else { 1 }",
        faulty: "if apart { 1 } else { 1 }",
    },
    Fault {
        what: "a merge asks a side for its next element whether one was taken or not",
        file: "lower/merge.rs",
        sound: "e.exit(comb, need.into());",
        faulty: "e.exit(comb, yes);",
    },
    Fault {
        what: "a merge goes on where lengths do not fit",
        file: "lower/merge.rs",
        sound: "any = e.emit(comb, Section::Body, \"all\", Op::And, &both).into();",
        faulty: "let _ = both;",
    },
    Fault {
        what: "a merge takes elements behind an end",
        file: "lower/merge.rs",
        sound: "let both = [*take, input.live];",
        faulty: "let both = [*take, *take];",
    },
    Fault {
        what: "what a merge reads at a position goes on though nothing was taken",
        file: "lower/merge.rs",
        sound: "let step = [take, one, zero];",
        faulty: "let step = [take, one, one];",
    },
    Fault {
        what: "a merge attempts no more than its shortest side has",
        file: "lower/cursor.rs",
        sound: "if let Kind::Append | Kind::Merge(_) = p.scope.graph.node(zip).kind {",
        faulty: "if let Kind::Append = p.scope.graph.node(zip).kind {",
    },
    Fault {
        what: "inputs of one class are one side of a merge",
        file: "fusion/sides.rs",
        sound: "find(|s| together && s.class == class)",
        faulty: "find(|s| (together || true) && s.class == class)",
    },
    Fault {
        what: "what a merge computes on the spot has the length of what nobody keeps",
        file: "lower/cursor.rs",
        sound: "makers.find_map(|n| generate::length_of_pulled(&p.scope, n))",
        faulty: "makers.find_map(|n| generate::length_of_pulled(&p.scope, n)).filter(|_| false)",
    },
    Fault {
        what: "lengths of zipped arrays are not checked",
        file: "lower/lengths.rs",
        sound: "if rates.known_equal(*first, *other) {",
        faulty: "if rates.known_equal(*first, *other) || true {",
    },
    Fault {
        what: "scatter does not check its indices",
        file: "lower/scatter.rs",
        sound: "e.trap(comb, Section::Yield, TrapKind::OutOfRange, ok.into(), &[index, len],);",
        faulty: "    let _ = ok;",
    },
    Fault {
        what: "scatter overwrites where it should combine",
        file: "lower/scatter.rs",
        sound: "Some(op) => Some(operators::combine(e, id, 0, op)?),",
        faulty: "Some(_) => None,",
    },
    Fault {
        what: "reads by index are not checked",
        file: "lower/body.rs",
        sound: "if *checked { let len",
        faulty: "if *checked && false { let len",
    },
    Fault {
        what: "integer divisions are not checked",
        file: "lower/body.rs",
        sound: "if !op.may_trap(self.e.program.atom_ty(args[0])) {",
        faulty: "if true || !op.may_trap(self.e.program.atom_ty(args[0])) {",
    },
    Fault {
        what: "a division trap reports its operands in the wrong order",
        file: "lower/body.rs",
        sound: "TrapKind::Division, ok.into(), &[args[0], args[1]]",
        faulty: "TrapKind::Division, ok.into(), &[args[1], args[0]]",
    },
    Fault {
        what: "the arms of conditions are exchanged",
        file: "lower/body.rs",
        sound: "(self.define(*t), x, y)",
        faulty: "(self.define(*t), y, x)",
    },
    Fault {
        what: "a function gets its first column for every parameter of that type",
        file: "lower/body.rs",
        sound: "args[k] = e.elt(columns[k], at)?;",
        faulty: "args[k] = e.elt(columns[if body.params[k] == body.params[0] { 0 } else { k }], at)?;",
    },
    Fault {
        what: "a filtered result is as long as its input",
        file: "lower/output.rs",
        sound: "e.result(field, res.into());",
        faulty: "e.result(field, out.into());",
    },
    Fault {
        what: "a generator's function gets 0, not its index",
        file: "lower/generate.rs",
        sound: "&[index]",
        faulty: "&[{ let _ = index; loop_lang::types::Const::u64(0).into() }]",
    },
    Fault {
        what: "the length of a filtered array is its input's",
        file: "lower/compute.rs",
        sound: "let len = e.total(comb, class, spot.rate);",
        faulty: "let len = e.program.rate(e.owner()).kind.bound().unwrap_or(e.total(comb, class, spot.rate));",
    },
    Fault {
        what: "a checked length is not checked",
        file: "lower/generate.rs",
        sound: "e.trap(comb, Section::Init, TrapKind::SliceRange, values[1], payload,);",
        faulty: "",
    },
    Fault {
        what: "constants of one body share a parameter",
        file: "sharing/key.rs",
        sound: "slots.insert(i as u32, base + self.constants.len() as u32);",
        faulty: "slots.insert(i as u32, base);",
    },
    Fault {
        what: "arrays that are read by index may be made by the same loop",
        file: "fusion/cluster/build/links.rs",
        sound: "Capture::Array(_) => Some(Reason::RandomAccess),",
        faulty: "Capture::Array(_) => None,",
    },
    Fault {
        what: "accumulators of segments go on with the next segment",
        file: "lower/fold.rs",
        sound: "e.push(self.comb, Section::Nest, StmtKind::Carry(v, start));",
        faulty: "e.push(self.comb, Section::Init, StmtKind::Carry(v, start));",
    },
    Fault {
        what: "lengths of segments are not checked",
        file: "lower/segments.rs",
        sound: "        trap,\n",
        faulty: "",
    },
    Fault {
        what: "there is room for none of the few that are taken",
        file: "lower/emission/sizing.rs",
        sound: "[is_many, size.counted, most]",
        faulty: "[is_many, size.counted, size.counted]",
    },
    Fault {
        what: "data that is left behind the last segment is not found",
        file: "lower/lengths.rs",
        sound: "if class.is_some_and(|class| p.lengths().first_check(class, len)) {",
        faulty: "if class.is_some_and(|class| p.lengths().first_check(class, len)) && false {",
    },
    Fault {
        what: "a zip with a subrate reads at the root's counter",
        file: "lower/placement/elements.rs",
        sound: "column.beside.or(self.scope.plan.rates.output(id))",
        faulty: "self.scope.plan.rates.output(id)",
    },
    Fault {
        what: "take_while goes on behind its end",
        file: "lower/take_while.rs",
        sound: "e.exit(comb, goes_on);",
        faulty: "let _ = goes_on;",
    },
];

fn main() -> ExitCode {
    let only: Vec<String> = std::env::args().skip(1).collect();
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let copy = std::env::temp_dir().join(format!("livefusion-faults-{}", std::process::id()));
    if let Err(e) = copy_tree(&home, &copy) {
        eprintln!("cannot copy the workspace to {}: {e}", copy.display());
        return ExitCode::FAILURE;
    }
    for (_, _, pass) in ROOMS {
        println!("without a fault: {:?}", pass(&copy));
    }
    let (mut seen, mut missed) = (0, 0);
    for (root, faults, tests) in ROOMS {
        let wanted = |f: &&Fault| only.is_empty() || only.iter().any(|o| f.what.contains(o));
        for fault in faults.iter().filter(wanted) {
            let verdict = match seeded(&copy.join(root), fault, || tests(&copy)) {
                Ok(true) => "caught",
                Ok(false) => "MISSED",
                Err(why) => &why.to_string(),
            };
            seen += 1;
            missed += (verdict != "caught") as usize;
            println!("{:<70} {verdict}", fault.what);
        }
    }
    let _ = fs::remove_dir_all(&copy);
    println!("{seen} faults, {missed} not caught");
    if missed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Where faults are, which, and whether the tests that must catch them pass.
type Room = (&'static str, &'static [Fault], fn(&Path) -> Result<bool>);

const ROOMS: [Room; 4] = [
    ("livefusion/src", FAULTS, programs_pass),
    ("", BELOW, loops_pass),
    ("tile/src", tile::LOWERED, schedules_pass),
    ("tile/src", tile::JUDGED, tiles_pass),
];

/// Whether the tests catch a fault. Errors: its place is not there any more, or it does not compile.
fn seeded(root: &Path, fault: &Fault, pass: impl Fn() -> Result<bool>) -> Result<bool> {
    let path = root.join(fault.file);
    let sound = fs::read_to_string(&path)?;
    let Some(place) = find(&sound, fault.sound) else {
        return Err(Error::other("DOES NOT APPLY"));
    };
    let mut faulty = sound.clone();
    faulty.replace_range(place, fault.faulty);
    fs::write(&path, faulty)?;
    let passed = pass();
    fs::write(&path, sound)?;
    passed.map(|passed| !passed)
}

/// Where some code stands in a text, however its lines are broken.
fn find(text: &str, code: &str) -> Option<std::ops::Range<usize>> {
    let dense = |s: &str| -> Vec<(usize, char)> {
        s.char_indices()
            .filter(|(_, c)| !c.is_whitespace())
            .collect()
    };
    let (text, code) = (dense(text), dense(code));
    let same = |w: &[(usize, char)]| w.iter().map(|c| c.1).eq(code.iter().map(|c| c.1));
    let found = text.windows(code.len()).find(|w| same(w))?;
    let (first, last) = (found.first()?, found.last()?);
    Some(first.0..last.0 + last.1.len_utf8())
}

/// Whether parts of the tests pass. Errors: the copy does not compile.
fn tests(copy: &Path, files: &[&str], parts: &[&[&str]]) -> Result<bool> {
    let cargo = |args: &[&str]| cargo(copy, &[&["-p", "livefusion-tests"], args].concat());
    let compiled: Vec<&str> = files.iter().flat_map(|f| ["--test", f]).collect();
    let compiled = cargo(&[&["--no-run"], &compiled[..]].concat())?;
    if !compiled.status.success() {
        let why = String::from_utf8_lossy(&compiled.stderr);
        return Err(Error::other(format!("DOES NOT COMPILE\n{why}")));
    }
    for part in parts {
        if !cargo(part)?.status.success() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Runs tests in the copy.
fn cargo(copy: &Path, args: &[&str]) -> Result<Output> {
    Command::new(env!("CARGO"))
        .args(["test", "-q"])
        .args(args)
        .current_dir(copy)
        .env("CARGO_TARGET_DIR", copy.join("target"))
        .env("LOOP_PROGRAMS", "1500")
        .output()
}

/// Whether the fast part of the tests of lowering passes, the random programs first.
fn programs_pass(copy: &Path) -> Result<bool> {
    let parts: [&[&str]; 2] = [
        &["--test", "interp", "programs_of_all"],
        &["--test", "errors"],
    ];
    tests(copy, &["interp", "errors"], &parts)
}

/// Whether the Loop language's files are as they should be, and golden loops, random loops and mutants end alike.
fn loops_pass(copy: &Path) -> Result<bool> {
    let files = cargo(copy, &["-p", "loop-lang", "--test", "file_tests"])?;
    if !files.status.success() {
        return Ok(false);
    }
    let parts: [&[&str]; 2] = [&["--test", "loops"], &["--test", "mutants"]];
    tests(copy, &["loops", "mutants"], &parts)
}

/// Whether loops end as the interpreter says, whatever their schedules, and their tiles verify.
fn schedules_pass(copy: &Path) -> Result<bool> {
    tests(copy, &["schedules"], &[&["--test", "schedules"]])
}

/// Whether tiles and schedules that are unsound are refused, as their files and cases say.
fn tiles_pass(copy: &Path) -> Result<bool> {
    let cargo = |args: &[&str]| {
        cargo(
            copy,
            &[&["-p", "livefusion-tile", "--tests"], args].concat(),
        )
    };
    let compiled = cargo(&["--no-run"])?;
    match compiled.status.success() {
        true => Ok(cargo(&[])?.status.success()),
        false => {
            let why = String::from_utf8_lossy(&compiled.stderr);
            Err(Error::other(format!("DOES NOT COMPILE\n{why}")))
        }
    }
}

/// Copies a folder without what was built.
fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    let mut stack: Vec<(PathBuf, PathBuf)> = vec![(from.into(), to.into())];
    while let Some((from, to)) = stack.pop() {
        fs::create_dir_all(&to)?;
        for entry in fs::read_dir(&from)? {
            let entry = entry?;
            let name = entry.file_name();
            if name == "target" || name == ".git" {
                continue;
            }
            let (from, to) = (entry.path(), to.join(&name));
            if entry.file_type()?.is_dir() {
                stack.push((from, to));
            } else {
                fs::copy(&from, &to)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{ROOMS, find};

    #[test]
    fn every_fault_has_a_place() {
        let home = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut lost = Vec::new();
        for (root, faults, _) in ROOMS {
            for fault in faults {
                let text = std::fs::read_to_string(home.join(root).join(fault.file));
                let found = text.ok().and_then(|text| find(&text, fault.sound));
                if found.is_none() {
                    lost.push((fault.file, fault.what));
                }
            }
        }
        assert_eq!(lost, []);
    }
}
