//! Greedy clustering: puts each item into the first loop that can take it.

use super::loops::{Member, OpenLoops};
use super::problem::Problem;

/// Puts each item into the first loop that fits.
///
/// Such a loop is late enough for the item's links and has its classes. If there is none, the item
/// opens a new loop. A scalar is computed as early as possible.
pub fn solve(problem: &Problem) -> Vec<usize> {
    let trees = problem.trees();
    let mut by_tree: Vec<Vec<usize>> = vec![Vec::new(); problem.classes.len()];
    let mut loops = OpenLoops::new(problem);
    for (i, item) in problem.items.iter().enumerate() {
        let after = item.links.iter().map(|k| {
            let made = loops.loop_of()[k.from];
            made + k.prevents.is_some() as usize
        });
        let after = after.max().unwrap_or(0);
        let tree = item.at.first().map(|c| trees[*c]);
        let fits = |l: &usize| {
            let entry = loops.enter(*l, Member::Original(i));
            entry.is_some_and(|e| loops.owes(Member::Original(i), &e).next().is_none())
        };
        let chosen = match tree {
            None => (after..loops.count()).find(fits),
            Some(tree) => {
                let late = by_tree[tree].partition_point(|l| *l < after);
                let mut rest = by_tree[tree][late..].iter().copied();
                rest.find(fits)
            }
        };
        let l = chosen.unwrap_or_else(|| {
            let l = loops.open();
            if let Some(tree) = tree {
                by_tree[tree].push(l);
            }
            l
        });
        if let Some(entry) = loops.enter(l, Member::Original(i)) {
            loops.put(l, Member::Original(i), &entry);
        }
    }
    loops.loop_of().to_vec()
}
