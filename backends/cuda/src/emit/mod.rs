//! The text of a kernel: its steps, groups and parameters.
//!
//! ```text
//! struct loop_0 {
//!   struct Params { .. };                  what is there before the steps
//!   struct In { .. }; struct Out { .. };   what a step reads and writes at its counter
//!   struct Kept { .. };                    what filters fill
//!   struct State { Part0 level0; .. };     what is carried, level by level
//!   template <u32> struct Level;           how parts of a level are joined
//!   template <bool EMIT> static void step(..)
//! };
//! LF_KERNEL(256, 2) loop_0_kernel(..) { lf_in_order<loop_0>(..); }
//! ```

mod contracted;
mod expr;
mod kernel;
mod leave;
mod levels;
mod names;
mod near;
mod nest;
mod path;
mod scatter;
mod step;
mod team;

pub use kernel::{Given, Kernel, Pass};

use expr::Functions;
use livefusion_tile::threads::form::{Form, Tiles};
use livefusion_tile::threads::near::Near;
use livefusion_tile::threads::phases::Phases;
use livefusion_tile::threads::plan::Work;
use livefusion_tile::threads::shape::{Refusal, Shape};
use livefusion_tile::threads::streams::Streams;
use loop_lang::ir::{Atom, GroupId, Loop, RateId, Type, Var};
use names::Names;
use rustc_hash::FxHashSet;
use std::fmt::Write;

/// Holds the common prelude of all kernels.
pub const PRELUDE: &str = concat!(
    include_str!("../prelude.cuh"),
    include_str!("../tiles.cuh"),
    include_str!("../passes.cuh"),
    include_str!("../scatter.cuh"),
    include_str!("../levels.cuh"),
    include_str!("../exits.cuh"),
    include_str!("../near.cuh"),
    include_str!("../segments.cuh"),
    include_str!("../paths.cuh")
);

/// Writes the kernels of a loop, one for each of its roots.
///
/// # Errors
///
/// Explains why the loop cannot run in parallel here.
pub fn kernels(program: &Loop) -> Result<Vec<Kernel>, Refusal> {
    Ok(Phases::of(program)
        .shapes()?
        .iter()
        .map(kernel_of)
        .collect())
}

/// Writes the kernel of a loop with one root.
///
/// # Errors
///
/// Explains why the loop cannot run in parallel here.
pub fn kernel(program: &Loop) -> Result<Kernel, Refusal> {
    Ok(kernel_of(&Shape::of(program)?))
}

/// Writes the kernel of a root of this shape.
pub fn kernel_of(shape: &Shape<'_>) -> Kernel {
    Emit::of(shape).kernel()
}

/// The writer of one kernel.
struct Emit<'a> {
    shape: &'a Shape<'a>,
    streams: &'a Streams,
    near: Near,
    tiles: Tiles,
    form: Form,
    /// The groups known before a step, level by level, and after these the groups read at the end.
    levels: Vec<Vec<GroupId>>,
    known: usize,
    names: Names,
    functions: Functions,
    out: String,
    depth: usize,
    /// The loop rates whose iterations are being written.
    open: Vec<RateId>,
    /// The number of these that belong to a step. Their carried values are in `old`.
    base: usize,
    /// The variables to compute, if not all.
    only: Option<FxHashSet<Var>>,
    /// The values kept of the head of a row.
    of_row: FxHashSet<Var>,
    /// The locations and names of open loops' counters that continue.
    running: Vec<(String, String)>,
}

