//! Random clustering problems, and a brute-force solver for them.

use crate::fusion::Reason;
use crate::fusion::cluster::loops::Member;
use crate::fusion::cluster::problem::{
    Class, ClusterItem, Cost, DataField, Link, Partition, Problem, StreamRead, WRITE,
};
use crate::fusion::cluster::remat;
use proptest::prelude::RngExt;
use proptest::test_runner::{RngAlgorithm, TestRng};
use smallvec::smallvec;

/// Generates random numbers.
///
/// Equal seeds give equal numbers on every machine.
pub struct Rng(TestRng);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Rng(TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
    }

    /// Returns a number from `low` up to and including `high`.
    pub fn range(&mut self, low: usize, high: usize) -> usize {
        self.0.random_range(low..=high)
    }

    /// Returns true in `percent` of 100 cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.range(0, 99) < percent
    }

    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.range(0, of.len() - 1)]
    }

    /// An index, chosen by weight.
    fn weighted<const N: usize>(&mut self, weights: [usize; N]) -> usize {
        let at = self.range(1, weights.iter().sum());
        let sums = weights.iter().scan(0, |sum, w| {
            *sum += w;
            Some(*sum)
        });
        sums.take_while(|sum| *sum < at).count()
    }
}

/// Generates a random problem of `n` items.
///
/// The items are maps, zips, filters, packs, generators, folds, scalars, random access, expansions
/// into segments, folds of segments, and appends. Some may be rematerialised if `remat` is set.
pub fn random(seed: u64, n: usize, remat: bool) -> Problem {
    let mut g = Generator {
        rng: Rng::new(seed),
        problem: Problem::default(),
        arrays: Vec::new(),
        scalars: Vec::new(),
        counts: Vec::new(),
        phases: None,
        busy: Rng::new(seed ^ 0xB0B).range(5, 30),
        // Folds with many captures give more reasons to rematerialise.
        captures: if remat { 60 } else { 25 },
    };
    if g.rng.chance(30) {
        g.phases = Some(g.class(Class::Root));
    }
    for _ in 0..g.rng.range(1, 2) {
        let root = g.class(g.phases.map_or(Class::Root, Class::Phase));
        for _ in 0..g.rng.range(1, 2) {
            g.array(None, root);
        }
    }
    for i in 0..n {
        g.item(i);
    }
    g.results();
    if remat {
        g.allow_remat();
    }
    g.problem
}

struct Generator {
    rng: Rng,
    problem: Problem,
    /// Fields of arrays with their classes.
    arrays: Vec<(usize, usize)>,
    /// Scalars, with the items that make them.
    scalars: Vec<(usize, usize)>,
    /// Items that count the filtered elements of each segment, with the subrate, the counts, and
    /// the class of the counts.
    counts: Vec<(usize, usize, usize, usize)>,
    /// The class that represents all roots, if arrays are appended.
    phases: Option<usize>,
    /// The percentage of folds among the items.
    busy: usize,
    /// The percentage of items that capture a scalar, if there is one.
    captures: usize,
}

impl Generator {
    fn class(&mut self, class: Class) -> usize {
        self.problem.classes.push(class);
        self.problem.classes.len() - 1
    }

    fn array(&mut self, maker: Option<usize>, class: usize) -> usize {
        let size = self.rng.pick(&[1, 4, 8, 8, 8]);
        let mut length = 64;
        let mut at = self.problem.classes[class];
        while let Some(parent) = at.parent() {
            length = match at {
                Class::Nested { .. } => length * 8,
                _ => length / 2,
            };
            at = self.problem.classes[parent];
        }
        self.problem.fields.push(DataField {
            bytes: size * length,
            maker,
            stored: false,
        });
        let field = self.problem.fields.len() - 1;
        self.arrays.push((field, class));
        field
    }

    fn scalar(&mut self, maker: usize) {
        self.scalars.push((maker, self.problem.fields.len()));
        self.problem.fields.push(DataField {
            maker: Some(maker),
            ..DataField::default()
        });
    }

