//! Scopes: the loop rates around a place, and the updates that an edge commits.

use loop_lang::gotos::Tree;
use loop_lang::ir::{Loop, Place, RateId, Section};
use loop_lang::state::Layout;

/// Holds the loop rates of a loop.
///
/// A *scope* is a loop rate, by its position in `Layout::resume`.
pub struct Scopes {
    rates: Vec<RateId>,
    /// The scope of each rate's nearest loop rate.
    of_rate: Vec<u32>,
    /// The scope around each scope.
    outer: Vec<Option<u32>>,
    /// The nesting depth of each scope.
    depth: Vec<u32>,
}

impl Scopes {
    /// Reads the rate tree.
    pub fn of(program: &Loop, tree: &Tree, layout: &Layout) -> Scopes {
        let mut of_rate = vec![0; program.rates.len()];
        for (scope, rate) in layout.resume.iter().enumerate() {
            of_rate[rate.index()] = scope as u32;
        }
        let rates = layout.resume.clone();
        let mut scopes = Scopes {
            rates,
            of_rate,
            outer: Vec::new(),
            depth: Vec::new(),
        };
        for i in 0..program.rates.len() {
            scopes.of_rate[i] = scopes.of_rate[tree.loop_rate(RateId::new(i)).index()];
        }
        for rate in &layout.resume {
            let parent = program.rate(*rate).kind.parent();
            let outer = parent.map(|p| scopes.of_rate[p.index()]);
            // Parents come before their children, so the outer scope's depth is known.
            let depth = outer.map_or(0, |o| scopes.depth[o as usize] + 1);
            scopes.outer.push(outer);
            scopes.depth.push(depth);
        }
        scopes
    }

    /// Returns the scope of a rate's nearest loop rate.
    pub fn of_rate(&self, rate: RateId) -> u32 {
        self.of_rate[rate.index()]
    }

    /// Returns the loop rate of a scope.
    pub fn rate(&self, scope: u32) -> RateId {
        self.rates[scope as usize]
    }

    /// Returns the innermost scope of a place.
    ///
    /// A loop rate's `nest` and `done` belong to its scope.
    pub fn innermost(&self, place: Place) -> Option<u32> {
        match place {
            Place::At { rate, .. } => Some(self.of_rate(rate)),
            Place::Init | Place::Return => None,
        }
    }

    /// Returns a scope and its ancestors, innermost first.
    pub fn chain(&self, innermost: Option<u32>) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(innermost, |s| self.outer[*s as usize])
    }

    /// Returns whether `inner` is `outer` or inside of it.
    pub fn within(&self, inner: Option<u32>, outer: u32) -> bool {
        let depth = self.depth[outer as usize];
        self.chain(inner)
            .take_while(|s| self.depth[*s as usize] >= depth)
            .any(|s| s == outer)
    }

    /// Returns the scopes whose deferred updates an edge commits, innermost first.
    ///
    /// These are the scopes that the edge leaves, and the scope at whose guard or `done` it
    /// arrives.
    pub fn committed(&self, from: Place, to: Place) -> Vec<u32> {
        let inside = self.innermost(to);
        // A subrate's guard is in the middle of an iteration. It has no `done`.
        let arrived = match to {
            Place::At {
                rate,
                section: Section::Guard | Section::Done,
                ..
            } => inside.filter(|s| self.rate(*s) == rate),
            _ => None,
        };
        let left = |s: &u32| arrived == Some(*s) || !self.within(inside, *s);
        self.chain(self.innermost(from)).filter(left).collect()
    }
}
