//! The tuple sizes that implementations cover.

/// Calls a macro with the tuples of up to 6 types, `A 0; A 0, B 1; ...`: each type with its place.
macro_rules! up_to_six {
    ($implement:ident) => {
        $implement! {
            A 0;
            A 0, B 1;
            A 0, B 1, C 2;
            A 0, B 1, C 2, E 3;
            A 0, B 1, C 2, E 3, F 4;
            A 0, B 1, C 2, E 3, F 4, G 5;
        }
    };
}

/// Works as [`up_to_six`], up to 8 types.
macro_rules! up_to_eight {
    ($implement:ident) => {
        $crate::tuples::up_to_six!($implement);
        $implement! {
            A 0, B 1, C 2, E 3, F 4, G 5, H 6;
            A 0, B 1, C 2, E 3, F 4, G 5, H 6, I 7;
        }
    };
}

pub(crate) use {up_to_eight, up_to_six};
