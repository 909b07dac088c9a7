//! From a loop to C. What is known of a loop is a [`Region`], and what is decided a schedule; this writes the tiles
//! that follow from both, and the loop as a state machine that calls them.
//!
//! | module | writes |
//! | --- | --- |
//! | `ops`, `math` | scalar operators, constants, frame words; transcendental functions |
//! | `unit` | one function: names, indentation, operands |
//! | `stmt`, `groups` | statements, carried groups |
//! | `sort` | rows put in order |
//! | `stop` | nothing: it says how scalar loops look whether they are to stop |
//! | `tile` | tiles: innermost loops, nests and zips under a schedule |
//! | `machine` | the loop as a state machine that can pause at every guard |
//! | `frame`, `chunk` | the machine's variables; its stops |
//! | `ideas` | nothing: it notes which of the tiles' words were of use |

mod chunk;
mod frame;
mod groups;
mod ideas;
pub mod machine;
mod math;
pub mod ops;
mod sort;
mod stmt;
mod stop;
mod tile;
mod unit;

use crate::compiler::Effort;
use crate::facts;
use crate::names::{Facet, Names};
pub use ideas::{Idea, Ideas};
use livefusion_backend::CompileError;
use livefusion_tile::ir::{Tile, Zip};
use livefusion_tile::lower::{self, NoTile};
use livefusion_tile::region::{InnerLoop, Region};
use livefusion_tile::schedule::{Aim, Schedules, choose, legal};
use livefusion_tile::target::Target;
use loop_lang::Loop;
use loop_lang::ir::{Order, Place};
use loop_lang::state::Layout;
use ops::Helpers;
use unit::{Mode, Unit, comment};

/// Loops with more statements than this have tiles only if these are cut in pieces; compilers do not try hard on them.
const MAX_STATEMENTS: usize = 4096;
/// More lanes than this in one group are refused.
const MAX_LANES: u32 = 4096;
/// More lanes than this for all variables of one group, too: they are joined on the stack.
const MAX_GROUP_WORDS: usize = 32 << 10;

/// What every file starts with. No system headers: they would cost more than compiling the loop.
///
/// `LF_COLD` marks functions that are not worth the compiler's time, `LF_LONG` long ones that run seldom or do nothing
/// but call others: what compilers do to make code better takes them time with the square of a function's length. The
/// flags that keep results are repeated: compilers have been known to forget them in functions with options of their
/// own.
const PRELUDE: &str = "\
typedef unsigned char bool;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;
typedef float f32;
typedef double f64;

typedef struct { void *data; u64 length; } lf_array;
typedef struct lf_run {
  u64 *words;              /* the frame's words */
  u64 budget;              /* how many steps to take */
  const u64 *scalars;      /* scalar parameters as words */
  const lf_array *inputs;  /* array parameters */
  lf_array *made;          /* arrays that the loop made, by slot */
  u64 *results;            /* scalar results as words, lengths of array results */
  void *scratch;           /* lanes that are too many for the stack */
  u32 (*new_array)(struct lf_run *, u32 slot, u64 length, u32 comb);
  u32 (*fill_array)(struct lf_run *, u32 slot, u64 length, u64 word, u32 comb);
  u32 (*copy_array)(struct lf_run *, u32 slot, const void *data, u64 length, u32 comb);
  const volatile u8 *stop; /* set once scalar loops may end at once */
} lf_run;
enum { LF_DONE, LF_PAUSED, LF_EXITED, LF_TRAPPED, LF_NO_MEMORY };
#define LF_END (~0ul)

/* What compilers say differently: marks of cold and of long functions, shuffles. */
#ifdef __clang__
#define LF_COLD
#define LF_LONG
#define LF_SHUFFLE(mask, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define LF_COLD __attribute__((optimize(\"O1\", \"wrapv\", \"fp-contract=off\")))
#define LF_LONG __attribute__((optimize(\"O0\", \"wrapv\", \"fp-contract=off\")))
#define LF_SHUFFLE(mask, a, b, ...) __builtin_shuffle(a, b, (mask){ __VA_ARGS__ })
#endif

static const u64 lf_zero[1];
static inline u64 lf_least(u64 x, u64 y) { return x < y ? x : y; }
static inline u64 lf_capacity(u64 length, u64 at) { return at < length ? length - at : 0; }
/* Where there begins to be too little capacity for so many. */
static inline u64 lf_ends(u64 length, u64 size) { return length < size ? 0 : length - size + 1; }
/* For how many steps up or down from `at` it stays on its side of `edge`. */
static inline u64 lf_same_up(u64 at, u64 edge) { return at < edge ? edge - at : at ? -at : LF_END; }
static inline u64 lf_same_down(u64 at, u64 edge) { return at < edge ? at + 1 : at - edge + 1; }
";

