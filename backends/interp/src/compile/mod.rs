//! Compilation of a verified [`Loop`] to [`Code`].
//!
//! Blocks are laid out in execution order. Regions become jumps. Operands are resolved.

mod block;
mod groups;
mod scopes;
mod stmt;
mod watch;

use crate::code::{Array, Code, GuardCode, Instr, Pc, Reg};
use crate::counts::Counted;
use groups::Move;
use loop_lang::gotos::Tree;
use loop_lang::ir::{Atom, Block, CombId, Loop, ParamKind, Place, Stmt, StmtKind, Var};
use loop_lang::state::Layout;
use loop_lang::steps::Steps;
use loop_lang::types::{Ty, canonical};
use rustc_hash::FxHashMap;
use scopes::Scopes;

/// Describes how a loop is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mode {
    /// Compile the summary form, without the returning block.
    pub summary: bool,
    /// Compile for counting mode.
    pub counting: bool,
    /// Report each step to an observer.
    pub observed: bool,
}

/// Compiles a loop.
///
/// # Errors
///
/// Describes a construct that no verified loop has.
pub fn compile(program: &Loop, layout: &Layout, mode: Mode) -> Result<Code, String> {
    let mut c = Compiler::new(program, layout, mode);
    c.arrays(layout)?;
    c.assignments()?;
    c.groups(layout)?;
    c.functions()?;
    c.blocks()?;
    c.saved(layout);
    Ok(c.code)
}

/// A block with its place.
struct Placed<'a> {
    place: Place,
    block: &'a Block,
    /// One of the combinators that it belongs to.
    comb: CombId,
    /// The start of its code, once emitted.
    pc: Pc,
}

/// The compiler of one loop.
struct Compiler<'a> {
    program: &'a Loop,
    mode: Mode,
    tree: Tree,
    steps: Steps,
    scopes: Scopes,
    code: Code,
    /// Blocks in execution order.
    blocks: Vec<Placed<'a>>,
    /// Block by place.
    at: FxHashMap<Place, usize>,
    /// The current block, and the innermost scope of its place.
    block: usize,
    scope: Option<u32>,
    /// Updates to be made on every edge out of the current block.
    moves_at_end: Vec<Move>,
    arrays: FxHashMap<Var, Array>,
    /// Group and position of each variable of a group with a local part.
    local: FxHashMap<Var, (u32, u32)>,
    consts: FxHashMap<u64, Reg>,
    counters: FxHashMap<Counted, u32>,
    /// Scopes in which updates may wait while other blocks run.
    waits: Vec<bool>,
    /// The scopes in which each variable is assigned.
    assigned_in: FxHashMap<Var, Vec<u32>>,
    /// Jumps to blocks, to be patched.
    jumps: Vec<(Pc, usize)>,
    /// Jumps of failed checks out of the outermost `while` region.
    escapes: Option<Vec<Pc>>,
    in_function: bool,
}

