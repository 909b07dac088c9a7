//! Node construction: the checks that the builder's constructors share.

use crate::ast::body::show_types;
use crate::ast::{
    After, AsLong, Axis, Body, Builder, ExternalPart, Fold, FoldStyle, Input, Inputs, Kind, Node,
    Parts, Shape, Types, body_cache, check, simplify,
};
use crate::error::{Error, ErrorKind};
use loop_lang::types::Ty;
use std::sync::{Arc, OnceLock};

/// Collects the first mistake and the known length.
pub(super) struct Draft {
    builder: Builder,
    inputs: Inputs,
    pub(super) len: Option<u64>,
    /// The axes, for rank 2 or more.
    pub(super) shape: Option<Shape>,
    /// Whether a computation outside the fused loops must run first.
    pub(super) after: After,
    pub(super) error: Option<Box<Error>>,
}

impl Draft {
    pub(super) fn new(builder: Builder, inputs: Inputs) -> Draft {
        let waits = inputs.iter().any(|n| n.after.waits());
        Draft {
            builder,
            error: inputs.iter().find_map(|n| n.error.clone()),
            inputs,
            len: None,
            shape: None,
            after: if waits {
                After::Sources
            } else {
                After::Nothing
            },
        }
    }

    /// Records that the result is also computed from `node`.
    fn comes_behind(&mut self, node: &Node) {
        if node.after.waits() && !self.after.waits() {
            self.after = After::Sources;
        }
    }

    pub(super) fn inputs(&self) -> &[Arc<Node>] {
        &self.inputs
    }

    pub(super) fn fail(&mut self, kind: ErrorKind) {
        self.error
            .get_or_insert_with(|| Box::new(Error::new(self.builder.name, self.builder.loc, kind)));
    }

    pub(super) fn expect(&mut self, holds: bool, message: impl FnOnce() -> (String, String)) {
        if !holds && self.error.is_none() {
            let (expected, got) = message();
            self.fail(ErrorKind::Malformed { expected, got });
        }
    }

    /// The body, simplified if it is well formed.
    pub(super) fn simple(&self, body: Body) -> Body {
        if self.error.is_some() || body.is_sound() {
            return body;
        }
        let mut body = simplify(body);
        body.found_sound();
        body_cache::remember(&body);
        body
    }

    /// The fold with simplified bodies.
    pub(super) fn simple_fold(&self, fold: Fold) -> Box<Fold> {
        let style = match fold.style {
            FoldStyle::Aggregate(join) => FoldStyle::Aggregate(self.simple(join)),
            FoldStyle::Exact(join) => FoldStyle::Exact(self.simple(join)),
            FoldStyle::Dealt(join) => FoldStyle::Dealt(self.simple(join)),
            style => style,
        };
        let start = match style {
            FoldStyle::First => fold.start,
            _ => self.simple(fold.start),
        };
        Box::new(Fold {
            start,
            step: self.simple(fold.step),
            style,
        })
    }

    pub(super) fn inherit(&mut self, node: &Node) {
        self.comes_behind(node);
        if self.error.is_none() {
            self.error.clone_from(&node.error);
        }
    }

    /// Adds a known length to the result's length. All known lengths must agree.
    pub(super) fn meet(&mut self, got: u64) {
        match self.len {
            None => self.len = Some(got),
            Some(expected) if expected != got => {
                self.fail(ErrorKind::LengthMismatch { expected, got });
            }
            Some(_) => {}
        }
    }

    pub(super) fn meet_node(&mut self, node: &Node) {
        if let Some(len) = node.known_len() {
            self.meet(len);
        }
    }

    /// Checks that all inputs have one rank and agreeing known lengths. Returns the rank.
    pub(super) fn in_step(&mut self) -> u8 {
        let Some(rank) = self.inputs.first().map(|n| n.rank) else {
            self.expect(false, || ("at least one input".into(), "none".into()));
            return 1;
        };
        if let Some(got) = self
            .inputs
            .iter()
            .find(|n| n.rank != rank)
            .map(|n| show_node(n))
        {
            self.expect(false, || (format!("inputs of rank {rank}"), got));
        }
        self.meet_shapes();
        for i in 0..self.inputs.len() {
            if let Some(len) = self.inputs[i].known_len() {
                self.meet(len);
            }
        }
        rank
    }

    /// Checks that the known axes of the inputs' shapes agree. The result takes the first shape.
    fn meet_shapes(&mut self) {
        let shapes: Vec<Shape> = (self.inputs.iter())
            .filter_map(|n| n.shape.clone())
            .collect();
        let Some((first, rest)) = shapes.split_first() else {
            return;
        };
        for other in rest {
            let axes = first.axes().iter().zip(other.axes());
            let differ =
                |(a, b): (&Axis, &Axis)| a.known().zip(b.known()).is_some_and(|(a, b)| a != b);
            if axes.into_iter().any(differ) {
                self.fail(ErrorKind::ShapeMismatch {
                    expected: first.to_string().into(),
                    got: other.to_string().into(),
                });
            }
        }
        self.shape = Some(first.clone());
    }

    /// Checks that segment lengths are one `u64` field.
    pub(super) fn lengths(&mut self, lengths: &Node) {
        self.expect(*lengths.types == [Ty::U64], || {
            ("lengths of type u64".into(), show_node(lengths))
        });
    }

    /// Checks that a fold can run as a scan.
    pub(super) fn scannable(&mut self, fold: &Fold) {
        let has_start = matches!(fold.style, FoldStyle::Associative | FoldStyle::Sequential);
        self.expect(has_start, || {
            ("a scan with a starting value".into(), "another".into())
        });
    }

