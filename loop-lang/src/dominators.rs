//! Dominators of a flow graph, by Lengauer and Tarjan's algorithm: O(n log n), no recursion.

/// Answers dominance queries on a flow graph.
pub struct Dominators {
    /// The preorder number in the dominator tree and the size of the subtree; none if unreachable.
    interval: Vec<Option<(usize, usize)>>,
}

impl Dominators {
    /// Computes the dominators of a graph given by successors.
    ///
    /// Node 0 is the entry.
    pub fn of(successors: &[Vec<usize>]) -> Dominators {
        let n = successors.len();
        if n == 0 {
            return Dominators {
                interval: Vec::new(),
            };
        }
        let (order, number, parent) = depth_first(successors);
        let idom = immediate(successors, &order, &number, &parent);
        // In `order`, a node comes after its dominator.
        let mut size = vec![1usize; order.len()];
        for i in (1..order.len()).rev() {
            size[idom[i]] += size[i];
        }
        let mut next = vec![1usize; order.len()];
        let mut start = vec![0usize; order.len()];
        for i in 1..order.len() {
            start[i] = next[idom[i]];
            next[idom[i]] += size[i];
            next[i] = start[i] + 1;
        }
        let mut interval = vec![None; n];
        for (i, node) in order.iter().enumerate() {
            interval[*node] = Some((start[i], size[i]));
        }
        Dominators { interval }
    }

    /// Tells whether every path to `b` goes through `a`.
    ///
    /// It holds if `b` is unreachable.
    pub fn dominates(&self, a: usize, b: usize) -> bool {
        match (self.interval[a], self.interval[b]) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some((start, size)), Some((at, _))) => (start..start + size).contains(&at),
        }
    }

    /// Tells whether there is a path from the entry to a node.
    pub fn reachable(&self, node: usize) -> bool {
        self.interval[node].is_some()
    }
}

const NONE: usize = usize::MAX;

/// Returns the nodes in preorder, each node's number in it, and each number's parent.
fn depth_first(successors: &[Vec<usize>]) -> (Vec<usize>, Vec<usize>, Vec<usize>) {
    let mut number = vec![NONE; successors.len()];
    let (mut order, mut parent) = (Vec::new(), Vec::new());
    let mut stack = vec![(0, 0)];
    while let Some((node, from)) = stack.pop() {
        if number[node] != NONE {
            continue;
        }
        number[node] = order.len();
        order.push(node);
        parent.push(from);
        let from = number[node];
        stack.extend(successors[node].iter().rev().map(|s| (*s, from)));
    }
    (order, number, parent)
}

/// Returns the immediate dominators, all in preorder numbers.
fn immediate(
    successors: &[Vec<usize>],
    order: &[usize],
    number: &[usize],
    parent: &[usize],
) -> Vec<usize> {
    let n = order.len();
    let mut predecessors = vec![Vec::new(); n];
    for (i, node) in order.iter().enumerate() {
        for s in &successors[*node] {
            predecessors[number[*s]].push(i);
        }
    }
    let mut forest = Forest {
        ancestor: vec![NONE; n],
        label: (0..n).collect(),
        semi: (0..n).collect(),
    };
    let mut idom = vec![0; n];
    let mut bucket = vec![Vec::new(); n];
    for w in (1..n).rev() {
        for p in &predecessors[w] {
            let u = forest.eval(*p);
            forest.semi[w] = forest.semi[w].min(forest.semi[u]);
        }
        bucket[forest.semi[w]].push(w);
        let p = parent[w];
        forest.ancestor[w] = p;
        for v in std::mem::take(&mut bucket[p]) {
            let u = forest.eval(v);
            idom[v] = if forest.semi[u] < forest.semi[v] {
                u
            } else {
                p
            };
        }
    }
    for w in 1..n {
        if idom[w] != forest.semi[w] {
            idom[w] = idom[idom[w]];
        }
    }
    idom
}

/// The forest of visited nodes, with path compression.
struct Forest {
    ancestor: Vec<usize>,
    label: Vec<usize>,
    semi: Vec<usize>,
}

impl Forest {
    /// Returns the node with the least semidominator on the path from `v` to its tree's root
    /// (exclusive).
    fn eval(&mut self, v: usize) -> usize {
        if self.ancestor[v] == NONE {
            return self.label[v];
        }
        let mut path = Vec::new();
        let mut at = v;
        while self.ancestor[self.ancestor[at]] != NONE {
            path.push(at);
            at = self.ancestor[at];
        }
        while let Some(u) = path.pop() {
            let above = self.ancestor[u];
            if self.semi[self.label[above]] < self.semi[self.label[u]] {
                self.label[u] = self.label[above];
            }
            self.ancestor[u] = self.ancestor[above];
        }
        self.label[v]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Tells whether `b` is reachable without going through `a`.
    fn avoids(successors: &[Vec<usize>], a: usize, b: usize) -> bool {
        let mut seen = vec![false; successors.len()];
        let mut stack = if a == 0 { vec![] } else { vec![0] };
        while let Some(node) = stack.pop() {
            if !std::mem::replace(&mut seen[node], true) {
                stack.extend(successors[node].iter().filter(|s| **s != a));
            }
        }
        seen[b]
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(
            edges in prop::collection::vec((0usize..12, 0usize..12), 0..40),
        ) {
            let mut successors = vec![Vec::new(); 12];
            for (a, b) in edges {
                successors[a].push(b);
            }
            let dominators = Dominators::of(&successors);
            for b in 0..12 {
                // Node 12 does not exist, so avoiding it is being reachable.
                prop_assert_eq!(dominators.reachable(b), avoids(&successors, 12, b));
                for a in 0..12 {
                    prop_assert_eq!(dominators.dominates(a, b), !avoids(&successors, a, b) && dominators.reachable(a)
                        || !dominators.reachable(b));
                }
            }
        }
    }
}
