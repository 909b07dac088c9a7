//! What cases work on: columns of scalars, made from a seed, shared by all contenders.

use livefusion::ast::Builder;
use livefusion::prelude::*;
use livefusion_backend::{Buffer, Prim, View};
use loop_lang::types::Ty;
use std::sync::Arc;

/// Where inputs are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inputs {
    /// At the start of a cache line, in large pages if there are many.
    #[default]
    Aligned,
    /// In the memory of a `Vec`, as those of users are.
    Vec,
}

impl Inputs {
    /// As the command line has it.
    pub fn named(name: &str) -> Option<Inputs> {
        [Inputs::Aligned, Inputs::Vec]
            .into_iter()
            .find(|i| i.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Inputs::Aligned => "aligned",
            Inputs::Vec => "vec",
        }
    }

    /// A copy of some elements there.
    pub fn copy_of(self, view: View<'_>) -> Buffer {
        match (self, view.ty()) {
            (Inputs::Aligned, _) => {
                Buffer::copy_of(view).unwrap_or_else(|| Buffer::empty(view.ty()))
            }
            (Inputs::Vec, Ty::F64) => in_vec::<f64>(view),
            (Inputs::Vec, Ty::F32) => in_vec::<f32>(view),
            (Inputs::Vec, Ty::I64) => in_vec::<i64>(view),
            (Inputs::Vec, Ty::U64) => in_vec::<u64>(view),
            (Inputs::Vec, Ty::I32) => in_vec::<i32>(view),
            (Inputs::Vec, Ty::U32) => in_vec::<u32>(view),
            (Inputs::Vec, Ty::I16) => in_vec::<i16>(view),
            (Inputs::Vec, Ty::U16) => in_vec::<u16>(view),
            (Inputs::Vec, Ty::I8) => in_vec::<i8>(view),
            (Inputs::Vec, Ty::U8) => in_vec::<u8>(view),
            (Inputs::Vec, Ty::Bool) => in_vec::<bool>(view),
        }
    }
}

fn in_vec<T: Prim>(view: View<'_>) -> Buffer {
    Buffer::from_vec(view.as_slice::<T>().unwrap_or_default().to_vec())
}

/// A column: an input or a result.
#[derive(Clone)]
pub struct Data(Arc<Buffer>);

/// The inputs of a case.
pub type Input = Vec<Data>;

impl Data {
    /// An input: a copy at the start of a cache line.
    pub fn input<T: Prim>(values: Vec<T>) -> Data {
        match Buffer::copy_of(View::new(&values)) {
            Some(aligned) => Data(Arc::new(aligned)),
            None => Data::result(values),
        }
    }

    /// A copy of an input in such memory.
    pub fn moved_to(&self, inputs: Inputs) -> Data {
        Data(Arc::new(inputs.copy_of(self.0.view())))
    }

    /// A result, without a copy.
    pub fn result<T: Prim>(values: Vec<T>) -> Data {
        Data(Arc::new(Buffer::from_vec(values)))
    }

    /// A copy.
    pub fn copy_of(view: View<'_>) -> Data {
        Data(Arc::new(
            Buffer::copy_of(view).unwrap_or_else(|| Buffer::empty(view.ty())),
        ))
    }

    /// The elements; none if they are of another type.
    pub fn of<T: Prim>(&self) -> &[T] {
        self.0.as_slice().unwrap_or_default()
    }

    /// The same memory as an array of a program.
    #[track_caller]
    pub fn array<T: Scalar>(&self) -> Array<T> {
        let node = Builder::at("input", livefusion::Loc::caller()).manifest(vec![self.0.clone()]);
        Array::from_node(node).unwrap_or_else(|_| Array::from(Vec::new()))
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The elements' type.
    pub fn ty(&self) -> Ty {
        self.0.ty()
    }

    /// Bytes of the elements.
    pub fn bytes(&self) -> u64 {
        (self.len() * self.ty().size()) as u64
    }

    /// Where the elements are.
    pub fn as_ptr(&self) -> *const u8 {
        self.0.as_ptr()
    }

    /// An element as a number to compare with; none outside.
    pub fn number(&self, i: usize) -> Option<f64> {
        let word = self.0.get_word(i)?;
        Some(match self.ty() {
            Ty::F64 => f64::from_bits(word),
            Ty::F32 => f32::from_bits(word as u32).into(),
            _ => word as i64 as f64,
        })
    }
}

/// What a force gave, as columns.
pub trait Columns {
    /// Appends the columns.
    fn columns(&self, out: &mut Vec<Data>);
}

impl<T: Elt> Columns for Manifest<T> {
    fn columns(&self, out: &mut Vec<Data>) {
        out.extend(self.columns().iter().cloned().map(Data));
    }
}

impl<C: Columns> Columns for Vec<C> {
    fn columns(&self, out: &mut Vec<Data>) {
        self.iter().for_each(|c| c.columns(out));
    }
}

macro_rules! scalars {
    ($($t:ty),*) => {$(
        impl Columns for $t {
            fn columns(&self, out: &mut Vec<Data>) {
                out.push(Data::result(vec![*self]));
            }
        }
    )*};
}

macro_rules! tuples {
    ($($($C:ident $i:tt),*;)*) => {$(
        impl<$($C: Columns),*> Columns for ($($C,)*) {
            fn columns(&self, out: &mut Vec<Data>) {
                $(self.$i.columns(out);)*
            }
        }
    )*};
}

scalars!(f64, i64, u64);
tuples! {
    A 0, B 1;
    A 0, B 1, C 2;
}

/// Numbers that are the same ones every time.
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 88_172_645_463_325_252)
    }

    /// The next number.
    pub fn word(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// From 0 to 1.
    pub fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Below a bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.word()) * u128::from(bound)) >> 64) as u64
    }

    /// `n` numbers between two bounds.
    pub fn between(&mut self, n: usize, low: f64, high: f64) -> Vec<f64> {
        (0..n).map(|_| low + (high - low) * self.unit()).collect()
    }
}

/// `n` numbers from 0 to 1, as an input.
pub fn uniform(seed: u64, n: usize) -> Data {
    Data::input(Random::new(seed).between(n, 0.0, 1.0))
}