    fn item(&mut self, i: usize) {
        let appends = if self.phases.is_some() { 12 } else { 0 };
        let kinds = [40, 12, 6, self.busy, 6, 6, 6, 5, 4, 8, appends];
        let mut item = ClusterItem::default();
        let (field, class) = self.some_array();
        match self.rng.weighted(kinds) {
            0 => {
                self.consume(&mut item, field, class);
                self.zip(&mut item, class);
                self.array(Some(i), class);
            }
            1 => {
                self.consume(&mut item, field, class);
                let sub = self.class(Class::Sub(class));
                item.makes.push(sub);
                self.array(Some(i), sub);
            }
            // A pack by tags that earlier packs used.
            2 => {
                let made = self.problem.items.iter().flat_map(|m| m.makes.clone());
                let appends = |c: &usize| self.problem.classes[*c].parent() == self.phases;
                let subs: Vec<usize> = made.filter(|c| !appends(c)).collect();
                if subs.is_empty() {
                    return self.item(i);
                }
                let sub = self.rng.pick(&subs);
                let Some(parent) = self.problem.classes[sub].parent() else {
                    return self.item(i);
                };
                let fit = self.arrays.iter().filter(|a| a.1 == parent);
                let fit: Vec<usize> = fit.map(|a| a.0).collect();
                let field = self.rng.pick(&fit);
                self.consume(&mut item, field, parent);
                item.makes.push(sub);
                self.array(Some(i), sub);
            }
            3 => {
                self.consume(&mut item, field, class);
                self.scalar(i);
            }
            4 => {
                for _ in 0..self.rng.range(0, 2) {
                    if !self.scalars.is_empty() {
                        let (scalar, field) = self.rng.pick(&self.scalars);
                        item.link(scalar, None);
                        item.uses.push(field);
                    }
                }
                self.scalar(i);
            }
            // A generator as long as an array, but without its elements.
            7 => {
                if let Some(maker) = self.problem.fields[field].maker {
                    item.link(maker, None);
                }
                item.at.push(class);
                self.array(Some(i), class);
            }
            // A count of the filtered elements of each segment.
            8 => {
                let Class::Nested { parent, lengths } = self.problem.classes[class] else {
                    return self.item(i);
                };
                self.consume(&mut item, field, class);
                self.consume(&mut item, lengths, parent);
                let sub = self.class(Class::Sub(class));
                item.makes.push(sub);
                let count = self.array(Some(i), parent);
                self.counts.push((i, sub, count, parent));
            }
            // A fold of filtered elements, by the same tags in any loop.
            9 => {
                if self.counts.is_empty() {
                    return self.item(i);
                }
                let (counted, sub, count, parent) = self.rng.pick(&self.counts);
                self.consume(&mut item, count, parent);
                let data = self.arrays.iter().filter(|a| a.1 == sub);
                let data: Vec<usize> = data.map(|a| a.0).collect();
                if let Some(field) = data.get(self.rng.range(0, data.len())) {
                    self.consume(&mut item, *field, sub);
                    item.streams.retain(|s| s.class != sub);
                }
                item.link(counted, None);
                item.at = smallvec![sub, parent];
                item.makes.push(sub);
                self.array(Some(i), parent);
            }
            // An append: both parts in one loop that has their roots, or from memory.
            10 => {
                let Some(phases) = self.phases else {
                    return self.item(i);
                };
                for (field, _) in [(field, class), self.some_array()] {
                    if let Some(maker) = self.problem.fields[field].maker {
                        item.link(maker, None);
                    }
                    if !item.uses.contains(&field) {
                        item.uses.push(field);
                    }
                }
                item.at.push(phases);
                let appended = self.class(Class::Sub(phases));
                item.makes.push(appended);
                self.array(Some(i), appended);
            }
            5 => {
                self.consume(&mut item, field, class);
                let nested = self.class(Class::Nested {
                    parent: class,
                    lengths: field,
                });
                item.at.insert(0, nested);
                self.array(Some(i), nested);
            }
            _ => {
                let nested =
                    self.arrays
                        .iter()
                        .filter_map(|(f, c)| match self.problem.classes[*c] {
                            Class::Nested { parent, lengths } => Some((*f, *c, parent, lengths)),
                            _ => None,
                        });
                let nested: Vec<_> = nested.collect();
                if nested.is_empty() {
                    return self.item(i);
                }
                let (field, class, parent, lengths) = self.rng.pick(&nested);
                self.consume(&mut item, field, class);
                self.consume(&mut item, lengths, parent);
                self.array(Some(i), parent);
            }
        }
        self.prevent(&mut item);
        self.problem.items.push(item);
    }

    fn some_array(&mut self) -> (usize, usize) {
        let recent = self.arrays.len().min(6);
        let from = if self.rng.chance(70) {
            self.arrays.len() - recent
        } else {
            0
        };
        self.arrays[self.rng.range(from, self.arrays.len() - 1)]
    }

    fn zip(&mut self, item: &mut ClusterItem, class: usize) {
        let others = self.arrays.iter().filter(|a| a.1 == class);
        let others: Vec<usize> = others.map(|a| a.0).collect();
        if self.rng.chance(40) {
            let other = self.rng.pick(&others);
            self.consume(item, other, class);
        }
    }

