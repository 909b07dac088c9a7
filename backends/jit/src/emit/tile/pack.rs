//! Packing: the lanes of a vector that a mask sets are stored side by side.

use super::Printer;
use super::values::{BYTES, vector};
use crate::emit::MEMORY;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use livefusion_tile::ir::{Memory, Operand, Shape};
use loop_lang::types::Ty;

/// For each set of lanes, which bytes of a register to take so that those in the set come first.
#[repr(align(16))]
struct Table<const SETS: usize>([[u8; BYTES as usize]; SETS]);

impl<const SETS: usize> Table<SETS> {
    /// The table for elements of so many bytes.
    const fn of(size: usize) -> Table<SETS> {
        let mut rows = [[0; BYTES as usize]; SETS];
        let mut set = 0;
        while set < SETS {
            let (mut lane, mut to) = (0, 0);
            while lane < BYTES as usize / size {
                if set >> lane & 1 == 1 {
                    let mut byte = 0;
                    while byte < size {
                        rows[set][to] = (lane * size + byte) as u8;
                        (to, byte) = (to + 1, byte + 1);
                    }
                }
                lane += 1;
            }
            set += 1;
        }
        Table(rows)
    }

    fn address(&'static self) -> u64 {
        self.0.as_ptr().addr() as u64
    }
}

static OF_8: Table<4> = Table::of(8);
static OF_4: Table<16> = Table::of(4);
static OF_2: Table<256> = Table::of(2);
/// Half a register: a table for all of it would fill a cache.
static OF_1: Table<256> = Table::of(1);

/// How many lanes of so many bytes are packed at a time, and the address of their table.
fn table(size: usize) -> (u32, u64) {
    match size {
        8 => (2, OF_8.address()),
        4 => (4, OF_4.address()),
        2 => (8, OF_2.address()),
        _ => (8, OF_1.address()),
    }
}

impl Printer<'_, '_, '_> {
    /// `compress m v -> a[i]`. Behind the lanes that are set, as many as are not are written too.
    pub(super) fn compress(&mut self, into: Memory, at: Operand, value: Operand, under: Operand) {
        let lanes = self.shape(under).lanes;
        let (mut at, offset) = match into {
            Memory::Array(array) => self.elements(array, at),
            Memory::Buffer(buffer) => self.buffered(buffer, at),
            Memory::Lanes(v) | Memory::Tree(v) => self.group_lanes(v, at),
            Memory::Register(_) => return,
        };
        if lanes == 1 {
            let x = self.scalar(value);
            self.emit.builder.ins().store(MEMORY, x, at, offset);
            return;
        }
        let all = self.wide(value, lanes);
        let (ty, all) = match self.shape(value).ty {
            Ty::Bool => (Ty::U8, self.bytes_of_mask(&all, lanes)),
            ty => (ty, all),
        };
        let (per, rows) = table(ty.size());
        let rows = self.emit.u64(rows);
        let bits = self.each_bit(under);
        let bits = match self.emit.builder.func.dfg.value_type(bits) {
            types::I64 => bits,
            _ => self.emit.builder.ins().uextend(types::I64, bits),
        };
        for first in (0..lanes).step_by(per as usize) {
            let last = first + per >= lanes;
            let mut set = bits;
            if first > 0 {
                set = self.emit.builder.ins().ushr_imm_u(set, i64::from(first));
            }
            if !last {
                set = (self.emit.builder.ins()).band_imm_u(set, (1 << per) - 1);
            }
            let row = self.emit.builder.ins().ishl_imm_u(set, 4);
            let row = self.emit.builder.ins().iadd(rows, row);
            let row = (self.emit.builder.ins()).load(types::I8X16, MEMORY, row, 0);
            let some = self.some_lanes(ty, &all, first);
            let packed = self.emit.builder.ins().swizzle(some, row);
            let packed = self.bits(vector(ty), packed);
            let shape = Shape::of(ty, per.min(lanes - first));
            self.store_lanes(shape, &[packed], (at, offset));
            if last {
                return;
            }
            let count = self.emit.builder.ins().popcnt(set);
            let size = i64::from(ty.size().trailing_zeros());
            let bytes = self.emit.builder.ins().ishl_imm_u(count, size);
            at = self.emit.builder.ins().iadd(at, bytes);
        }
    }

    /// The bytes of a register whose first lane is one of all.
    fn some_lanes(&mut self, ty: Ty, all: &[Value], first: u32) -> Value {
        let byte = first * ty.size() as u32;
        let register = all[(byte / BYTES) as usize];
        if byte.is_multiple_of(BYTES) {
            return self.bits(types::I8X16, register);
        }
        let halves = self.bits(types::I64X2, register);
        let high = self.emit.builder.ins().extractlane(halves, 1);
        let high = (self.emit.builder.ins()).scalar_to_vector(types::I64X2, high);
        self.bits(types::I8X16, high)
    }
}
