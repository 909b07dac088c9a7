//! Arrays: made by the host, read and written with checks.

use super::{Emit, Facet, MEMORY};
use cranelift_codegen::ir::{
    AbiParam, InstBuilder, Signature, StackSlotData, StackSlotKind, Type, Value, types,
};
use livefusion_backend::abi::{Array, Run};
use livefusion_backend::facts::{self, Source};
use livefusion_backend::sort::{Column, sort};
use loop_lang::ir::{Atom, CombId, Combine, ParamKind, Var};
use loop_lang::types::Ty;
use std::mem::{offset_of, size_of};

/// What reads outside of an array read.
static ZERO: u64 = 0;

/// The address of a zero of any type.
pub(super) fn zero() -> u64 {
    &raw const ZERO as usize as u64
}

impl Emit<'_, '_> {
    pub(super) fn new_array(&mut self, v: Var, n: Atom, comb: CombId) {
        let n = self.atom(n);
        let callback = offset_of!(Run<'_, '_>, new_array);
        self.make(v, callback, &[(types::I64, n)], comb);
    }

    pub(super) fn fill_array(&mut self, v: Var, n: Atom, x: Atom, comb: CombId) {
        let (n, value) = (self.atom(n), self.atom(x));
        let word = self.word_of(self.program.atom_ty(x), value);
        let callback = offset_of!(Run<'_, '_>, fill_array);
        self.make(v, callback, &[(types::I64, n), (types::I64, word)], comb);
    }

    pub(super) fn copy_array(&mut self, v: Var, a: Var, comb: CombId) {
        let (data, n) = (self.data(a), self.length(a));
        let callback = offset_of!(Run<'_, '_>, copy_array);
        self.make(v, callback, &[(types::I64, data), (types::I64, n)], comb);
    }

