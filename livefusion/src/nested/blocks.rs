//! Loops over arrays on blocks of rows: each block takes all steps before the next one.
//!
//! A step of all rows moves the whole state through memory. The state of a block stays in the
//! caches. The results are those of [`Lift::together`].

use super::lift::{ChosenRows, Lift, Lifted, rows};
use super::loops::{LoopForm, StateForm, around, held};
use crate::ast::{
    After, ArrayLoop, Axis, Body, BodyBuilder, Builder, Ends, ExternalPart, Fold, FoldStyle, Kind,
    Len, Node, TermId, Value, is_exact,
};
use crate::iterate::{StepTrace, sources};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashSet;
use std::cell::Cell;
use std::sync::Arc;

/// Holds the limits of blocks, in bytes of the state and of captured elements.
#[derive(Clone, Copy, Debug)]
pub struct BlockBytes {
    /// The minimum for all rows: more than caches hold.
    pub all: u64,
    /// The size of a block: it fits in the caches of a core.
    pub block: u64,
}

thread_local! {
    /// Changed by tests, whose states are small.
    static BYTES: Cell<BlockBytes> = const {
        Cell::new(BlockBytes {
            all: 32 << 20,
            block: 1 << 20,
        })
    };
}

impl BlockBytes {
    /// Builds a graph with these limits.
    pub fn with<T>(self, build: impl FnOnce() -> T) -> T {
        let _before = Restored(BYTES.replace(self));
        build()
    }
}

/// Sets earlier limits again, also after a panic.
struct Restored(BlockBytes);

impl Drop for Restored {
    fn drop(&mut self) {
        BYTES.set(self.0);
    }
}

/// A block is read and written once more than all rows, so fewer steps gain nothing.
const STEPS: u64 = 4;

impl Lift {
    /// The number of rows of a block, if a loop gains by blocks. It takes several steps, its state
    /// has a known size that exceeds the caches, and blocks change no bits. Errors name the row of
    /// a block, but not of some rows of a block, so all rows take their steps together.
    pub(super) fn block_of(&self, of: &ArrayLoop, form: &LoopForm) -> Option<u64> {
        let takes_few = match &of.ends {
            Ends::After(n) => match n.value.get() {
                Some(Value::Scalar(n)) => n.first().is_some_and(|n| n.bits < STEPS),
                _ => false,
            },
            Ends::Unless(_) => of.is_side(),
        };
        let keep_lengths = form.forms.iter().all(|form| *form <= StateForm::Fixed);
        if takes_few
            || form.stops_apart
            || !keep_lengths
            || self.chosen != ChosenRows::All
            || regroups(of)
        {
            return None;
        }
        let count = self.segments.known_len()?;
        let mut bytes: u64 = 0;
        for node in around(of) {
            let (elements, data) = match self.lifted(node) {
                Lifted::Same(_) => continue,
                Lifted::Each(each) => (count, each),
                Lifted::Rows(all) => {
                    let length = Axis::of_rows(&all.lengths)?.known()?;
                    (count.checked_mul(length)?, all.data)
                }
            };
            if data.known_len() != Some(elements) {
                return None;
            }
            let size: usize = data.types.iter().map(|ty| ty.size()).sum();
            bytes = bytes.saturating_add(elements.saturating_mul(size as u64));
        }
        let limits = BYTES.get();
        let blocks = bytes / limits.block.max(1);
        (bytes >= limits.all && blocks > 1).then(|| (count / blocks).max(1))
    }

    /// A loop whose rows take all steps block by block. Returns wider forms if the step needs them.
    pub(super) fn in_blocks(
        &mut self,
        of: &Arc<ArrayLoop>,
        form: &LoopForm,
        count: u64,
    ) -> Result<Vec<Lifted>, LoopForm> {
        let b = Builder::at("blocks", of.loc);
        let mut held = held(of, form);
        held.retain(|c| c.changes);
        let all = b.len(&self.segments);
        // The numbers of a block's rows. They are in memory, for the places of errors.
        let numbers = |first: &Arc<Node>| {
            let here = b.compute(combined(&[&all, first], |b, all, first| {
                let left = b.op(Op::Sub, &[all, first]);
                let most = b.lit(Const::u64(count));
                b.op(Op::Min, &[left, most])
            }));
            b.generate(Len::Delayed(here), from(first, |_, at| vec![at]))
        };
        let zero = b.constant(&[Const::u64(0)]);
        let mut start = vec![zero.clone(), numbers(&zero)];
        for c in &held {
            start.extend(self.final_parts(b, *c, &of.start[c.k]));
        }
        let trace = StepTrace::begin(b, &start);
        let (first, here) = (trace.state[0].clone(), b.len(&trace.state[1]));
        let mut block = self.of_block(b, of, (&first, &here), trace.state[1].clone());
        let ended = block.array_loop(of);
        self.forms = std::mem::take(&mut block.forms);
        if let Some(found) = self.forms.get(&Arc::as_ptr(of))
            && (&found.forms, found.stops_apart) != (&form.forms, form.stops_apart)
        {
            return Err(found.clone());
        }
        for (input, ended) in of.inputs.iter().zip(ended) {
            block.stands_for(input, ended);
        }
        let behind = b.compute(combined(&[&first, &here], |b, first, here| {
            b.op(Op::Add, &[first, here])
        }));
        let mut next = vec![behind.clone(), numbers(&behind)];
        for (c, old) in held.iter().zip(&trace.state[2..]) {
            let (new, length) = match c.form {
                StateForm::Fixed => {
                    let new = block.rows_of(b, &of.inputs[c.k]);
                    (new.data, Axis::of_rows(&new.lengths))
                }
                _ => (block.each_of(b, &of.inputs[c.k]), None),
            };
            let begin = of_rows(b, &first, length);
            let at = b.generate(Len::Delayed(b.len(&new)), from(&begin, |_, at| vec![at]));
            next.push(b.scatter_within(old, &at, &new, None));
        }
        let [begins, goes_on] = [&zero, &behind].map(|first| {
            b.compute(combined(&[first, &all], |b, first, all| {
                b.op(Op::Lt, &[first, all])
            }))
        });
        let ended = trace.ended(Ends::Unless(begins), &next, Some(goes_on));
        Ok(self.finals(b, of, &held, &ended[2..]))
    }

