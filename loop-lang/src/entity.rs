//! Newtyped `u32` indices into the tables of a [`Loop`](crate::ir::Loop).

macro_rules! entity {
    ($($(#[$doc:meta])* $name:ident($prefix:literal));* $(;)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
        impl $name {
            /// Position in its table.
            pub fn index(self) -> usize { self.0 as usize }
            /// The entity at a position of its table.
            pub fn new(index: usize) -> Self { $name(index as u32) }
        }
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    )*};
}

entity! {
    /// A combinator that contributed statements to the loop.
    CombId("c");
    /// A scalar or array variable.
    Var("v");
    /// A rate of the rate tree.
    RateId("r");
    /// A carried group.
    GroupId("g");
    /// A combine function.
    FnId("f");
    /// A place where the loop may trap.
    TrapId("t");
    /// A basic block: the position of its label set in the loop's alias map.
    BlockId("b");
}