    /// Puts rows in order: so many, or as many as all arrays have.
    pub(super) fn sort(&mut self, arrays: &[Var], rows: Value) {
        let bytes = (arrays.len() * size_of::<Column>()) as u32;
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 3);
        let slot = self.builder.create_sized_stack_slot(slot);
        let columns = self.builder.ins().stack_addr(types::I64, slot, 0);
        let mut least = rows;
        for (k, a) in arrays.iter().enumerate() {
            let (data, length) = (self.data(*a), self.length(*a));
            let bytes = self.u64(facts::elem(self.program, *a).size() as u64);
            let at = k * size_of::<Column>();
            let (data_at, bytes_at) = (
                at + offset_of!(Column, data),
                at + offset_of!(Column, bytes),
            );
            let ins = self.builder.ins();
            ins.store(MEMORY, data, columns, data_at as i32);
            let ins = self.builder.ins();
            ins.store(MEMORY, bytes, columns, bytes_at as i32);
            least = self.builder.ins().umin(least, length);
        }
        let count = self.u64(arrays.len() as u64);
        self.call_runtime(sort as *const () as usize, [columns, count, least]);
    }

    /// A statement that makes an array: the host allocates, or the pass ends.
    fn make(&mut self, v: Var, callback: usize, args: &[(Type, Value)], comb: CombId) {
        let Some(Source::Made(slot)) = self.facts.source.get(&v).copied() else {
            return;
        };
        let mut signature = Signature::new(self.frontend.default_call_conv);
        let types = args.iter().map(|(ty, _)| *ty);
        let params = [types::I64, types::I32].into_iter().chain(types);
        signature.params = params.chain([types::I32]).map(AbiParam::new).collect();
        signature.returns.push(AbiParam::new(types::I32));
        let signature = self.builder.import_signature(signature);
        let mut values = vec![self.run, self.builder.ins().iconst(types::I32, slot as i64)];
        values.extend(args.iter().map(|(_, value)| *value));
        values.push(self.builder.ins().iconst(types::I32, i64::from(comb.0)));
        let function = self.of_run(callback);
        let ins = self.builder.ins();
        let call = ins.call_indirect(signature, function, &values);
        let made = self.builder.inst_results(call)[0];
        let after = self.builder.create_block();
        let failed = self.no_memory_block;
        self.builder.ins().brif(made, after, &[], failed, &[]);
        self.begin(after);
    }

    /// A field of the run that is an address.
    pub(super) fn of_run(&mut self, offset: usize) -> Value {
        let ins = self.builder.ins();
        ins.load(types::I64, MEMORY, self.run, offset as i32)
    }

    /// Makes an array shorter, for the host as well.
    pub(super) fn cut(&mut self, a: Var, length: Value) {
        let owner = self.owner(a);
        let Some(slot) = self.slot(owner, Facet::Length) else {
            return;
        };
        let offset = slot * size_of::<Array>() + offset_of!(Array, length);
        let ins = self.builder.ins();
        ins.store(MEMORY, length, self.made, offset as i32);
    }

    /// Elements or length of an array in a table.
    pub(super) fn entry(&mut self, table: Value, i: usize, facet: Facet) -> Value {
        let field = match facet {
            Facet::Length => offset_of!(Array, length),
            _ => offset_of!(Array, data),
        };
        let offset = i * size_of::<Array>() + field;
        let ins = self.builder.ins();
        ins.load(types::I64, MEMORY, table, offset as i32)
    }

    /// What there is to know of a parameter, from the run's tables.
    pub(super) fn load_param(&mut self, i: usize, facet: Facet) -> Value {
        let param = &self.program.params[i];
        if param.kind == ParamKind::Scalar {
            let ty = facts::elem(self.program, param.var);
            return self.load_word(ty, self.scalars, i as i32 * 8);
        }
        self.entry(self.inputs, i, facet)
    }

    pub(super) fn address(&mut self, a: Var, index: Value) -> Value {
        let data = self.data(a);
        let shift = facts::elem(self.program, a).size().trailing_zeros();
        let offset = self.builder.ins().ishl_imm_u(index, i64::from(shift));
        self.builder.ins().iadd(data, offset)
    }

    pub(super) fn read(&mut self, v: Var, a: Var, i: Atom) {
        let index = self.atom(i);
        let (address, length) = (self.address(a, index), self.length(a));
        let inside = self.less(index, length);
        let zero = self.u64(zero());
        let address = self.builder.ins().select(inside, address, zero);
        let register = Self::register(facts::elem(self.program, v));
        let value = self.builder.ins().load(register, MEMORY, address, 0);
        self.set(v, Facet::Value, value);
    }

    pub(super) fn write(&mut self, a: Var, i: Atom, x: Atom) {
        let (index, value) = (self.atom(i), self.atom(x));
        let length = self.length(a);
        let inside = self.less(index, length);
        self.only_if(inside, |emit| {
            let address = emit.address(a, index);
            emit.builder.ins().store(MEMORY, value, address, 0);
        });
    }

    pub(super) fn scatter(
        &mut self,
        arrays: &[Var],
        index: Atom,
        values: &[Atom],
        by: Option<Combine>,
    ) {
        let index = self.atom(index);
        let values: Vec<Value> = values.iter().map(|x| self.atom(*x)).collect();
        let mut inside = self.builder.ins().iconst(types::I8, 1);
        for a in arrays {
            let length = self.length(*a);
            let fits = self.less(index, length);
            inside = self.builder.ins().band(inside, fits);
        }
        let types: Vec<Ty> = arrays
            .iter()
            .map(|a| facts::elem(self.program, *a))
            .collect();
        self.only_if(inside, |emit| {
            let cells: Vec<Value> = arrays.iter().map(|a| emit.address(*a, index)).collect();
            let held = cells.iter().zip(&types);
            let held: Vec<Value> = held
                .map(|(at, ty)| {
                    let ins = emit.builder.ins();
                    ins.load(Self::register(*ty), MEMORY, *at, 0)
                })
                .collect();
            let joined = emit.combine(by, &held, &values, &types);
            for (at, value) in cells.iter().zip(joined) {
                emit.builder.ins().store(MEMORY, value, *at, 0);
            }
        });
    }

    /// Does something under a condition.
    pub(super) fn only_if(&mut self, condition: Value, body: impl FnOnce(&mut Self)) {
        let inside = self.builder.create_block();
        let after = self.builder.create_block();
        self.builder.ins().brif(condition, inside, &[], after, &[]);
        self.begin(inside);
        body(self);
        self.builder.ins().jump(after, &[]);
        self.begin(after);
    }
}
