//! House rules without a compiler check, as counts that may fall but not grow.

mod files;
mod items;
mod names;
mod prose;
mod sources;
mod tested;

use crate::bounds::Held;
use crate::crates;
use crate::run::Outcome;
use sources::Sources;

/// Checks all rules and prints each count with its bound.
pub fn check() -> Outcome {
    let sources = Sources::read()?;
    let mut held = Held::default();
    files::hold(&sources, &mut held);
    names::hold(&sources, &mut held);
    tested::hold(&sources, &mut held);
    items::hold(&sources, &mut held);
    prose::hold(&sources, &mut held);
    crates::hold(&mut held)?;
    held.finish()
}

/// Lists the tests that name each combinator.
pub fn list_tests() -> Outcome {
    tested::list(&Sources::read()?);
    Ok(())
}

/// Lists each folder with the figures of its prose.
pub fn list_prose() -> Outcome {
    prose::list(&Sources::read()?);
    Ok(())
}