impl<'a> Compiler<'a> {
    fn new(program: &'a Loop, layout: &Layout, mode: Mode) -> Compiler<'a> {
        let tree = Tree::of(program);
        let scopes = Scopes::of(program, &tree, layout);
        let mut by_place: FxHashMap<Place, Placed> = FxHashMap::default();
        for (labels, block) in program.blocks.iter() {
            if let Some(label) = labels.first() {
                let place = tree.place(program, *label);
                by_place.insert(
                    place,
                    Placed {
                        place,
                        block,
                        comb: label.comb,
                        pc: 0,
                    },
                );
            }
        }
        let places = tree.places().iter();
        let blocks: Vec<Placed> = places.filter_map(|p| by_place.remove(p)).collect();
        let at = blocks
            .iter()
            .enumerate()
            .map(|(i, b)| (b.place, i))
            .collect();
        let code = Code {
            registers: program.vars.len() as u32,
            guards: vec![GuardCode::default(); layout.resume.len()],
            ..Code::default()
        };
        Compiler {
            waits: vec![false; layout.resume.len()],
            program,
            mode,
            steps: Steps::of(program, &tree),
            tree,
            scopes,
            code,
            blocks,
            at,
            block: 0,
            scope: None,
            moves_at_end: Vec::new(),
            arrays: FxHashMap::default(),
            local: FxHashMap::default(),
            consts: FxHashMap::default(),
            counters: FxHashMap::default(),
            assigned_in: FxHashMap::default(),
            jumps: Vec::new(),
            escapes: None,
            in_function: false,
        }
    }

    fn here(&self) -> Pc {
        self.code.instrs.len() as Pc
    }

    fn emit(&mut self, instr: Instr) -> Pc {
        self.code.instrs.push(instr);
        self.here() - 1
    }

    /// Patches the jump at `pc` to target the next instruction.
    fn land(&mut self, pc: Pc) {
        let here = self.here();
        if let Instr::Jump { to } | Instr::Unless { to, .. } = &mut self.code.instrs[pc as usize] {
            *to = here;
        }
    }

    fn temp(&mut self) -> Reg {
        self.code.registers += 1;
        self.code.registers - 1
    }

    /// Returns the register that holds a constant.
    fn constant(&mut self, word: u64) -> Reg {
        if let Some(r) = self.consts.get(&word) {
            return *r;
        }
        let r = self.temp();
        self.code.consts.push((r, word));
        self.consts.insert(word, r);
        r
    }

    /// Returns the register that holds an operand. Reading a lane, or joined lanes, takes an
    /// instruction.
    fn operand(&mut self, atom: Atom) -> Reg {
        match atom {
            Atom::Const(c) => self.constant(canonical(c.ty, c.bits)),
            Atom::Var(v) => match self.local.get(&v) {
                Some(&(group, i)) => self.read_local(v, group, i),
                None => v.0,
            },
        }
    }

    fn array(&self, v: Var) -> Result<Array, String> {
        let found = self.arrays.get(&v).copied();
        found.ok_or_else(|| format!("{} is not an array that is there", self.program.name(v)))
    }

    /// Returns the slot of a written array.
    fn slot(&self, v: Var) -> Result<u32, String> {
        match self.array(v)? {
            Array::Slot(s) => Ok(s),
            Array::Param(_) => Err(format!("parameter {} is written", self.program.name(v))),
        }
    }

    fn elem(&self, v: Var) -> Ty {
        self.program.ty(v).elem()
    }

    /// Returns the counter of an event in counting mode.
    fn counter(&mut self, what: Counted) -> Option<u32> {
        if !self.mode.counting {
            return None;
        }
        if let Some(c) = self.counters.get(&what) {
            return Some(*c);
        }
        let c = self.code.counters.len() as u32;
        self.code.counters.push(what.clone());
        self.counters.insert(what, c);
        Some(c)
    }

    /// Counts one event in counting mode. Otherwise `what` is not called.
    fn count(&mut self, what: impl FnOnce(&Loop) -> Counted) {
        if self.mode.counting
            && let Some(counter) = self.counter(what(self.program))
        {
            self.emit(Instr::Count { counter });
        }
    }

    /// Resolves arrays to parameters and slots. A slice shares its array's slot.
    fn arrays(&mut self, layout: &Layout) -> Result<(), String> {
        for (i, p) in self.program.params.iter().enumerate() {
            if p.kind != ParamKind::Scalar {
                self.arrays.insert(p.var, Array::Param(i as u32));
            }
        }
        for (i, v) in layout.arrays.iter().enumerate() {
            self.arrays.insert(*v, Array::Slot(i as u32));
        }
        let program = self.program;
        for (_, block) in program.blocks.iter() {
            for stmt in &block.stmts {
                if let Stmt {
                    kind: StmtKind::SliceArray(b, a, _),
                    ..
                } = stmt
                {
                    let slot = Array::Slot(self.slot(*a)?);
                    self.arrays.insert(*b, slot);
                }
            }
        }
        Ok(())
    }

    /// Compiles combine functions, before all blocks.
    fn functions(&mut self) -> Result<(), String> {
        self.in_function = true;
        for f in 0..self.program.functions.len() {
            let function = &self.program.functions[f];
            let entry = self.here();
            self.stmts(&function.body, 0)?;
            let results: Vec<Reg> = function.results.iter().map(|a| self.operand(*a)).collect();
            self.emit(Instr::End);
            self.code.functions.push((entry, results));
        }
        self.in_function = false;
        Ok(())
    }

    /// Locates saved and held variables in frame and registers.
    ///
    /// Also finds the guards at which updates of held variables may be pending.
    fn saved(&mut self, layout: &Layout) {
        for (v, word) in &layout.saved {
            if !self.local.contains_key(v) {
                self.code.saved.push((v.0, self.elem(*v), *word as u32));
            }
        }
        for (held, (v, word)) in layout.held.iter().enumerate() {
            self.code.held.push((v.0, self.elem(*v), *word as u32));
            let scopes = self.assigned_in.get(v).map_or(&[][..], |s| s);
            for (guard, site) in self.code.guards.iter_mut().enumerate() {
                let guard = guard as u32;
                let mut around = self.scopes.chain(Some(guard)).skip(1);
                if let Some(scope) = around.find(|s| self.waits[*s as usize] && scopes.contains(s))
                {
                    site.held.push((held as u32, scope));
                }
            }
        }
    }
}