/// Which form of a loop is written.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// A summary pass: the returning block does not run.
    pub summary: bool,
    /// There are tiles, too.
    pub tiles: bool,
}

impl Default for Form {
    fn default() -> Form {
        Form {
            summary: false,
            tiles: true,
        }
    }
}

/// A C file of one or several kernels, being written.
pub struct File {
    helpers: Helpers,
    kernels: String,
    /// Whether a kernel is too large for the compiler's full effort.
    large: bool,
    /// What was asked for, by loop.
    schedules: Schedules,
}

/// A finished file.
pub struct Text {
    /// The C.
    pub source: String,
    /// How hard the compiler should try.
    pub effort: Effort,
}

impl File {
    /// An empty file of code for a machine.
    pub fn new(target: &Target) -> File {
        File {
            helpers: Helpers::new(target),
            kernels: String::new(),
            large: false,
            schedules: Schedules::default(),
        }
    }

    /// The file whose loops are written as they are asked for.
    pub fn with_schedules(mut self, schedules: &Schedules) -> File {
        self.schedules = schedules.clone();
        self
    }

    /// The tiles of a loop under the schedule that was asked for, or else is chosen.
    fn tiles(&self, region: &Region, form: Form) -> Result<(Vec<Tile>, Vec<Zip>), CompileError> {
        let refused = |why: String| CompileError::Schedule {
            program: region.program.name.clone(),
            why,
        };
        let asked = self.schedules.of(region.program);
        let asked = asked.map_err(|e| refused(e.to_string()))?;
        let schedule = match asked.filter(|_| !form.summary) {
            Some(schedule) => {
                let judged = legal(region, &schedule);
                judged.map_err(|all| refused(NoTile::Illegal(all).to_string()))?;
                schedule
            }
            None => choose(region, &self.helpers.target, Aim::Speed),
        };
        let fits =
            |s: &&InnerLoop| s.statements.len() <= MAX_STATEMENTS || schedule.has_fission(s.rate);
        // For some there are no words.
        let inner_loops = region.inner_loops().filter(fits);
        let inner_loops = inner_loops.filter_map(|s| lower::tiles(region, s, &schedule).ok());
        let nests = region.nests().iter();
        let nests = nests.filter_map(|n| lower::nest(region, n, &schedule).ok());
        let zips = region.zips().all.iter();
        let zips = zips.filter_map(|z| lower::zip(region, z, &schedule).ok());
        Ok((inner_loops.chain(nests).flatten().collect(), zips.collect()))
    }

    /// Adds the function of one pass over a loop. It is exported as `symbol`, which nothing else in
    /// the file may be called. `layout` is that of the loop's emit form.
    pub fn add(
        &mut self,
        program: &Loop,
        layout: &Layout,
        symbol: &str,
        form: Form,
    ) -> Result<(), CompileError> {
        check_lanes(program).map_err(CompileError::Malformed)?;
        let region = Region::of(program, &layout.arrays, &layout.held);
        let region = region.map_err(CompileError::Malformed)?;
        let (tiles, zips) = match form.tiles {
            true => self.tiles(&region, form)?,
            false => Default::default(),
        };
        let named = region.zips().named.as_ref().filter(|_| !zips.is_empty());
        let program = named.unwrap_or(program);
        let facts = &region.facts;
        let names = Names::of(program, &facts.carried, symbol);
        let mut unit = Unit {
            program,
            facts,
            made: &layout.arrays,
            names: &names,
            helpers: &mut self.helpers,
            out: String::new(),
            depth: 0,
            mode: Mode::Function,
            place: Place::Init,
            comb: None,
            stops: stop::any_looks(program),
        };
        header(&mut unit);
        functions(&mut unit);
        joins(&mut unit);
        for (k, tile) in tiles.iter().enumerate() {
            let before = tiles[..k].iter().filter(|t| t.rate == tile.rate);
            let version = before.count();
            tile::Writer::new(&mut unit, tile, version).write(symbol);
        }
        for zip in &zips {
            tile::Zipper::new(&mut unit, zip, symbol).write();
        }
        unit.mode = Mode::Machine;
        let cold = machine::write(&mut unit, layout, (&zips, &tiles), symbol, form.summary);
        let mut statements = 0;
        let blocks = facts.blocks.iter();
        blocks.for_each(|b| facts::each_stmt(&b.block.stmts, &mut |_| statements += 1));
        self.large |= !cold && statements > MAX_STATEMENTS;
        self.kernels.push_str(&unit.out);
        Ok(())
    }

