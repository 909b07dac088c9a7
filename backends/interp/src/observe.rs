//! What an observer is told of each step: for whoever wants to see a loop run.

use crate::code::{Watch, Watched};
use crate::machine::Machine;
use loop_lang::Loop;
use loop_lang::ir::{Exit, Place, Stmt, Var};
use loop_lang::types::Const;

/// Whoever watches loops run. It is called by the thread that runs them, which waits.
pub trait Observer: Send + Sync {
    /// A step that has been done. False ends the run: the kernel reports a pause that it cannot go on from, so whoever returns
    /// false also cancels the force.
    fn observe(&self, step: &Step<'_>) -> bool;
}

/// A step of a loop.
pub struct Step<'a> {
    /// The loop.
    pub program: &'a Loop,
    /// The place of its block.
    pub place: Place,
    /// What happened.
    pub event: Event<'a>,
    /// The scalars that it is about: what it reads, then what it gives; carried variables where a guard is entered. The
    /// variable of an assignment has its new value.
    pub values: Vec<(Var, Const)>,
    /// Steps of the loop's rates so far.
    pub steps: u64,
}

/// What happens in a step.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A block is entered. A guard is entered again where the loop goes on after a pause.
    Enter,
    /// A statement was run. One with regions comes after the statements in them.
    Statement(&'a Stmt),
    /// A block's exit: it is left if the condition is false.
    Exit(&'a Exit),
    /// The loop is about to give its results.
    Return,
}

impl<'a> Machine<'a, '_> {
    /// Tells the observer of a step; whether the run goes on.
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
