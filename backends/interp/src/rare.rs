//! Rare instructions: making, shortening, scattering and sorting arrays, and results.

use crate::code::{Array, Join, Rare, Reg, ResultSite};
use crate::groups::Values;
use crate::machine::{Machine, Stop, index};
use livefusion_backend::buffer::Content;
use livefusion_backend::sort::{Column, sort};
use livefusion_backend::{Arg, Buffer, Held, Value};
use loop_lang::ir::CombId;
use loop_lang::types::{Const, Ty};

impl<'a> Machine<'a, '_> {
    /// Runs one instruction. Returns a stop if the run ends with it.
    pub(crate) fn rare(&mut self, rare: &'a Rare) -> Option<Stop> {
        let result = match rare {
            Rare::New {
                comb,
                slot,
                ty,
                len,
                value,
                count,
            } => {
                let (len, value) = (self.get(*len), value.map_or(0, |v| self.get(v)));
                self.count(*count, len);
                self.new_array(*comb, *slot, *ty, len, value)
            }
            Rare::CopyArray {
                comb,
                slot,
                from,
                ty,
                counts,
            } => {
                let len = self.length(*from);
                for c in counts {
                    self.count(Some(*c), len);
                }
                self.copy_array(*comb, *slot, *from, *ty)
            }
            Rare::Return(results) => self.finish(results),
            Rare::Truncate { slot, len } => {
                let len = index(self.get(*len)).unwrap_or(usize::MAX);
                if let Some(a) = &mut self.frame.arrays[*slot as usize] {
                    a.truncate(len);
                }
                Ok(())
            }
            Rare::Length { d, array } => {
                self.set(*d, self.length(*array));
                Ok(())
            }
            Rare::Scatter {
                slots,
                index: i,
                values,
                join,
            } => {
                if let Some(i) = index(self.get(*i)) {
                    self.scatter(slots, i, values, join.as_ref());
                }
                Ok(())
            }
            Rare::Sort { comb, slots, rows } => self.sort(*comb, slots, self.get(*rows)),
            Rare::Start { group, var, value } => {
                self.start(*group, *var as usize, self.get(*value));
                Ok(())
            }
            Rare::Total { group, to } => {
                for (r, x) in to.iter().zip(self.total(*group)) {
                    self.set(*r, x);
                }
                Ok(())
            }
            Rare::Scan {
                group,
                counter,
                elems,
                results,
            } => {
                let position = self.get(*counter);
                let elems = elems.iter().map(|r| self.get(*r)).collect();
                for (r, x) in results.iter().zip(self.scan(*group, position, elems)) {
                    self.set(*r, x);
                }
                Ok(())
            }
        };
        result.err()
    }

    fn count(&mut self, counter: Option<u32>, n: u64) {
        if let Some(c) = counter {
            let sum = &mut self.counts[c as usize];
            *sum = sum.saturating_add(n);
        }
    }

    /// Returns the length of an array, or 0 if its slot is empty.
    fn length(&self, array: Array) -> u64 {
        let len = match array {
            Array::Param(p) => match self.far_of(p) {
                Some(far) => far.len(),
                None => self.params[p as usize].len(),
            },
            Array::Slot(s) => self.frame.arrays[s as usize].as_ref().map_or(0, Held::len),
        };
        len as u64
    }

    /// Takes bytes from the memory limit.
    fn reserve(&mut self, comb: CombId, bytes: u64) -> Result<(), Stop> {
        match self.frame.memory.take(bytes) {
            true => Ok(()),
            false => Err(self.no_memory(comb, bytes)),
        }
    }

    /// Empties a slot. Its memory may be allocated again.
    fn vacate(&mut self, slot: u32) {
        if let Some(old) = self.frame.arrays[slot as usize].take() {
            let bytes = size(old.ty(), old.len() as u64);
            self.frame.memory.give_back(bytes);
        }
    }

    fn new_array(
        &mut self,
        comb: CombId,
        slot: u32,
        ty: Ty,
        len: u64,
        value: u64,
    ) -> Result<(), Stop> {
        self.vacate(slot);
        let frame = &mut self.frame;
        let (at, content) = (slot as usize, Content::Word(value));
        let capacity = frame.growth.begin(at, ty, len, &mut frame.memory);
        let array = capacity.and_then(|len| frame.make(at, ty, len, content));
        let Some(array) = array else {
            return Err(self.no_memory(comb, size(ty, len)));
        };
        self.frame.arrays[slot as usize] = Some(array);
        Ok(())
    }

    fn copy_array(&mut self, comb: CombId, slot: u32, from: Array, ty: Ty) -> Result<(), Stop> {
        if livefusion_backend::Frame::take_given(&mut self.frame.given, slot as usize) {
            return Ok(());
        }
        let copy = self.copied(comb, from, ty, Some(slot))?;
        self.vacate(slot);
        self.frame.arrays[slot as usize] = Some(Held::anywhere(copy));
        Ok(())
    }

    /// Copies an array, into the spare memory of `slot` if given.
    fn copied(
        &mut self,
        comb: CombId,
        from: Array,
        ty: Ty,
        slot: Option<u32>,
    ) -> Result<Buffer, Stop> {
        let bytes = size(ty, self.length(from));
        self.reserve(comb, bytes)?;
        if let (Some(maker), Some(whole)) = (&self.frame.maker, self.whole(from)) {
            let copy = maker.copy(whole);
            return copy.ok_or_else(|| self.no_memory(comb, bytes));
        }
        let copy = match from {
            Array::Param(p) => {
                let elements = self.params[p as usize];
                let (len, content) = (elements.len(), Content::Copy(elements));
                match slot {
                    Some(slot) => self.frame.spare.make(slot as usize, ty, len, content),
                    None => Buffer::copy_of(elements),
                }
            }
            Array::Slot(s) => match &self.frame.arrays[s as usize] {
                Some(held) => held.copy(),
                None => Some(Buffer::empty(ty)),
            },
        };
        match copy {
            Some(copy) => Ok(copy),
            None => Err(self.no_memory(comb, bytes)),
        }
    }

    /// Returns the whole buffer of an array, for a `Maker` that allocates elsewhere.
    fn whole(&self, array: Array) -> Option<&Buffer> {
        match array {
            Array::Param(p) => match self.args[p as usize] {
                Arg::Far(b) => Some(b),
                _ => None,
            },
            Array::Slot(s) => self.frame.arrays[s as usize].as_ref()?.own(),
        }
    }

    /// Joins values onto the elements at `i`. Does nothing if `i` is out of bounds of any array.
    fn scatter(&mut self, slots: &'a [u32], i: usize, values: &'a [Reg], join: Option<&'a Join>) {
        let mut old = Values::new();
        for slot in slots {
            match self.frame.arrays[*slot as usize]
                .as_ref()
                .and_then(|a| a.get_word(i))
            {
                Some(x) => old.push(x),
                None => return,
            }
        }
        let mut new: Values = values.iter().map(|r| self.get(*r)).collect();
        if let Some(join) = join {
            new = self.join(join, &old, &new);
        }
        for (slot, x) in slots.iter().zip(new) {
            if let Some(a) = &mut self.frame.arrays[*slot as usize] {
                a.set_word(i, x);
            }
        }
    }

    /// Sorts the first rows that all arrays have. It sorts copies, so the arrays may be far.
    fn sort(&mut self, comb: CombId, slots: &[u32], rows: u64) -> Result<(), Stop> {
        let held = |machine: &Self, slot: &u32| machine.length(Array::Slot(*slot));
        let rows = slots
            .iter()
            .map(|slot| held(self, slot))
            .fold(rows, u64::min) as usize;
        let bytes = size(Ty::U64, rows as u64).saturating_mul(slots.len() as u64);
        let mut words: Vec<Vec<u64>> = Vec::with_capacity(slots.len());
        for slot in slots {
            let mut column = Vec::new();
            if column.try_reserve_exact(rows).is_err() {
                return Err(self.no_memory(comb, bytes));
            }
            let array = self.frame.arrays[*slot as usize].as_ref();
            column.extend((0..rows).filter_map(|i| array.and_then(|a| a.get_word(i))));
            column.resize(rows, 0);
            words.push(column);
        }
        let columns: Vec<Column> = words
            .iter_mut()
            .map(|w| Column::from(w.as_mut_slice()))
            .collect();
        // SAFETY: the columns are vectors of their own, of `rows` elements each, and used by nobody
        // else meanwhile.
        unsafe { sort(columns.as_ptr(), columns.len() as u64, rows as u64) };
        for (slot, column) in slots.iter().zip(words) {
            if let Some(array) = &mut self.frame.arrays[*slot as usize] {
                for (i, word) in column.into_iter().enumerate() {
                    array.set_word(i, word);
                }
            }
        }
        Ok(())
    }

    /// Moves the results into the frame.
    fn finish(&mut self, results: &'a [ResultSite]) -> Result<(), Stop> {
        self.frame.results.clear();
        for result in results {
            let value = match *result {
                ResultSite::Scalar(ty, r) => Value::Scalar(Const::new(ty, self.get(r))),
                ResultSite::Array {
                    comb,
                    array,
                    ty,
                    last,
                } => match array {
                    Array::Slot(s) if last => {
                        let made = self.frame.arrays[s as usize].take();
                        Value::Array(
                            made.and_then(Held::into_own)
                                .unwrap_or_else(|| Buffer::empty(ty)),
                        )
                    }
                    _ => Value::Array(self.copied(comb, array, ty, None)?),
                },
            };
            self.frame.results.push(value);
        }
        Ok(())
    }
}

/// Returns the bytes of an array.
fn size(ty: Ty, len: u64) -> u64 {
    len.saturating_mul(ty.size() as u64)
}
