//! Newtyped `u32` indices into the tables of a [`Loop`](crate::ir::Loop).

macro_rules! entity {
    ($($(#[$doc:meta])* $name:ident($prefix:literal));* $(;)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
        impl $name {
            /// Returns its position in the table.
            pub fn index(self) -> usize { self.0 as usize }
            /// Returns the entity at a position of its table.
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
    /// Identifies a combinator that contributed statements to the loop.
    CombId("c");
    /// Identifies a scalar or array variable.
    Var("v");
    /// Identifies a rate of the rate tree.
    RateId("r");
    /// Identifies a carried group.
    GroupId("g");
    /// Identifies a combine function.
    FnId("f");
    /// Identifies a possible trap of the loop.
    TrapId("t");
    /// Identifies a basic block by the position of its label set in the loop's alias map.
    BlockId("b");
}
