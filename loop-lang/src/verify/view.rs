//! A loop with its blocks in execution order, and tables for frequent queries.

use crate::gotos::Tree;
use crate::ir::*;
use rustc_hash::FxHashMap;

/// A block with its place. Its number is its position in [`View::blocks`].
pub(super) struct Placed<'a> {
    pub(super) labels: &'a [Label],
    pub(super) block: &'a Block,
    pub(super) place: Place,
}

pub(super) struct View<'a> {
    pub(super) l: &'a Loop,
    pub(super) tree: Tree,
    /// By rank of their places; blocks in places that the tree lacks come last.
    pub(super) blocks: Vec<Placed<'a>>,
    /// Block numbers by slot of the alias map.
    number: FxHashMap<usize, usize>,
    rank: FxHashMap<Place, usize>,
    /// The first and last rank of each rate's places, including rates below it.
    span: Vec<(usize, usize)>,
    /// The root above each rate.
    root: Vec<RateId>,
    /// The group of each carried variable.
    pub(super) group_of: Vec<Option<GroupId>>,
    /// The loop rate with this counter, for each variable.
    pub(super) counts: Vec<Option<RateId>>,
    /// The parameter kind of each variable.
    pub(super) param: Vec<Option<ParamKind>>,
}

impl<'a> View<'a> {
    /// Views a loop with resolved ids and a sound rate tree.
    pub(super) fn of(l: &'a Loop) -> View<'a> {
        let tree = Tree::of(l);
        let places = tree.places().iter().enumerate();
        let rank: FxHashMap<Place, usize> = places.map(|(i, p)| (*p, i)).collect();
        let mut blocks: Vec<Placed> = Vec::with_capacity(l.blocks.len());
        for (labels, block) in l.blocks.iter() {
            let place = labels
                .first()
                .map_or(Place::Return, |label| tree.place(l, *label));
            blocks.push(Placed {
                labels,
                block,
                place,
            });
        }
        blocks.sort_by_key(|b| rank.get(&b.place).copied().unwrap_or(usize::MAX));
        let slots = blocks.iter().enumerate().filter_map(|(i, b)| {
            let slot = l.blocks.slot(*b.labels.first()?)?;
            Some((slot, i))
        });
        View {
            number: slots.collect(),
            span: spans(l, &rank),
            root: roots(l),
            group_of: group_of(l),
            counts: counts(l),
            param: params(l),
            l,
            tree,
            blocks,
            rank,
        }
    }

    /// Returns the block with a label.
    pub(super) fn target(&self, label: Label) -> Option<usize> {
        self.number.get(&self.l.blocks.slot(label)?).copied()
    }

    /// Returns a block's name: its first label.
    pub(super) fn name(&self, block: usize) -> String {
        match self.blocks[block].labels.first() {
            Some(label) => self.l.label_name(*label),
            None => format!("block {block}"),
        }
    }

    /// Returns the position of a place in execution order; none if the tree has no such place.
    pub(super) fn rank(&self, place: Place) -> Option<usize> {
        self.rank.get(&place).copied()
    }

    /// Tells whether a place belongs to a rate or to one below it.
    pub(super) fn within(&self, place: Place, rate: RateId) -> bool {
        let (first, last) = self.span[rate.index()];
        self.rank(place)
            .is_some_and(|r| (first..=last).contains(&r))
    }

    /// Tells whether `rate` is `ancestor` or below it.
    pub(super) fn below(&self, rate: RateId, ancestor: RateId) -> bool {
        let ((first, _), (from, to)) = (self.span[rate.index()], self.span[ancestor.index()]);
        (from..=to).contains(&first)
    }

    pub(super) fn root_of(&self, rate: RateId) -> RateId {
        self.root[rate.index()]
    }

    /// Shows a place as text.
    pub(super) fn show(&self, place: Place) -> String {
        match place {
            Place::Init => "`init`".into(),
            Place::Return => "the returning block".into(),
            Place::At {
                rate,
                stage,
                section,
            } => {
                let (name, section) = (&self.l.rate(rate).name, section.name());
                match stage {
                    0 => format!("`{section}` of `{name}`"),
                    _ => format!("`{section}` of `{name}`, stage {stage}"),
                }
            }
        }
    }
}

/// Children's spans are in their parents' spans, and children come later in the table.
fn spans(l: &Loop, rank: &FxHashMap<Place, usize>) -> Vec<(usize, usize)> {
    let mut spans = vec![(usize::MAX, 0); l.rates.len()];
    for (place, r) in rank {
        if let Place::At { rate, .. } = place {
            let span: &mut (usize, usize) = &mut spans[rate.index()];
            *span = (span.0.min(*r), span.1.max(*r));
        }
    }
    spans
}

fn roots(l: &Loop) -> Vec<RateId> {
    let mut roots: Vec<RateId> = Vec::with_capacity(l.rates.len());
    for (i, rate) in l.rates.iter().enumerate() {
        let above = rate.kind.parent().map(|p| roots[p.index()]);
        roots.push(above.unwrap_or(RateId::new(i)));
    }
    roots
}

fn group_of(l: &Loop) -> Vec<Option<GroupId>> {
    let mut of = vec![None; l.vars.len()];
    for (i, group) in l.groups.iter().enumerate() {
        for v in &group.vars {
            of[v.index()] = Some(GroupId::new(i));
        }
    }
    of
}

fn counts(l: &Loop) -> Vec<Option<RateId>> {
    let mut of = vec![None; l.vars.len()];
    for (i, rate) in l.rates.iter().enumerate() {
        if let Some(v) = rate.kind.counter() {
            of[v.index()] = Some(RateId::new(i));
        }
    }
    of
}

fn params(l: &Loop) -> Vec<Option<ParamKind>> {
    let mut of = vec![None; l.vars.len()];
    for p in &l.params {
        of[p.var.index()] = Some(p.kind);
    }
    of
}