    /// A lift onto the rows of these numbers: from `first` on, as many as `count`.
    fn of_block(
        &mut self,
        b: Builder,
        of: &Arc<ArrayLoop>,
        (first, count): (&Arc<Node>, &Arc<Node>),
        numbers: Arc<Node>,
    ) -> Lift {
        let some = |data: &Arc<Node>, first: &Arc<Node>, count: Arc<Node>| {
            let fields = 0..data.types.len() as u32;
            let body = from(first, |b, at| {
                fields.map(|f| b.at(data, f, at, false)).collect()
            });
            b.generate(Len::Delayed(count), body)
        };
        let part = |block: &mut Lift, lifted| match lifted {
            Lifted::Same(node) => Lifted::Same(node),
            Lifted::Each(each) => Lifted::Each(match Axis::of_rows(&each) {
                Some(same) => block.constant_axis(b, &same),
                None => some(&each, first, count.clone()),
            }),
            Lifted::Rows(all) => {
                let length = Axis::of_rows(&all.lengths);
                let [begin, elements] = [first, count].map(|n| of_rows(b, n, length.clone()));
                let lengths = length.map(|length| block.constant_axis(b, &length));
                let data = some(&all.data, &begin, elements);
                rows(lengths.unwrap_or(all.lengths), data)
            }
        };
        let mut block = self.of_some(of, numbers, |_, block, all| part(block, all));
        let (Ends::After(ends) | Ends::Unless(ends)) = &of.ends;
        let ends_here = part(&mut block, self.lifted(ends));
        block.takes(ends, ends_here);
        block
    }
}

/// Whether blocks could change bits of a step: they group the combines of its folds and scans.
fn regroups(of: &ArrayLoop) -> bool {
    let mut seen = FxHashSet::default();
    let mut stack: Vec<&Arc<Node>> = of.step.iter().collect();
    let groups = |fold: &Fold| match fold.style {
        FoldStyle::Sequential | FoldStyle::Exact(_) => false,
        _ => !is_exact(&fold.step),
    };
    while let Some(node) = stack.pop() {
        if !seen.insert(Arc::as_ptr(node)) {
            continue;
        }
        match &node.kind {
            Kind::Fold(fold) | Kind::FoldS(fold) | Kind::Scan(fold, _) | Kind::ScanS(fold, _)
                if groups(fold) =>
            {
                return true;
            }
            _ => {}
        }
        if let After::Apart(ExternalPart::Loop(inner), _) = &node.after {
            stack.extend(&inner.step);
        }
        stack.extend(sources(node));
    }
    false
}

/// The number of elements of rows of this length. Without a length, each row has one.
fn of_rows(b: Builder, rows: &Arc<Node>, length: Option<Axis>) -> Arc<Node> {
    let Some(length) = length else {
        return rows.clone();
    };
    b.compute(combined(&[rows, length.node()], |b, rows, length| {
        b.op(Op::Mul, &[rows, length])
    }))
}

/// The results of an index that begins at a delayed number.
fn from(begin: &Arc<Node>, results: impl FnOnce(&mut BodyBuilder, TermId) -> Vec<TermId>) -> Body {
    let mut b = BodyBuilder::new(&[Ty::U64]);
    let (begin, index) = (b.scalar(begin, 0), b.param(0));
    let at = b.op(Op::Add, &[begin, index]);
    let results = results(&mut b, at);
    b.finish(&results)
}

/// A combination of two delayed numbers.
fn combined(
    [x, y]: &[&Arc<Node>; 2],
    combine: impl FnOnce(&mut BodyBuilder, TermId, TermId) -> TermId,
) -> Body {
    let mut b = BodyBuilder::new(&[]);
    let (x, y) = (b.scalar(x, 0), b.scalar(y, 0));
    let result = combine(&mut b, x, y);
    b.finish(&[result])
}