    fn consume(&mut self, item: &mut ClusterItem, field: usize, class: usize) {
        let maker = self.problem.fields[field].maker;
        if let Some(maker) = maker {
            item.link(maker, None);
        }
        if let Class::Nested { lengths, .. } = self.problem.classes[class]
            && let Some(maker) = self.problem.fields[lengths].maker
        {
            item.link(maker, None);
        }
        if !item.at.contains(&class) {
            item.at.push(class);
        }
        item.streams.push(StreamRead { maker, class });
        if !item.uses.contains(&field) {
            item.uses.push(field);
        }
    }

    /// Adds captured scalars and random access to an item.
    fn prevent(&mut self, item: &mut ClusterItem) {
        if !self.scalars.is_empty() && self.rng.chance(self.captures) && !item.at.is_empty() {
            let (scalar, field) = self.rng.pick(&self.scalars);
            if scalar < self.problem.items.len() {
                item.link(scalar, Some(Reason::Fold));
                item.uses.push(field);
            }
        }
        if self.rng.chance(8) {
            let (field, _) = self.some_array();
            match self.problem.fields[field].maker {
                Some(maker) if maker == self.problem.items.len() => return,
                Some(maker) => item.link(maker, Some(Reason::RandomAccess)),
                None => {}
            }
            if !item.uses.contains(&field) {
                item.uses.push(field);
            }
        }
    }

    /// Marks unused fields as results, and some of the others.
    fn results(&mut self) {
        for f in 0..self.problem.fields.len() {
            let used = self.problem.items.iter().any(|i| i.uses.contains(&f));
            let wanted = !used || self.rng.chance(15);
            let field = &mut self.problem.fields[f];
            field.stored = field.maker.is_some() && wanted;
        }
    }
}

impl Generator {
    /// Allows rematerialisation of most items that make arrays.
    fn allow_remat(&mut self) {
        let items = 0..self.problem.items.len();
        let prices: Vec<Option<u64>> = items
            .map(|i| {
                let mut arrays = self.problem.fields.iter().filter(|f| f.bytes > 0);
                let made = arrays.find(|f| f.maker == Some(i));
                let bytes = made?.bytes;
                let price = self.rng.pick(&[0, bytes / 8, bytes / 2, bytes]);
                self.rng.chance(80).then_some(price)
            })
            .collect();
        remat::allow(&mut self.problem, &prices);
    }
}

/// Finds the least cost of any partition.
///
/// It tries all partitions, but skips those that already move too much.
pub fn brute_force(problem: &Problem) -> Cost {
    let mut best = None;
    let stored = problem.fields.iter().filter(|f| f.stored);
    let written = stored.map(|f| WRITE * f.bytes).sum();
    all(problem, &mut Vec::new(), written, &mut best);
    best.unwrap_or_default()
}

fn all(problem: &Problem, loop_of: &mut Vec<usize>, moved: u64, best: &mut Option<Cost>) {
    let i = loop_of.len();
    let Some(item) = problem.items.get(i) else {
        let partition = Partition::from(loop_of.clone());
        return all_copies(problem, partition, loop_of.len(), best);
    };
    let count = loop_of.iter().max().map_or(0, |l| l + 1);
    for l in 0..=count {
        let inside = |j: &usize| loop_of.get(*j) == Some(&l);
        let apart = |k: &Link| k.prevents.is_some() && inside(&k.from);
        let has = |f: &usize| {
            let reads = |j: usize| inside(&j) && problem.items[j].uses.contains(f);
            let made = |m: usize| inside(&m) || problem.items[m].remat.is_some();
            problem.fields[*f].maker.is_some_and(made) || (0..i).any(reads)
        };
        let new = item.uses.iter().filter(|f| !has(f));
        let moved = moved + new.map(|f| problem.fields[*f].bytes).sum::<u64>();
        let hopeless = best.is_some_and(|b| moved > b.bytes);
        if !hopeless && !item.links.iter().any(apart) {
            loop_of.push(l);
            all(problem, loop_of, moved, best);
            loop_of.pop();
        }
    }
}

