//! Scatters and scans by index: combinators that address a base by computed indices.

use crate::ast::body::show_types;
use crate::ast::draft::{Draft, both, show_node};
use crate::ast::{Body, Builder, Kind, Node, Places, ScanKind};
use loop_lang::types::Ty;
use std::sync::Arc;

impl Builder {
    /// Writes values into `base` at indices, in order.
    ///
    /// `combine` takes (old element, value), and the value may have another type. Without it the
    /// last value written to an index stays.
    pub fn scatter(
        self,
        base: &Arc<Node>,
        indices: &Arc<Node>,
        values: &Arc<Node>,
        combine: Option<Body>,
    ) -> Arc<Node> {
        self.scattered([base, indices, values], combine, Places::Anywhere)
    }

    /// Scatters at indices that are inside the base by construction.
    ///
    /// It is as [`scatter`](Builder::scatter), but an index outside is skipped.
    pub fn scatter_within(
        self,
        base: &Arc<Node>,
        indices: &Arc<Node>,
        values: &Arc<Node>,
        combine: Option<Body>,
    ) -> Arc<Node> {
        self.scattered([base, indices, values], combine, Places::Within)
    }

    fn scattered(
        self,
        [base, indices, values]: [&Arc<Node>; 3],
        combine: Option<Body>,
        places: Places,
    ) -> Arc<Node> {
        let mut d = self.at_indices([base, indices, values]);
        let t = &base.types;
        match &combine {
            Some(c) => d.body(c, "a combine function", &both(t, &values.types), Some(t)),
            None => d.expect(values.types == *t, || {
                (
                    format!("values of type {}", show_types(t)),
                    show_node(values),
                )
            }),
        }
        d.len = base.known_len();
        let combine = combine.map(|c| d.simple(c));
        d.array(Kind::Scatter(combine, places), t.clone())
    }

    /// Computes running folds, one per element of a base.
    ///
    /// The base has the starting values. `step` joins (old element, value) at each index and stores
    /// the result there. The result is the scan's element; with [`ScanKind::Exclusive`] the old
    /// element is.
    pub fn scan_by_index(
        self,
        [base, indices, values]: [&Arc<Node>; 3],
        step: Body,
        kind: ScanKind,
        places: Places,
    ) -> Arc<Node> {
        let mut d = self.at_indices([base, indices, values]);
        let t = &base.types;
        d.body(&step, "a step", &both(t, &values.types), Some(t));
        let step = d.simple(step);
        d.array(Kind::ScanByIndex(step, kind, places), t.clone())
    }

    /// Checks the indices (`u64`) of a base: there must be as many as values.
    fn at_indices(self, [base, indices, values]: [&Arc<Node>; 3]) -> Draft {
        let inputs = [base, indices, values].map(Arc::clone);
        let mut d = Draft::new(self, inputs.into_iter().collect());
        d.arrays();
        d.meet_node(indices);
        d.meet_node(values);
        d.expect(*indices.types == [Ty::U64], || {
            ("indices of type u64".into(), show_node(indices))
        });
        d
    }
}
