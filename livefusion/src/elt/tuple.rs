//! Tuples as elements: one buffer per scalar field, nested tuples flattened.

use crate::ast::Types;
use crate::elt::{Elt, Rows, collected};
use crate::exp::{Field, Fields, IntoExp, ToExp};
use livefusion_backend::Buffer;
use loop_lang::types::Ty;
use std::fmt;
use std::sync::Arc;

macro_rules! tuple {
    ($($T:ident $R:ident $v:ident $i:tt),*) => {
        impl<$($T: Elt),*> Elt for ($($T,)*) {
            type Exp = ($($T::Exp,)*);
            const FIELDS: u32 = 0 $(+ $T::FIELDS)*;
            fn types(out: &mut Types) {
                $($T::types(out);)*
            }
            fn of_fields(next: &mut dyn FnMut(Ty) -> Field) -> Self::Exp {
                ($($T::of_fields(next),)*)
            }
            fn fields(e: Self::Exp, out: &mut Fields) {
                $($T::fields(e.$i, out);)*
            }
            fn split(values: Vec<Self>, out: &mut Vec<Arc<Buffer>>) {
                $(let mut $v = Vec::with_capacity(values.len());)*
                for value in values {
                    $($v.push(value.$i);)*
                }
                $($T::split($v, out);)*
            }
            fn join(columns: &mut dyn Iterator<Item = Arc<Buffer>>) -> Option<Vec<Self>> {
                $(let mut $v = $T::join(columns)?.into_iter();)*
                let n = [$($v.len()),*].into_iter().min()?;
                collected(n, std::iter::from_fn(|| Some(($($v.next()?,)*))))
            }
            fn read(columns: &mut std::slice::Iter<'_, Arc<Buffer>>, at: usize) -> Option<Self> {
                Some(($($T::read(columns, at)?,)*))
            }
            fn of_words(next: &mut dyn FnMut() -> u64) -> Self {
                ($($T::of_words(next),)*)
            }
            type Iter<'a> = Rows<'a, Self>;
            fn iter(columns: &[Arc<Buffer>]) -> Rows<'_, Self> {
                Rows::new(columns)
            }
            fn show(next: &mut dyn FnMut() -> String, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut before = "(";
                $(
                    f.write_str(before)?;
                    $T::show(next, f)?;
                    before = ", ";
                )*
                let _ = before;
                f.write_str(")")
            }
        }
        impl<$($T: Elt, $R: ToExp<$T>),*> ToExp<($($T,)*)> for ($($R,)*) {
            fn to_exp(self) -> ($($T::Exp,)*) {
                ($(self.$i.to_exp(),)*)
            }
        }
        impl<$($R: IntoExp),*> IntoExp for ($($R,)*) {
            type Elt = ($($R::Elt,)*);
        }
    };
}

tuple!(A RA a 0, B RB b 1);
tuple!(A RA a 0, B RB b 1, C RC c 2);
tuple!(A RA a 0, B RB b 1, C RC c 2, D RD d 3);
tuple!(A RA a 0, B RB b 1, C RC c 2, D RD d 3, E RE e 4);
tuple!(A RA a 0, B RB b 1, C RC c 2, D RD d 3, E RE e 4, F RF f 5);