/// Tries all ways to rematerialise items before `before` in loops that could use them.
fn all_copies(problem: &Problem, mut partition: Partition, before: usize, best: &mut Option<Cost>) {
    let Some(i) = before.checked_sub(1) else {
        partition.copies.sort_unstable();
        if let Some(cost) = cost(problem, &partition) {
            *best = Some(best.map_or(cost, |b| b.min(cost)));
        }
        return;
    };
    let mut wanted: Vec<usize> = Vec::new();
    for (member, l) in partition
        .members()
        .filter(|_| problem.items[i].remat.is_some())
    {
        let mut links = problem.item(member).links.iter();
        let uses = links.any(|k| k.from == i && k.prevents.is_none());
        if uses && partition.loop_of[i] != l && !wanted.contains(&l) {
            wanted.push(l);
        }
    }
    for set in 0..1u32 << wanted.len() {
        let mut next = partition.clone();
        let chosen = wanted.iter().enumerate().filter(|(k, _)| set >> k & 1 == 1);
        next.copies.extend(chosen.map(|(_, l)| (i, *l)));
        next.copies.sort_unstable();
        all_copies(problem, next, i, best);
    }
}

/// The cost of a partition, straight from the definitions. None if it is not allowed.
fn cost(problem: &Problem, partition: &Partition) -> Option<Cost> {
    let (loop_of, copies) = (&partition.loop_of, &partition.copies);
    let count = partition.count();
    let is_in = |i: usize, l: usize| loop_of[i] == l || copies.contains(&(i, l));
    if has_cycle(problem, partition, count) {
        return None;
    }
    for (member, l) in partition.members() {
        let copied = matches!(member, Member::Copy(_));
        let mut links = problem.item(member).links.iter();
        let wrong = |k: &Link| match is_in(k.from, l) {
            true => k.prevents.is_some(),
            false => copied && k.alone,
        };
        if links.any(wrong) {
            return None;
        }
    }
    let mut bytes = copies
        .iter()
        .filter_map(|(i, _)| problem.remat_price(*i))
        .sum();
    let mut written: Vec<bool> = problem.fields.iter().map(|f| f.stored).collect();
    for l in 0..count {
        let items: Vec<usize> = (0..loop_of.len()).filter(|i| is_in(*i, l)).collect();
        let touches = |i: &usize| !problem.items[*i].at.is_empty();
        let roots = (0..problem.classes.len()).map(Some);
        let roots = roots.chain((!items.iter().any(touches)).then_some(None));
        let lengths = roots.filter_map(|root| lengths_read(problem, &items, root));
        let read = lengths.map(|lengths| {
            let uses = items.iter().flat_map(|i| problem.items[*i].uses.clone());
            let mut read: Vec<usize> = uses.chain(lengths).collect();
            read.sort_unstable();
            read.dedup();
            read.retain(|f| problem.fields[*f].maker.is_none_or(|m| !is_in(m, l)));
            let bytes: u64 = read.iter().map(|f| problem.fields[*f].bytes).sum();
            (bytes, read)
        });
        let (least, read) = read.min()?;
        bytes += least;
        for f in read {
            written[f] |= problem.fields[f].maker.is_some();
        }
    }
    let writes = problem.fields.iter().zip(written).filter(|(_, w)| *w);
    bytes += WRITE * writes.map(|(f, _)| f.bytes).sum::<u64>();
    Some(Cost {
        bytes,
        loops: count,
    })
}

fn has_cycle(problem: &Problem, partition: &Partition, count: usize) -> bool {
    let mut before = vec![vec![false; count]; count];
    for (member, l) in partition.members() {
        for link in &problem.item(member).links {
            let from = partition.loop_of[link.from];
            before[from][l] |= from != l;
        }
    }
    for k in 0..count {
        for i in 0..count {
            for j in 0..count {
                before[i][j] |= before[i][k] && before[k][j];
            }
        }
    }
    (0..count).any(|l| before[l][l])
}

/// The fields of segment lengths that a loop over this root reads. None if the loop cannot hold
/// these items.
fn lengths_read(problem: &Problem, items: &[usize], root: Option<usize>) -> Option<Vec<usize>> {
    let mut lengths = Vec::new();
    for i in items {
        for class in &problem.items[*i].at {
            let mut at = *class;
            while Some(at) != root {
                at = match problem.classes[at] {
                    Class::Root => return None,
                    Class::Sub(parent) => {
                        let makes = |j: &&usize| problem.items[**j].makes.contains(&at);
                        items.iter().find(makes)?;
                        parent
                    }
                    Class::Nested { parent, lengths: f } => {
                        lengths.push(f);
                        parent
                    }
                    Class::Phase(parent) => parent,
                };
            }
        }
        let streams = problem.items[*i].streams.iter();
        let fit = streams.clone().all(|s| {
            let visited = !matches!(problem.classes[s.class], Class::Sub(_));
            s.maker.is_some_and(|m| items.contains(&m)) || root == Some(s.class) || visited
        });
        if !fit {
            return None;
        }
    }
    Some(lengths)
}
