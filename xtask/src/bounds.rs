//! Bounds of counts, which may fall but not grow: `bounds.txt` lists them.

use crate::run::Outcome;

const BOUNDS: &str = include_str!("../bounds.txt");

/// Collects counts and compares them with their bounds.
#[derive(Default)]
pub struct Held {
    broken: Vec<String>,
}

impl Held {
    /// Prints a count and its bound. Returns whether the count is within it.
    pub fn hold(&mut self, name: &str, count: usize) -> bool {
        let bound = bound(name);
        let note = match bound {
            None => "has no bound",
            Some(bound) if count > bound => "too many",
            Some(bound) if count < bound => "the bound may fall",
            Some(_) => "",
        };
        let shown = bound.map_or("-".to_string(), |bound| bound.to_string());
        println!("{name:44} {count:>7} of {shown:>7}  {note}");
        let is_within = bound.is_some_and(|bound| count <= bound);
        if !is_within {
            self.broken.push(name.to_string());
        }
        is_within
    }

    /// Fails if a count exceeded its bound.
    pub fn finish(self) -> Outcome {
        match self.broken.as_slice() {
            [] => Ok(()),
            broken => Err(format!("beyond xtask/bounds.txt: {}", broken.join(", ")).into()),
        }
    }
}

/// The bound of a name.
fn bound(name: &str) -> Option<usize> {
    let lines = BOUNDS.lines().filter(|line| !line.starts_with('#'));
    let mut pairs = lines.filter_map(|line| line.split_once('='));
    let (_, bound) = pairs.find(|(n, _)| n.trim() == name)?;
    bound.split('#').next()?.trim().parse().ok()
}
