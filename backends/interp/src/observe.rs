//! Observers: callbacks that see each step of a loop.

use crate::code::{Watch, Watched};
use crate::machine::Machine;
use loop_lang::Loop;
use loop_lang::ir::{Exit, Place, Stmt, Var};
use loop_lang::types::Const;

/// Receives the steps of running loops.
///
/// It is called on the thread that runs the loop, which waits.
pub trait Observer: Send + Sync {
    /// Receives a finished step.
    ///
    /// Returning `false` ends the run. The kernel then reports a pause that it cannot continue
    /// from. So the observer must also cancel the force.
    fn observe(&self, step: &Step<'_>) -> bool;
}

/// Describes a step of a loop.
pub struct Step<'a> {
    /// The loop.
    pub program: &'a Loop,
    /// The place of its block.
    pub place: Place,
    /// The event.
    pub event: Event<'a>,
    /// The scalars of the step: operands, then results. At a guard's entry they are the carried
    /// variables. The variable of an assignment has its new value.
    pub values: Vec<(Var, Const)>,
    /// Steps of the loop's rates so far.
    pub steps: u64,
}

/// Lists the events of a step.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A block is entered. A guard is entered again when the loop continues after a pause.
    Enter,
    /// A statement was run. One with regions comes after the statements in them.
    Statement(&'a Stmt),
    /// A block's exit, taken if the condition is false.
    Exit(&'a Exit),
    /// The loop is about to return its results.
    Return,
}

impl<'a> Machine<'a, '_> {
    /// Reports a step to the observer. Returns whether the run continues.
    pub(crate) fn watch(&self, watched: &'a Watched) -> bool {
        let Some(observer) = self.observer else {
            return true;
        };
        let value =
            |(v, r): &(Var, u32)| (*v, Const::new(self.program.ty(*v).elem(), self.get(*r)));
        observer.observe(&Step {
            program: self.program,
            place: watched.place,
            event: match &watched.step {
                Watch::Enter => Event::Enter,
                Watch::Statement(stmt) => Event::Statement(stmt),
                Watch::Exit(exit) => Event::Exit(exit),
                Watch::Return => Event::Return,
            },
            values: watched.values.iter().map(value).collect(),
            steps: self.steps,
        })
    }
}