    /// Checks that all inputs are of rank 1.
    pub(super) fn arrays(&mut self) {
        let other = self.inputs.iter().find(|n| n.rank != 1);
        if let Some(got) = other.map(|n| show_node(n)) {
            self.expect(false, || ("an array of rank 1".into(), got));
        }
    }

    pub(super) fn input_types(&self) -> Types {
        let mut types = Types::new();
        for input in &self.inputs {
            // A copy of so few bytes takes more instructions.
            input.types.iter().for_each(|ty| types.push(*ty));
        }
        types
    }

    /// Checks a body: its own mistakes, those of its captures, its form and its signature.
    pub(super) fn body(&mut self, body: &Body, what: &str, params: &[Ty], results: Option<&[Ty]>) {
        if self.error.is_some() {
            return;
        }
        if let Some(e) = &body.error {
            let Builder { name, loc, .. } = self.builder;
            let location = e.location.or(Some(loc));
            self.error = Some(Box::new(Error {
                combinator: name,
                row: None,
                element: None,
                location,
                kind: e.kind.clone(),
            }));
            return;
        }
        body.captures
            .iter()
            .for_each(|c| self.comes_behind(c.node()));
        self.error = body.captures.iter().find_map(|c| c.node().error.clone());
        if self.error.is_none()
            && let Err(kind) =
                check::body(body).and_then(|()| check::signature(body, what, params, results))
        {
            self.fail(kind);
        }
    }

    /// Checks a fold over elements of these types. Returns the types of its state.
    pub(super) fn fold(&mut self, fold: &Fold, elem: &[Ty]) -> Types {
        let Fold { start, step, style } = fold;
        let first = matches!(style, FoldStyle::First);
        let state = fold.state(elem);
        let start_types = matches!(style, FoldStyle::Associative).then_some(&state[..]);
        if !first {
            self.body(start, "a starting value", &[], start_types);
        }
        self.expect(!first || start.results.is_empty(), || {
            ("no starting value".into(), "one".into())
        });
        self.body(step, "a step", &both(&state, elem), Some(&state));
        if let Some(join) = style.join() {
            self.body(
                join,
                "a combine function",
                &both(&state, &state),
                Some(&state),
            );
        }
        if let FoldStyle::Exact(join) | FoldStyle::Dealt(join) = style {
            let fixed = start.is_literal() && join.captures.is_empty();
            self.expect(fixed, || {
                let expected = "a start of literals, and a function that joins states alone";
                (expected.into(), "captured values".into())
            });
        }
        state
    }

    pub(super) fn array(self, kind: Kind, types: Types) -> Arc<Node> {
        self.finish(kind, types, 1)
    }

    /// A result of a computation outside the fused loops.
    pub(super) fn apart(
        mut self,
        of: ExternalPart,
        result: u32,
        types: Types,
        rank: u8,
    ) -> Arc<Node> {
        self.after = After::Apart(of, result);
        let input = Input {
            number: u32::MAX,
            consumed: false,
        };
        self.finish(Kind::Input(input), types, rank.min(1))
    }

    pub(super) fn scalar(self, kind: Kind, types: Types) -> Arc<Node> {
        self.finish(kind, types, 0)
    }

    pub(super) fn finish(mut self, kind: Kind, types: Types, rank: u8) -> Arc<Node> {
        self.expect(!types.is_empty(), || {
            ("an element of at least one field".into(), "none".into())
        });
        let axes = self.shape.clone();
        let axes = axes.as_ref().map_or(&[][..], Shape::axes);
        axes.iter().for_each(|axis| self.comes_behind(axis.node()));
        let Draft {
            builder: Builder { name, loc, rewrite },
            inputs,
            len,
            shape,
            after,
            error,
        } = self;
        let len = if rank == 0 { None } else { len };
        let shape = shape.filter(|_| rank > 1);
        let has_late = rank == 1 && inputs.iter().any(|i| i.late().is_some());
        let part = has_late.then(|| late_input(&kind, &inputs)).flatten();
        let part = part.and_then(|i| i.part.clone());
        Arc::new(Node {
            name,
            loc,
            rewrite,
            is_stream: kind.facts().is_stream(&inputs),
            kind,
            inputs,
            types,
            rank,
            shape,
            len,
            after,
            part,
            rows: None,
            error,
            value: OnceLock::new(),
            forced: OnceLock::new(),
        })
    }
}

/// The late input that a node of this kind is in step with. Then the node is late, too.
fn late_input<'a>(kind: &Kind, inputs: &'a Inputs) -> Option<&'a Arc<Node>> {
    let late = |i: &&Arc<Node>| i.late().is_some();
    match kind.facts().length {
        AsLong::Inputs => inputs.iter().find(late),
        AsLong::Input(k) => inputs.get(k).filter(late),
        AsLong::Own | AsLong::Base => None,
    }
}

/// The parameter types of a function of two elements.
pub(super) fn both(a: &[Ty], b: &[Ty]) -> Types {
    let mut all = Types::from_slice(a);
    all.extend_from_slice(b);
    all
}

/// A node in a message: `f64 of rank 1`.
pub(crate) fn show_node(n: &Node) -> String {
    format!(
        "{} of rank {} from `{}`",
        show_types(&n.types),
        n.rank,
        n.name
    )
}

impl Parts {
    /// Types of the results. Empty if a result is not a term (a body made by hand).
    pub(crate) fn result_types_or_none(&self) -> Types {
        let mut types = Types::new();
        for r in &self.results {
            match self.terms.get(r.index()) {
                Some(data) => types.push(data.ty),
                None => return Types::new(),
            }
        }
        types
    }
}
