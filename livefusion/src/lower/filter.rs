//! `filter` and `pack`: a subrate whose guard admits elements. What follows is neither computed nor traps
//! for a rejected element.
//!
//! ```text
//! guard_2:  let p_2 = gt elt_1 k_2
//!           unless p_2 | bottom_2
//! ```
//!
//! The subrate is opened when something first runs in it. What runs in it only after a later stage of the
//! rate around it has an instance of its own there, with the same test.

use super::anatomy::{Anatomy, Column, Lower, Spot};
use super::body::{self, Inline};
use super::take_while;
use crate::ast::Kind;
use crate::error::ErrorKind;
use crate::fusion::ClassId;
use crate::fusion::rates::Selector;
use crate::sharing::NodeId;
use loop_lang::ir::Section;

/// Lowers a filter (its own predicate) or a pack (by tags; packs of one tag array share their subrate):
/// only what it checks, for its elements are its input's.
pub fn lower(a: &mut Anatomy<'_>, id: NodeId) -> Lower {
    let all = 0..a.graph.nodes[id.index()].inputs.len();
    let spot = a.spot_of(id, all.clone())?;
    super::lengths::check_together(a, id, all, spot)
}

/// Opens an instance of a subrate behind everything that its test and its user need.
pub fn open(
    a: &mut Anatomy<'_>,
    user: NodeId,
    class: ClassId,
    (parent, by): (ClassId, Selector),
    needs: &[Spot],
) -> Lower<Spot> {
    let graph = a.graph;
    let (id, columns) = match by {
        Selector::Tags(field) => {
            let beside = (a.plan.rates.output(field.0) != Some(parent)).then_some(parent);
            (user, vec![Column { field, beside }])
        }
        Selector::Filter(id) | Selector::While(id) => (id, a.all_columns(id)),
        Selector::Custom(id) | Selector::Zip(id) => (id, vec![]),
    };
    let test = match &graph.node(id).kind {
        Kind::Filter(test) | Kind::TakeWhile { test, .. } => Some(test),
        _ => None,
    };
    let used: Vec<Column> = match test {
        Some(test) => body::used_columns(test, &columns),
        None => columns.to_vec(),
    };
    let mut all = a.needs(&used);
    all.extend_from_slice(needs);
    let spot = a.spot_for_child(id, parent, &all)?;
    let comb = a.unhomed_comb(id);
    let known = a.test(class, spot.rate);
    let test = match (known, by, test) {
        (Some(test), ..) => {
            a.open_sub(comb, spot.rate, class);
            test
        }
        (None, Selector::Filter(_), Some(body)) => {
            let inline = Inline::new(id, 0, comb, Section::Guard);
            let args = body::used_args(a, &inline, body, &columns, spot)?;
            a.open_sub(comb, spot.rate, class);
            body::inline(a, &inline, body, &args, "p")?[0]
        }
        (None, Selector::While(_), Some(body)) => {
            take_while::open(a, id, (comb, class), body, &columns, spot)?
        }
        (None, Selector::Tags(_), _) => {
            let tag = a.elt(columns[0], spot)?;
            a.open_sub(comb, spot.rate, class);
            tag
        }
        _ => {
            // It has decided in another pass over the same elements.
            a.in_the_way = Some(id);
            return Err(ErrorKind::Malformed {
                expected: "what a combinator keeps in one pass".into(),
                got: "a second pass".into(),
            });
        }
    };
    a.exit(comb, test);
    a.set_test(class, spot.rate, test);
    let rate = a.opened_by(comb)?;
    Ok(Spot { rate, position: 0 })
}
