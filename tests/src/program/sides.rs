//! Inputs of zips: equally long streams with different rates.

use super::Step;
use super::random::Making;
use crate::patterns::Use;
use loop_lang::types::Ty;

impl Making {
    /// A zip of streams with different rates. They may have other consumers.
    pub(super) fn on_demand(&mut self, depth: usize) -> Option<usize> {
        let side = self.stream(depth)?;
        let other = self.side(self.data[side].len())?;
        let inputs = self.either_order(side, other);
        let zipped = self.mapped(inputs.clone())?;
        if self.rng.chance(20) {
            let second = self.mapped(inputs)?;
            self.co_consumer(second)?;
        }
        for side in [side, other] {
            if self.rng.chance(25) {
                self.co_consumer(side)?;
            }
        }
        Some(zipped)
    }

    /// A co-consumer of an input: alone, with an array in memory or a derived array, and its
    /// result.
    fn co_consumer(&mut self, side: usize) -> Option<usize> {
        let (mut at, mut along) = (side, side);
        for _ in 0..self.rng.below(3) {
            let n = self.data[at].len();
            at = match self.rng.below(7) {
                0 => self.mapped(vec![at])?,
                1 => {
                    let inputs = self.either_order(at, along);
                    self.mapped(inputs)?
                }
                2 => {
                    let beside = self.memory(n)?;
                    let inputs = self.either_order(at, beside);
                    self.mapped(inputs)?
                }
                3 => {
                    let tags = (0..n).map(|_| self.rng.below(2) as u64).collect();
                    let tags = self.add(Step::Data(vec![(Ty::Bool, tags)]))?;
                    along = self.add(Step::Pack(at, tags))?;
                    along
                }
                4 => {
                    along = self.used(at, Use::Kept)?;
                    along
                }
                _ => self.used(at, Use::Scanned)?,
            };
        }
        let how = self
            .rng
            .pick(&[Use::Folded, Use::Counted, Use::ForcedFirst]);
        let result = match how {
            Use::ForcedFirst => at,
            how => self.used(at, how)?,
        };
        self.wanted.push(result);
        Some(result)
    }

    /// A stream `depth` rate changes away from memory.
    fn stream(&mut self, depth: usize) -> Option<usize> {
        let n = self.rng.pick(&self.lengths);
        let mut stream = self.memory(n)?;
        for _ in 0..depth {
            stream = match self.rng.below(10) {
                0..4 => self.kept(stream)?,
                8 => self.used(stream, Use::ExitedEarly)?,
                9 => self.used(stream, Use::Taken)?,
                4 | 5 => self.spread(stream)?,
                6 => {
                    let lengths = self.descriptor(stream, true)?;
                    self.scanned_s(lengths, stream)?
                }
                _ => {
                    let lengths = self.descriptor(stream, true)?;
                    self.folded_s(lengths, stream)?
                }
            };
            if self.rng.chance(20) {
                stream = self.mapped(vec![stream])?;
            }
        }
        Some(stream)
    }

    /// A stream of `n` elements that advances by its own predicates or segments.
    fn side(&mut self, n: usize) -> Option<usize> {
        match self.rng.below(10) {
            0..4 => self.tagged(n),
            8 | 9 => self.parts(n),
            4 => {
                let lengths = self.pieces(n);
                let values = self.memory(lengths.len())?;
                let lengths = self.add_lengths(lengths)?;
                self.expanded(lengths, values)
            }
            5 | 6 => {
                let lengths = self.pieces(n);
                let lengths = self.add_lengths(lengths)?;
                let data = self.memory(n)?;
                self.scanned_s(lengths, data)
            }
            _ => {
                let (left, right) = (self.side(n)?, self.tagged(n)?);
                self.mapped(vec![left, right])
            }
        }
    }

    /// An append of several streams with `n` elements in total.
    fn parts(&mut self, mut n: usize) -> Option<usize> {
        let mut parts = Vec::new();
        for last in [false, self.rng.chance(70), true] {
            let len = if last { n } else { self.rng.range(0, n) };
            let part = match self.rng.below(4) {
                0 => self.memory(len)?,
                1 => self.side(len)?,
                _ => self.tagged(len)?,
            };
            n -= len;
            parts.push(part);
            if last {
                break;
            }
            if self.rng.chance(15) {
                self.co_consumer(part)?;
            }
        }
        // Elements of one type, often that of the first part.
        let first = self.types(parts[0])[0];
        let other = self.elem();
        let ty = if self.rng.chance(70) { first } else { other };
        let mut alike = Vec::new();
        for part in parts {
            alike.push(match self.types(part) == [ty] {
                true => part,
                false => self.mapped_to(vec![part], ty)?,
            });
        }
        self.add(Step::Append(alike))
    }

    /// `n` elements of a longer array, selected by tags.
    fn tagged(&mut self, n: usize) -> Option<usize> {
        let mut tags = vec![0u64; n + self.rng.below(4)];
        tags[..n].fill(1);
        self.rng.shuffle(&mut tags);
        let data = self.memory(tags.len())?;
        let tags = self.add(Step::Data(vec![(Ty::Bool, tags)]))?;
        self.add(Step::Pack(data, tags))
    }
}