    /// The ideas that its kernels make use of.
    pub fn ideas(&self) -> &Ideas {
        &self.helpers.ideas
    }

    /// The whole text.
    pub fn finish(self) -> Result<Text, String> {
        let source = format!("{PRELUDE}\n{}\n{}", self.helpers.finish()?, self.kernels);
        let effort = if self.large {
            Effort::Linear
        } else {
            Effort::Full
        };
        Ok(Text { source, effort })
    }
}

fn check_lanes(program: &Loop) -> Result<(), String> {
    for g in &program.groups {
        if let Order::Lanes(l) | Order::Prefix(l) = g.order {
            let words = g.vars.len().saturating_mul(l as usize);
            if !l.is_power_of_two() || l > MAX_LANES || words > MAX_GROUP_WORDS {
                return Err(format!(
                    "a group of {} variables in {l} lanes",
                    g.vars.len()
                ));
            }
        }
    }
    Ok(())
}

/// A comment that names the loop and its combinators.
fn header(unit: &mut Unit) {
    unit.line(comment(&format!("/* Loop {} */", unit.program.name)));
    for comb in &unit.program.combs {
        let at = comb.slot.map(|h| unit.program.rate(h.rate).name.clone());
        let at = at.map_or(String::new(), |r| format!(" at {r}"));
        unit.line(comment(&format!(
            "/*   {}: {}{at} */",
            comb.name, comb.kind
        )));
    }
}

/// The combine functions. Results go out through pointers; a trap sets the caller's flag.
fn functions(unit: &mut Unit) {
    for (i, f) in unit.program.functions.iter().enumerate() {
        let mut params = unit.function_params();
        for (k, a) in f.results.iter().enumerate() {
            params.push(format!("{} *lf_out_{k}", unit.program.atom_ty(*a).name()));
        }
        for v in &f.params {
            let ty = facts::elem(unit.program, *v).name();
            params.push(format!("const {ty} {}", unit.names.var(*v)));
        }
        let name = unit.names.function(i).to_string();
        unit.line("static inline __attribute__((always_inline)) void");
        unit.open(format!("{name}({}) {{", params.join(", ")));
        unit.stmts(&f.body);
        for (k, a) in f.results.iter().enumerate() {
            let value = unit.atom(*a);
            unit.line(format!("*lf_out_{k} = {value};"));
        }
        unit.close();
        unit.line("");
    }
}

/// For each lane group the function that joins its lanes, by halves, onto a copy of its prefix.
fn joins(unit: &mut Unit) {
    for group in &unit.program.groups {
        let (Some(l), Some(first)) = (group.order.lanes(), group.vars.first()) else {
            continue;
        };
        let types: Vec<_> = group
            .vars
            .iter()
            .map(|v| facts::elem(unit.program, *v))
            .collect();
        let cells = |array: &str, index: &str| -> Vec<String> {
            (0..types.len())
                .map(|i| format!("lf_{array}_{i}[{index}]"))
                .collect()
        };
        let mut params = unit.function_params();
        let each = || types.iter().map(|t| t.name()).enumerate();
        params.extend(each().map(|(i, t)| format!("{t} *restrict lf_out_{i}")));
        params.extend(each().map(|(i, t)| format!("const {t} *restrict lf_from_{i}")));
        let name = unit.names.facet(*first, Facet::Join).to_string();
        unit.open(format!("static void {name}({}) {{", params.join(", ")));
        for (i, t) in types.iter().enumerate() {
            unit.line(format!("{} lf_lane_{i}[{}];", t.name(), (l / 2).max(1)));
        }
        // One loop for each half: of a fixed length, which compilers unroll.
        let (mut half, mut from) = (l / 2, "from");
        while half > 0 {
            unit.open(format!("for (u64 l = 0; l < {half}; l++) {{"));
            let (lower, upper) = (cells(from, "l"), cells(from, &format!("l + {half}")));
            unit.combine(group.combine, &cells("lane", "l"), &lower, &upper, &types);
            unit.close();
            (half, from) = (half / 2, "lane");
        }
        let outs: Vec<String> = (0..types.len()).map(|i| format!("(*lf_out_{i})")).collect();
        unit.combine(group.combine, &outs, &outs, &cells(from, "0"), &types);
        unit.close();
        unit.line("");
    }
}
