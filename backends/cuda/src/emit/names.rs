//! Names in a kernel's text: those of the loop where they are free.

use livefusion_tile::threads::shape::Shape;
use loop_lang::ir::Var;
use rustc_hash::FxHashSet;

/// Prefixes of generated names.
const OURS: &[&str] = &["lf_", "start_", "old_", "level", "Part", "Fold", "Bins"];

/// Holds the names of a loop's variables.
pub struct Names {
    program: String,
    vars: Vec<String>,
}

/// Other names of the text, and reserved words.
const TAKEN: &[&str] = &["p", "launch", "state", "old", "a", "b", "ab", "step", "lf"];

impl Names {
    /// Chooses a name for each variable, and one for the loop or its phase.
    pub fn of(shape: &Shape<'_>) -> Names {
        let (program, phase) = (shape.program, shape.phase);
        let mut taken: FxHashSet<String> = TAKEN.iter().map(|t| t.to_string()).collect();
        let mut free = |name: &str| {
            let mut own: String = name
                .chars()
                .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
                .collect();
            // Names without a final digit may be reserved words.
            let is_ours = OURS.iter().any(|ours| own.starts_with(ours));
            if !own.ends_with(|c: char| c.is_ascii_digit()) || is_ours {
                own += "_v";
            }
            while !taken.insert(own.clone()) {
                own.push('_');
            }
            own
        };
        Names {
            program: match shape.phases() {
                1 => free(&program.name),
                _ => free(&format!("{}_{phase}", program.name)),
            },
            vars: program.vars.iter().map(|v| free(&v.name)).collect(),
        }
    }

    /// Returns the loop's name.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// Returns a variable's name.
    pub fn var(&self, v: Var) -> &str {
        &self.vars[v.index()]
    }
}
