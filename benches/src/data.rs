//! Data of cases: columns of scalars from a seed, shared by all contenders.

use livefusion::ast::Builder;
use livefusion::prelude::*;
use livefusion_backend::{Buffer, Prim, View};
use loop_lang::types::Ty;
use std::sync::Arc;

/// Selects the memory of inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inputs {
    /// At the start of a cache line, in large pages if there are many elements.
    #[default]
    Aligned,
    /// In the memory of a `Vec`, as in users' programs.
    Vec,
}

impl Inputs {
    /// Parses the command line's name.
    pub fn named(name: &str) -> Option<Inputs> {
        [Inputs::Aligned, Inputs::Vec]
            .into_iter()
            .find(|i| i.name() == name)
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Inputs::Aligned => "aligned",
            Inputs::Vec => "vec",
        }
    }

    /// Copies elements to memory of this kind.
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

/// Holds a column, an input or a result.
#[derive(Clone)]
pub struct Data(Arc<Buffer>);

/// Names the inputs of a case.
pub type Input = Vec<Data>;

impl Data {
    /// Creates an input.
    ///
    /// It is a copy at the start of a cache line.
    pub fn input<T: Prim>(values: Vec<T>) -> Data {
        match Buffer::copy_of(View::new(&values)) {
            Some(aligned) => Data(Arc::new(aligned)),
            None => Data::result(values),
        }
    }

    /// Copies an input to memory of another kind.
    pub fn moved_to(&self, inputs: Inputs) -> Data {
        Data(Arc::new(inputs.copy_of(self.0.view())))
    }

    /// Creates a result without a copy.
    pub fn result<T: Prim>(values: Vec<T>) -> Data {
        Data(Arc::new(Buffer::from_vec(values)))
    }

    /// Copies elements.
    pub fn copy_of(view: View<'_>) -> Data {
        Data(Arc::new(
            Buffer::copy_of(view).unwrap_or_else(|| Buffer::empty(view.ty())),
        ))
    }

    /// Returns the elements.
    ///
    /// Empty if they are of another type.
    pub fn of<T: Prim>(&self) -> &[T] {
        self.0.as_slice().unwrap_or_default()
    }

    /// Returns an array of a program in the same memory.
    #[track_caller]
    pub fn array<T: Scalar>(&self) -> Array<T> {
        let node = Builder::at("input", livefusion::Loc::caller()).manifest(vec![self.0.clone()]);
        Array::from_node(node).unwrap_or_else(|_| Array::from(Vec::new()))
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the elements' type.
    pub fn ty(&self) -> Ty {
        self.0.ty()
    }

    /// Returns the size of the elements in bytes.
    pub fn bytes(&self) -> u64 {
        (self.len() * self.ty().size()) as u64
    }

    /// Returns the address of the elements.
    pub fn as_ptr(&self) -> *const u8 {
        self.0.as_ptr()
    }

    /// Returns an element as a number for comparisons.
    ///
    /// None if the index is out of bounds.
    pub fn number(&self, i: usize) -> Option<f64> {
        let word = self.0.get_word(i)?;
        Some(match self.ty() {
            Ty::F64 => f64::from_bits(word),
            Ty::F32 => f32::from_bits(word as u32).into(),
            _ => word as i64 as f64,
        })
    }
}

/// Converts the results of a force to columns.
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

/// Generates random numbers.
///
/// They are the same in every run.
pub struct Random(u64);

impl Random {
    /// Starts the sequence of a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 88_172_645_463_325_252)
    }

    /// Returns the next number.
    pub fn word(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number from 0 to 1.
    pub fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns a number below a bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.word()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns `n` numbers between two bounds.
    pub fn between(&mut self, n: usize, low: f64, high: f64) -> Vec<f64> {
        (0..n).map(|_| low + (high - low) * self.unit()).collect()
    }
}

/// Returns `n` numbers from 0 to 1, as an input.
pub fn uniform(seed: u64, n: usize) -> Data {
    Data::input(Random::new(seed).between(n, 0.0, 1.0))
}