impl<'a> Emit<'a> {
    fn of(shape: &'a Shape<'a>) -> Emit<'a> {
        Emit {
            shape,
            tiles: shape.tiles,
            streams: &shape.streams,
            near: shape.near.clone(),
            form: shape.groups.form,
            levels: shape.groups.levels(),
            known: shape.groups.known.len(),
            names: Names::of(shape),
            functions: Functions::default(),
            out: String::new(),
            depth: 0,
            open: Vec::new(),
            base: 1,
            only: None,
            of_row: FxHashSet::default(),
            running: Vec::new(),
        }
    }

    fn kernel(mut self) -> Kernel {
        let name = self.names.program().to_string();
        let given = self.given();
        self.open(&format!("struct {name} {{"));
        self.params(&given);
        let mut kernel = self.entry(&name, given);
        kernel.places = self.beside(self.shape.places(), "places", &kernel);
        kernel.rows = self.beside(self.shape.rows(), "rows", &kernel);
        kernel.anywhere = self.beside(self.shape.anywhere(), "anywhere", &kernel);
        kernel.text = self.functions.text() + &self.out;
        let text = kernel.text.clone();
        kernel.beside_mut().for_each(|k| k.text.clone_from(&text));
        kernel
    }

    /// Writes another form of the loop, in the same text.
    fn beside(
        &mut self,
        shape: Option<Shape<'_>>,
        name: &str,
        kernel: &Kernel,
    ) -> Option<Box<Kernel>> {
        let shape = shape?;
        let mut emit = Emit::of(&shape);
        std::mem::swap(&mut emit.functions, &mut self.functions);
        std::mem::swap(&mut emit.out, &mut self.out);
        let program = self.names.program();
        let own = format!("{program}_{name}");
        emit.open(&format!("struct {own} {{"));
        emit.line(&format!("typedef {program}::Params Params;"));
        let beside = emit.entry(&own, kernel.given.clone());
        std::mem::swap(&mut emit.functions, &mut self.functions);
        std::mem::swap(&mut emit.out, &mut self.out);
        Some(Box::new(beside))
    }

    /// Writes the text after the parameters.
    fn entry(&mut self, name: &str, given: Vec<Given>) -> Kernel {
        self.state();
        if self.form != Form::Nested {
            self.memory();
        }
        let levels = 0..self.levels.len();
        levels.for_each(|k| self.level(k));
        if self.counts_rows() {
            self.count();
        }
        self.constants();
        if self.form == Form::Nested {
            self.rooms();
        }
        self.bins();
        match self.shape.work {
            Work::Steps if self.form != Form::Nested => self.step(),
            Work::Steps | Work::Rows { .. } | Work::Places(_) => self.row(),
            Work::Teams { .. } => self.team(),
            Work::Path(_) => self.segments(),
        }
        self.depth -= 1;
        self.line("};");
        let parts: Vec<usize> = (0..self.level_count()).map(|k| self.words(k)).collect();
        let pass = match (self.form, &self.shape.work) {
            (Form::SideBySide, _) => "lf_side_by_side",
            (Form::OneByOne, _) => "lf_one_by_one",
            (Form::InOrder, _) => "lf_in_order",
            (Form::LevelByLevel, _) => "lf_level_by_level",
            (Form::UntilLeft, _) => "lf_steps_until_left",
            (Form::Nested, Work::Teams { .. }) => "lf_by_teams",
            (Form::Nested, Work::Path(_)) if parts.is_empty() && !self.shape.exits.any => {
                "lf_apart"
            }
            (Form::Nested, Work::Path(_)) => "lf_along_path",
            (Form::Nested, _) => "lf_row_by_row",
        };
        self.open(&format!(
            "LF_KERNEL({}, {}) {name}_kernel(const {name}::Params p, const lf_launch launch) {{",
            self.tiles.threads,
            match self.shape.is_wide() {
                true => 1,
                false => self.tiles.blocks(&self.near),
            }
        ));
        let [begin, end] = self.around_steps(name);
        begin.iter().for_each(|l| self.line(l));
        self.line(&format!("{pass}<{name}>(p, launch);"));
        end.iter().for_each(|l| self.line(l));
        self.close();
        let levels = self.levels.iter();
        Kernel {
            text: String::new(),
            name: format!("{name}_kernel"),
            given,
            levels: levels.map(|level| self.shape.vars(level)).collect(),
            leaves: self.shape.exits.any,
            wide: self.shape.is_wide(),
            settles: self.settles(),
            by_itself: self.by_itself(),
            acts: self.shape.acts() || matches!(self.shape.work, Work::Places(_)),
            tiles: self.tiles,
            parts,
            shared: match &self.shape.work {
                Work::Path(path) => Some(path.clone()),
                _ => None,
            },
            strips: self.strips(),
            places: None,
            rows: None,
            anywhere: None,
            number: 0,
            teams: self.shape.teams,
        }
    }

    fn line(&mut self, text: &str) {
        let indent = "  ".repeat(self.depth);
        let _ = writeln!(self.out, "{indent}{text}");
    }

    fn open(&mut self, text: &str) {
        self.line(text);
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    fn given(&self) -> Vec<Given> {
        let program = self.shape.program;
        let given = self.shape.given.iter().map(|v| match program.ty(*v) {
            Type::Scalar(_) => Given::Scalar(*v),
            Type::Array(_) => Given::Array(*v),
        });
        let groups = self.levels.iter().flat_map(|l| {
            let again = self.restarting(l);
            let goes_on: Vec<GroupId> = l.iter().filter(|g| !again.contains(g)).copied().collect();
            self.shape.vars(&goes_on)
        });
        let (mut counter, mut places) = (None, None);
        if let Work::Path(path) = &self.shape.work {
            counter = path.running.then_some(Given::Start(path.counter));
            places = path.length.is_none().then_some(Given::Places);
        }
        let has_teams =
            matches!(self.shape.work, Work::Teams { .. }) || self.shape.nests.rows.is_some();
        let team = has_teams.then_some(Given::Team);
        let starts = groups.map(Given::Start);
        let winners = (0..self.shape.last.len()).map(Given::Winners);
        let given = given.chain(starts).chain(counter).chain(winners);
        given.chain(places).chain(team).collect()
    }

    /// Writes the parameters. Each begins at its own word, so that the host can fill them in.
    fn params(&mut self, given: &[Given]) {
        self.open("struct Params {");
        for g in given {
            let (Given::Scalar(v) | Given::Array(v) | Given::Start(v)) = *g else {
                let line = match g {
                    Given::Team => "u64 lf_team;".into(),
                    Given::Winners(k) => format!("lf_array<u64> lf_winners{k};"),
                    _ => "lf_array<u64> lf_places;".into(),
                };
                self.line(&line);
                continue;
            };
            let (ty, name) = (self.shape.program.ty(v).elem(), self.names.var(v));
            let line = match g {
                Given::Scalar(_) => format!("alignas(8) {ty} {name};"),
                Given::Array(_) => format!("lf_array<{ty}> {name};"),
                _ => format!("alignas(8) {ty} start_{name};"),
            };
            self.line(&line);
        }
        self.depth -= 1;
        self.line("};");
    }

    /// Writes the arrays that a step reads and writes, and their iteration.
    fn memory(&mut self) {
        let elements = |emit: &Self, arrays: &[Var]| -> String {
            let fields = arrays.iter().map(|v| {
                let ty = emit.shape.program.ty(*v).elem();
                format!(" {ty} {};", emit.names.var(*v))
            });
            fields.collect()
        };
        let each = |emit: &Self, to: &str, arrays: &[Var]| -> String {
            let calls = arrays.iter().map(|v| {
                let name = emit.names.var(*v);
                format!(" each({}, &{to}::{name});", emit.outside(Atom::Var(*v)))
            });
            calls.collect()
        };
        let kept = self.streams.keeps.iter().map(|(v, _)| {
            let ty = self.shape.program.ty(*v).elem();
            format!(" lf_kept<{ty}> {};", self.names.var(*v))
        });
        let keeps = self.streams.keeps.iter().map(|(v, count)| {
            let level = self.level_of(*count).unwrap_or_default();
            let (name, count) = (self.names.var(*v), self.names.var(*count));
            let array = self.outside(Atom::Var(*v));
            format!(" each({array}, &Kept::{name}, before.level{level}.{count}, after.level{level}.{count});")
        });
        let lines = [
            format!("struct In {{{} }};", elements(self, &self.streams.reads)),
            format!("struct Out {{{} }};", elements(self, &self.streams.writes)),
            format!("struct Kept {{{} }};", kept.collect::<String>()),
            "template <class Each>".into(),
            format!(
                "static LF_DEVICE void reads(const Params &p, Each each) {{{} }}",
                each(self, "In", &self.streams.reads)
            ),
            "template <class Each>".into(),
            format!(
                "static LF_DEVICE void writes(const Params &p, Each each) {{{} }}",
                each(self, "Out", &self.streams.writes)
            ),
            "template <class Each>".into(),
            "static LF_DEVICE void keeps(const Params &p, const State &before, const State &after, Each each) {".into(),
            format!(" {}", keeps.collect::<String>()),
            "}".into(),
        ];
        lines.iter().for_each(|l| self.line(l));
    }

    fn constants(&mut self) {
        let (levels, ends) = match self.form {
            Form::Nested => (self.level_count(), false),
            _ => (self.known, self.levels.len() > self.known),
        };
        let Tiles {
            threads,
            elements,
            piece,
            ..
        } = self.tiles;
        let keeps = !self.streams.keeps.is_empty();
        let stores = keeps || !self.streams.writes.is_empty();
        let bytes = self.streams.room_bytes(self.shape);
        let tile = "static const u64 TILE = THREADS * ELEMENTS;";
        if self.tiles.form == Form::Nested {
            self.line(&format!(
                "static const u32 LEVELS = {levels}, THREADS = {threads}, ELEMENTS = {elements};"
            ));
            let passes = self.shape.is_wide();
            self.line(&format!("static const bool PASSES = {passes};"));
            self.line(tile);
            return self.leaving();
        }
        for line in [
            format!(
                "static const u32 LEVELS = {levels}, THREADS = {threads}, ELEMENTS = {elements}, PIECE = {piece};"
            ),
            tile.into(),
            "// Of an element in a room.".into(),
            format!("static const u32 BYTES = {bytes};"),
            format!("static const bool KEEPS = {keeps}, STORES = {stores}, ENDS = {ends};"),
        ] {
            self.line(&line);
        }
        if self.shape.exits.any {
            self.line("static const bool PASSES = false;");
            self.leaving();
        }
    }

    /// Writes whether the loop may exit, and the number of result words before the exit's position.
    fn leaving(&mut self) {
        let leaves = self.shape.exits.any;
        self.line(&format!("static const bool LEAVES = {leaves};"));
        if leaves {
            let words: usize = (0..self.level_count()).map(|k| self.words(k)).sum();
            self.line(&format!("static const u32 WORDS = {words};"));
        }
    }

    /// Returns the level of a carried variable in the state.
    fn level_of(&self, v: Var) -> Option<usize> {
        let (id, _) = *self.shape.facts.group.get(&v)?;
        self.levels.iter().position(|level| level.contains(&id))
    }

    /// Writes a value from outside of steps: a constant, a parameter, or a function's definition.
    fn outside(&self, a: Atom) -> String {
        match a {
            Atom::Const(c) => expr::constant(c),
            Atom::Var(v) if self.of_row.contains(&v) => format!("row.{}", self.names.var(v)),
            Atom::Var(v) if self.shape.given.contains(&v) => format!("p.{}", self.names.var(v)),
            Atom::Var(v) => self.names.var(v).to_string(),
        }
    }
}
