//! `#[derive(Elt)]`: structs as elements of livefusion arrays, one buffer per field.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Error, Fields, FieldsNamed, Result, parse_macro_input};

/// Derives `Elt` for a struct with named fields.
///
/// Its values are then array elements. The struct must be `Clone`, without generic parameters. Its
/// fields must be elements themselves: scalars, tuples, or other derived structs.
///
/// The derive also defines `PointExp` for a struct `Point`: the type that closures see. It has the
/// same fields, each an expression. A closure that returns a `PointExp` makes an array of `Point`s.
/// A `Point` stands for a literal.
// The example is at the library's re-export. A macro crate that depended on the library, if only
// for the example, would have it built twice.
#[proc_macro_derive(Elt)]
pub fn derive_elt(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(&input)
        .unwrap_or_else(|e| e.to_compile_error())
        .into()
}

/// Returns the named fields of a struct that can be an element.
fn named_fields(input: &DeriveInput) -> Result<&FieldsNamed> {
    let Data::Struct(data) = &input.data else {
        let message = "only structs can be array elements: keep an enum as an integer code";
        return Err(Error::new_spanned(&input.ident, message));
    };
    if !input.generics.params.is_empty() {
        let message = "a struct with generic parameters cannot be an array element";
        return Err(Error::new_spanned(&input.generics, message));
    }
    match &data.fields {
        Fields::Named(fields) if !fields.named.is_empty() => Ok(fields),
        Fields::Unnamed(fields) => {
            let message = "fields need names here; without names, use a tuple as the element";
            Err(Error::new_spanned(fields, message))
        }
        _ => Err(Error::new_spanned(
            &input.ident,
            "an array element needs at least one field",
        )),
    }
}

fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let fields = &named_fields(input)?.named;
    let (name, vis) = (&input.ident, &input.vis);
    let exp = format_ident!("{name}Exp");
    let names: Vec<&Ident> = fields.iter().filter_map(|f| f.ident.as_ref()).collect();
    let types: Vec<_> = fields.iter().map(|f| &f.ty).collect();
    let visibilities: Vec<_> = fields.iter().map(|f| &f.vis).collect();
    let columns: Vec<Ident> = (0..names.len())
        .map(|i| format_ident!("column_{i}"))
        .collect();
    let about = format!("A [`{name}`] as closures see it: each field is an expression.");
    let labels = names.iter().enumerate().map(|(i, n)| match i {
        0 => format!("{} {{ {}: ", name.unraw(), n.unraw()),
        _ => format!(", {}: ", n.unraw()),
    });
    let field_docs = names.iter().map(|n| format!("The field `{n}`."));
    let elt = quote!(::livefusion::elt::Elt);
    let to_exp = quote!(::livefusion::exp::ToExp);
    let into_exp = quote!(::livefusion::exp::IntoExp);
    let support = quote!(::livefusion::derive_support);
    Ok(quote! {
        #[doc = #about]
        #vis struct #exp {
            #(#[doc = #field_docs] #visibilities #names: <#types as #elt>::Exp,)*
        }

        // Written out, so that a field that is no element is reported once and not per derive.
        #[automatically_derived]
        impl ::std::clone::Clone for #exp {
            fn clone(&self) -> #exp {
                *self
            }
        }

        #[automatically_derived]
        impl ::std::marker::Copy for #exp {}

        #[automatically_derived]
        impl #elt for #name {
            type Exp = #exp;
            const FIELDS: u32 = 0 #(+ <#types as #elt>::FIELDS)*;
            fn types(out: &mut #support::Types) {
                #(<#types as #elt>::types(out);)*
            }
            fn of_fields(next: &mut dyn FnMut(#support::Ty) -> #support::Field) -> #exp {
                #exp { #(#names: <#types as #elt>::of_fields(next),)* }
            }
            fn fields(e: #exp, out: &mut #support::Fields) {
                #(<#types as #elt>::fields(e.#names, out);)*
            }
            fn split(
                values: ::std::vec::Vec<Self>,
                out: &mut ::std::vec::Vec<::std::sync::Arc<#support::Buffer>>,
            ) {
                #(let mut #columns = ::std::vec::Vec::with_capacity(values.len());)*
                for value in values {
                    #(#columns.push(value.#names);)*
                }
                #(<#types as #elt>::split(#columns, out);)*
            }
            fn join(
                columns: &mut dyn ::std::iter::Iterator<Item = ::std::sync::Arc<#support::Buffer>>,
            ) -> ::std::option::Option<::std::vec::Vec<Self>> {
                #(let mut #columns = <#types as #elt>::join(columns)?.into_iter();)*
                let n = ::std::iter::Iterator::min(
                    [#(::std::iter::ExactSizeIterator::len(&#columns)),*].into_iter(),
                )?;
                #support::collected(
                    n,
                    ::std::iter::from_fn(|| ::std::option::Option::Some(
                        #name { #(#names: ::std::iter::Iterator::next(&mut #columns)?,)* }
                    )),
                )
            }
            fn read(
                columns: &mut ::std::slice::Iter<'_, ::std::sync::Arc<#support::Buffer>>,
                at: usize,
            ) -> ::std::option::Option<Self> {
                ::std::option::Option::Some(#name {
                    #(#names: <#types as #elt>::read(columns, at)?,)*
                })
            }
            fn of_words(next: &mut dyn FnMut() -> u64) -> Self {
                #name { #(#names: <#types as #elt>::of_words(next),)* }
            }
            type Iter<'a> = #support::Rows<'a, Self>;
            fn iter(
                columns: &[::std::sync::Arc<#support::Buffer>],
            ) -> #support::Rows<'_, Self> {
                #support::Rows::new(columns)
            }
            fn show(
                next: &mut dyn ::std::ops::FnMut() -> ::std::string::String,
                f: &mut ::std::fmt::Formatter<'_>,
            ) -> ::std::fmt::Result {
                #(
                    f.write_str(#labels)?;
                    <#types as #elt>::show(next, f)?;
                )*
                f.write_str(" }")
            }
        }

        #[automatically_derived]
        impl #to_exp<#name> for #exp {
            fn to_exp(self) -> #exp {
                self
            }
        }

        #[automatically_derived]
        impl #into_exp for #exp {
            type Elt = #name;
        }

        #[automatically_derived]
        impl #to_exp<#name> for #name {
            fn to_exp(self) -> #exp {
                #exp { #(#names: #to_exp::<#types>::to_exp(self.#names),)* }
            }
        }

        #[automatically_derived]
        impl #into_exp for #name {
            type Elt = #name;
        }
    })
}
