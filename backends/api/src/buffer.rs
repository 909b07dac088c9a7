//! Typed, aligned, reference-counted memory.
use loop_lang::types::Ty;
/// Rust types that are one scalar of the Loop language.
pub trait Prim: Copy + Send + Sync + 'static {
    /// The scalar type.
    const TY: Ty;
    /// Its canonical word.
    fn to_word(self) -> u64;
    /// From a canonical word.
    fn from_word(word: u64) -> Self;
}
/// An array of scalars in memory.
#[derive(Debug)]
pub struct Buffer { _p: () }
/// A read-only view of (part of) a buffer.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> { ty: Ty, _p: std::marker::PhantomData<&'a ()> }
impl View<'_> {
    /// Element type.
    pub fn ty(&self) -> Ty { self.ty }
}
