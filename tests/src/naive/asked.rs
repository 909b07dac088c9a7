//! How many elements of each node are asked for at least. A `take_while` asks for those that it tests, and
//! what comes before it may not be computed any further.

use super::{Evaluated, Key, Naive, When, links, reachable};
use livefusion::ast::{Kind, Node};
use std::collections::HashMap;
use std::sync::Arc;

/// Steps of its own rate that each node takes at least.
pub struct Asked {
    steps: HashMap<Key, usize>,
}

/// All steps, however many these are.
const ALL: usize = usize::MAX;

impl Asked {
    /// Follows what is asked for from the roots down.
    pub fn of(naive: &Naive, roots: &[Arc<Node>]) -> Asked {
        let mut elements: HashMap<Key, usize> =
            roots.iter().map(|r| (Arc::as_ptr(r), ALL)).collect();
        let mut asked = Asked {
            steps: HashMap::new(),
        };
        // Users come before what they use.
        for node in reachable(roots) {
            let Some(e) = naive.get(&node) else { continue };
            let wanted = elements.get(&Arc::as_ptr(&node)).copied().unwrap_or(0);
            let steps = steps(&node, e, wanted);
            asked.steps.insert(Arc::as_ptr(&node), steps);
            let tested = match (steps, e.looked_at) {
                (ALL, Some(n)) => n,
                _ => steps,
            };
            for (i, below) in links(&node).iter().enumerate() {
                let all = if i < node.inputs.len() { tested } else { ALL };
                let most = elements.entry(Arc::as_ptr(below)).or_default();
                *most = all.max(*most);
            }
        }
        asked
    }

    /// Whether a node must come to a time of its own.
    pub fn includes(&self, node: &Arc<Node>, when: When) -> bool {
        let steps = self.steps.get(&Arc::as_ptr(node)).copied().unwrap_or(0);
        match when {
            When::Element(i) => i < steps,
            When::Init | When::Done => steps == ALL,
        }
    }
}

/// The steps that a node must take for so many of its elements.
fn steps(node: &Node, e: &Evaluated, elements: usize) -> usize {
    if elements >= e.data.len() {
        return ALL;
    }
    match node.kind {
        Kind::Filter(_) | Kind::Pack | Kind::TakeWhile { .. } | Kind::Take(_) => match elements {
            0 => 0,
            m => e.origin[m - 1] + 1,
        },
        Kind::Map(_) | Kind::Zip | Kind::Fields(_) | Kind::Scan(..) | Kind::Generate(..) => {
            elements
        }
        // Some segments need some of the elements, but who asks for how many is not followed here.
        _ => 0,
    }
}
