//! `append` of what is computed: the loop runs over the parts one after the other, each in a phase of its own.
//! In each, the append's elements are those of the part. What consumes them in step is placed and emitted once
//! for each phase, and goes on with what it carries.
//!
//! ```text
//! done_0:  goto guard_2                              (the first part has ended: on to the second)
//! body_1:  let new_5 = add acc_5 elt_0               body_3:  let then_5 = add acc_5 elt_2
//! yield_1: writeArray out_4 n_4 elt_0                yield_3: writeArray out_4 n_4 elt_2
//!          n_4 := nn_4, acc_5 := new_5                        n_4 := mm_4, acc_5 := then_5
//! ```

use super::Lower;
use super::placement::{Placer, no_root};
use crate::sharing::NodeId;

/// Places an append in a phase: the phase runs over the part, or over what that is computed from.
pub fn place(p: &mut Placer<'_>, id: NodeId) -> Lower {
    let class = p.scope.plan.rates.output(id).ok_or_else(no_root)?;
    let part = p.scope.phase.and_then(|phase| phase.part(class));
    let (part, _) = part.ok_or_else(no_root)?;
    let input = p.scope.inputs(id)[part];
    p.enter(id, &[input])?;
    let columns = p.scope.columns(id, part..part + 1);
    let needs = p.needs(&columns);
    p.spot(id, class, &needs)?;
    Ok(())
}
