//! Programs as descriptions.
//!
//! Every run builds a fresh graph, because forcing stores results in nodes, and tests must not see
//! those.

mod body;
mod dense;
mod exits;
mod fold;
mod merges;
mod parts;
mod random;
mod segments;
mod show;
mod shrink;
mod sides;
mod slices;
mod wiring;

pub use parts::Part;
pub use random::{Options, Way, drawn, programs, programs_of, random};
pub use shrink::shrink;

use crate::naive::{Data, Naive};
use livefusion::ast::{
    self, BodyBuilder, Builder, FoldStyle, Kind, Len, Move, Node, Places, ScanKind, Sorted, TermId,
    Value,
};
use livefusion::over::Domain;
use livefusion_backend::Buffer;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Holds steps in dependency order, and the forced steps in order.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The steps.
    pub steps: Vec<Step>,
    /// The forced steps.
    pub roots: Vec<usize>,
}

/// Describes one combinator.
///
/// Numbers are earlier steps.
#[derive(Clone, Debug)]
pub enum Step {
    /// An array in memory: the type and the words of each field.
    Data(Vec<(Ty, Vec<u64>)>),
    /// A known delayed scalar.
    Constant(Vec<Const>),
    /// A generator.
    Generate(Length, Body),
    /// A map over inputs in step.
    Map(Vec<usize>, Body),
    /// A zip.
    Zip(Vec<usize>),
    /// A zip up to the shortest input.
    ZipShortest(Vec<usize>),
    /// A merge, one element at a time, as a step decides.
    Merge(Vec<usize>, Body),
    /// Some fields.
    Fields(usize, Range<u32>),
    /// A filter.
    Filter(usize, Body),
    /// A pack: data, tags.
    Pack(usize, usize),
    /// A fold.
    Fold(usize, Fold),
    /// A scan.
    Scan(usize, Fold, ScanKind),
    /// The final state of a scan.
    ScanTotal(usize),
    /// A scatter: base, indices, values.
    Scatter(usize, usize, usize, Option<Body>),
    /// A scan by index: base, indices, values.
    ScanByIndex(usize, usize, usize, Body, ScanKind),
    /// A scalar computed from others.
    Compute(Body),
    /// A length.
    Len(usize),
    /// Elements generated for segments: lengths, arrays with an element per segment.
    Expand(usize, Vec<usize>, Body),
    /// A fold of segments: lengths, data.
    FoldS(usize, usize, Fold),
    /// A scan of segments: lengths, data.
    ScanS(usize, usize, Fold, ScanKind),
    /// A sort of segments: lengths, keys.
    SortS(usize, usize, Sorted),
    /// Elements of segments, moved: lengths, data.
    MoveS(usize, usize, Move),
    /// The number of true tags in segments: lengths, tags.
    CountS(usize, usize),
    /// Elements before the first one that fails; the flag includes that one.
    TakeWhile(usize, Body, bool),
    /// The first elements, up to a number.
    Take(usize, Body),
    /// A concatenation.
    Append(Vec<usize>),
    /// A part built from several combinators.
    Part(Part, Vec<usize>),
}

/// Describes the length of a generator.
#[derive(Clone, Debug)]
pub enum Length {
    /// Known.
    Known(u64),
    /// A delayed scalar.
    Delayed(usize),
    /// Computed and checked.
    Checked(Body),
}

/// Describes a fold.
#[derive(Clone, Debug)]
pub struct Fold {
    /// Starting value.
    pub start: Body,
    /// Next state.
    pub step: Body,
    /// Order.
    pub style: Style,
}

/// Describes the order in which a fold combines elements.
#[derive(Clone, Debug)]
pub enum Style {
    /// Associative with a start.
    Associative,
    /// Associative without a start.
    First,
    /// Left to right.
    Sequential,
    /// With another state type, combined by this body.
    Aggregate(Body),
}

/// Describes a scalar body.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// Types of the parameters.
    pub params: Vec<Ty>,
    /// Terms; operands come first. The first terms are the parameters.
    pub terms: Vec<Term>,
    /// Scalar loops.
    pub loops: Vec<ScalarLoop>,
    /// Results.
    pub results: Vec<usize>,
}

/// Describes a scalar loop of a body.
#[derive(Clone, Debug, Default)]
pub struct ScalarLoop {
    /// Starting values.
    pub start: Vec<usize>,
    /// The test.
    pub test: usize,
    /// Next values.
    pub next: Vec<usize>,
}

/// Describes a scalar term.
///
/// Numbers are earlier terms, unless noted.
#[derive(Clone, Debug)]
pub enum Term {
    /// A parameter.
    Param(u32),
    /// A literal.
    Lit(Const),
    /// An operator.
    Op(Op, Vec<usize>),
    /// A conversion.
    Cast(usize, Ty),
    /// The same bits.
    Bitcast(usize, Ty),
    /// A condition.
    Cond(usize, usize, usize),
    /// A variable of a scalar loop.
    LoopVar(usize, usize),
    /// A variable of a scalar loop after its end.
    LoopResult(usize, usize),
    /// A field of a delayed scalar: step, field.
    Scalar(usize, u32),
    /// A field of an element of an array: step, field, index, checked.
    At(usize, u32, usize, bool),
}

/// A step's name for its combinator. Names are leaked, because they must live as long as the
/// program under test.
fn name_of(step: usize) -> &'static str {
    static NAMES: Mutex<Vec<&str>> = Mutex::new(Vec::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    for at in names.len()..=step {
        names.push(format!("step{at}").leak());
    }
    names[step]
}

/// Holds a graph built from a program.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The node of each step.
    pub nodes: Vec<Arc<Node>>,
    /// The forced nodes.
    pub roots: Vec<Arc<Node>>,
    /// Nodes as in the program, without the builder's simplification.
    pub plain: Vec<Arc<Node>>,
}

impl Graph {
    /// Returns the step of a plain node.
    pub fn step_of(&self, plain: &Arc<Node>) -> Option<usize> {
        self.plain.iter().position(|n| Arc::ptr_eq(n, plain))
    }

    /// Returns the scans whose totals belong to a step's scan.
    ///
    /// If the scan itself is not requested, they stand for it.
    pub fn scans_of_totals(&self, step: usize) -> impl Iterator<Item = &Arc<Node>> {
        let ends = move |plain: &Node| {
            let scan = plain.inputs.first();
            matches!(plain.kind, Kind::ScanTotal)
                && scan.is_some_and(|scan| Arc::ptr_eq(scan, &self.plain[step]))
        };
        let all = self.plain.iter().zip(&self.nodes);
        all.filter(move |(plain, _)| ends(plain))
            .filter_map(|(_, node)| node.inputs.first())
    }
}

impl Program {
    /// Builds a fresh graph.
    pub fn build(&self) -> Graph {
        let mut graph = Graph {
            nodes: vec![],
            roots: vec![],
            plain: vec![],
        };
        for (i, step) in self.steps.iter().enumerate() {
            let node = step.build(i, &graph.nodes);
            graph.plain.push(step.build_plain(&node, &graph.plain));
            graph.nodes.push(node);
        }
        graph.roots = self.roots.iter().map(|r| graph.nodes[*r].clone()).collect();
        graph
    }
}

/// The bodies of a step, by this kind of reference.
macro_rules! bodies_of {
    ($step:expr, $($by:tt)+) => {
        match $step {
            Step::Generate(Length::Checked(l), b) => vec![l, b],
            Step::Generate(_, b)
            | Step::Map(_, b)
            | Step::Filter(_, b)
            | Step::Compute(b)
            | Step::Scatter(.., Some(b))
            | Step::ScanByIndex(.., b, _)
            | Step::Expand(.., b)
            | Step::TakeWhile(_, b, _)
            | Step::Merge(_, b)
            | Step::Take(_, b) => vec![b],
            Step::Fold(_, f) | Step::Scan(_, f, _) | Step::FoldS(.., f) | Step::ScanS(.., f, _) => {
                match $($by)+ f.style {
                    Style::Aggregate(c) => vec![$($by)+ f.start, $($by)+ f.step, c],
                    _ => vec![$($by)+ f.start, $($by)+ f.step],
                }
            }
            _ => vec![],
        }
    };
}

/// The earlier steps that a step consumes. References are mutable if the reference to the step is.
macro_rules! inputs_of {
    ($step:expr) => {
        match $step {
            Step::Map(inputs, _)
            | Step::Zip(inputs)
            | Step::ZipShortest(inputs)
            | Step::Merge(inputs, _)
            | Step::Append(inputs)
            | Step::Part(_, inputs) => inputs.into_iter().collect(),
            Step::Fields(i, _)
            | Step::Filter(i, _)
            | Step::Fold(i, _)
            | Step::Scan(i, ..)
            | Step::ScanTotal(i)
            | Step::Len(i)
            | Step::TakeWhile(i, ..)
            | Step::Take(i, _) => vec![i],
            Step::Pack(a, b)
            | Step::FoldS(a, b, _)
            | Step::ScanS(a, b, ..)
            | Step::SortS(a, b, _)
            | Step::MoveS(a, b, _)
            | Step::CountS(a, b) => vec![a, b],
            Step::Expand(lengths, values, _) => std::iter::once(lengths).chain(values).collect(),
            Step::Scatter(b, i, v, _) | Step::ScanByIndex(b, i, v, ..) => vec![b, i, v],
            Step::Data(_) | Step::Constant(_) | Step::Generate(..) | Step::Compute(_) => vec![],
        }
    };
}

impl Step {
    /// Builds the node of a step at position `at`, over earlier nodes.
    pub fn build(&self, at: usize, nodes: &[Arc<Node>]) -> Arc<Node> {
        let b = Builder::named(name_of(at));
        let of = |steps: &[usize]| -> Vec<Arc<Node>> {
            steps.iter().map(|s| nodes[*s].clone()).collect()
        };
        match self {
            Step::Data(columns) => b.manifest(
                columns
                    .iter()
                    .map(|(ty, words)| buffer(*ty, words))
                    .collect(),
            ),
            Step::Constant(fields) => b.constant(fields),
            Step::Generate(len, body) => {
                let len = match len {
                    Length::Known(n) => Len::Known(*n),
                    Length::Delayed(s) => Len::Delayed(nodes[*s].clone()),
                    Length::Checked(body) => Len::Checked(Box::new(body.build(nodes))),
                };
                b.generate(len, body.build(nodes))
            }
            Step::Map(inputs, body) => b.map(&of(inputs), body.build(nodes)),
            Step::Zip(inputs) => b.zip(&of(inputs)),
            Step::ZipShortest(inputs) => b.zip_shortest(&of(inputs)),
            Step::Merge(inputs, body) => b.merge(&of(inputs), body.build(nodes)),
            Step::Fields(input, range) => b.fields(&nodes[*input], range.clone()),
            Step::Filter(input, body) => b.filter(&nodes[*input], body.build(nodes)),
            Step::Pack(data, tags) => b.pack(&nodes[*data], &nodes[*tags]),
            Step::Fold(input, fold) => b.fold(&nodes[*input], fold.build(nodes)),
            Step::Scan(input, fold, kind) => b.scan(&nodes[*input], fold.build(nodes), *kind),
            Step::ScanTotal(scan) => b.scan_total(&nodes[*scan]),
            Step::Scatter(base, indices, values, combine) => {
                let combine = combine.as_ref().map(|c| c.build(nodes));
                b.scatter(&nodes[*base], &nodes[*indices], &nodes[*values], combine)
            }
            Step::ScanByIndex(base, indices, values, step, kind) => {
                let inputs = [base, indices, values].map(|s| &nodes[*s]);
                b.scan_by_index(inputs, step.build(nodes), *kind, Places::Anywhere)
            }
            Step::Compute(body) => b.compute(body.build(nodes)),
            Step::Len(input) => b.len(&nodes[*input]),
            Step::Expand(lengths, values, body) => {
                b.expand(&nodes[*lengths], &of(values), body.build(nodes))
            }
            Step::FoldS(lengths, data, fold) => b.fold(
                Domain::Segments(&nodes[*lengths], &nodes[*data]),
                fold.build(nodes),
            ),
            Step::ScanS(lengths, data, fold, kind) => {
                let fold = fold.build(nodes);
                b.scan(
                    Domain::Segments(&nodes[*lengths], &nodes[*data]),
                    fold,
                    *kind,
                )
            }
            Step::SortS(lengths, keys, sorted) => {
                b.sort_keys(&nodes[*lengths], &nodes[*keys], *sorted)
            }
            Step::MoveS(lengths, data, to) => b.move_each(&nodes[*lengths], &nodes[*data], *to),
            Step::CountS(lengths, tags) => b.count_tags(&nodes[*lengths], &nodes[*tags]),
            Step::TakeWhile(input, test, inclusive) => {
                b.take_while(&nodes[*input], test.build(nodes), *inclusive)
            }
            Step::Take(input, n) => b.take(&nodes[*input], n.build(nodes)),
            Step::Append(parts) => b.append(&of(parts)),
            Step::Part(part, inputs) => part.build(b, &of(inputs)),
        }
    }

    /// Builds the node of this step without simplification, over plain nodes.
    ///
    /// `built` is the node from the builder.
    pub fn build_plain(&self, built: &Arc<Node>, plain: &[Arc<Node>]) -> Arc<Node> {
        let body = |b: &Body| b.build(plain);
        let kind = match self {
            // Values are shared with the built node.
            Step::Data(_) | Step::Part(..) => Kind::Manifest,
            Step::Constant(fields) => Kind::Compute(body::literals(fields).build(plain)),
            Step::Generate(len, b) => {
                let len = match len {
                    Length::Known(n) => Len::Known(*n),
                    Length::Delayed(s) => Len::Delayed(plain[*s].clone()),
                    Length::Checked(l) => Len::Checked(Box::new(body(l))),
                };
                Kind::Generate(len, body(b))
            }
            Step::Map(_, b) => Kind::Map(body(b)),
            Step::Zip(_) => Kind::Zip,
            Step::ZipShortest(_) => Kind::ZipShortest,
            Step::Merge(_, b) => Kind::Merge(body(b)),
            Step::Fields(_, range) => Kind::Fields(range.clone()),
            Step::Filter(_, b) => Kind::Filter(body(b)),
            Step::Pack(..) => Kind::Pack,
            Step::Fold(_, fold) => Kind::Fold(Box::new(fold.build(plain))),
            Step::Scan(_, fold, kind) => Kind::Scan(Box::new(fold.build(plain)), *kind),
            Step::ScanTotal(_) => Kind::ScanTotal,
            Step::Scatter(.., combine) => {
                Kind::Scatter(combine.as_ref().map(body), Places::Anywhere)
            }
            Step::ScanByIndex(.., step, kind) => {
                Kind::ScanByIndex(body(step), *kind, Places::Anywhere)
            }
            Step::Compute(b) => Kind::Compute(body(b)),
            Step::Len(_) => Kind::Len,
            Step::Expand(.., b) => Kind::Expand(body(b)),
            Step::FoldS(.., fold) => Kind::FoldS(Box::new(fold.build(plain))),
            Step::ScanS(.., fold, kind) => Kind::ScanS(Box::new(fold.build(plain)), *kind),
            Step::SortS(.., sorted) => Kind::SortS(*sorted),
            Step::MoveS(.., to) => Kind::MoveS(*to),
            Step::CountS(..) => Kind::CountS,
            Step::Take(_, n) => Kind::Take(body(n)),
            Step::Append(_) => Kind::Append,
            Step::TakeWhile(_, test, inclusive) => Kind::TakeWhile {
                test: body(test),
                inclusive: *inclusive,
            },
        };
        let value = match self {
            Step::Data(_) => built.value.clone(),
            Step::Part(part, inputs) => given(part, inputs, plain, built).into(),
            _ => Default::default(),
        };
        // The result of a part is in memory.
        let inputs = match self {
            Step::Part(..) => Vec::new(),
            _ => self.inputs(),
        };
        Arc::new(Node {
            name: built.name,
            loc: built.loc,
            rewrite: built.rewrite,
            kind,
            inputs: inputs.into_iter().map(|i| plain[i].clone()).collect(),
            types: built.types.clone(),
            rank: built.rank,
            shape: None,
            after: Default::default(),
            is_stream: built.is_stream,
            len: None,
            part: None,
            rows: None,
            error: None,
            value,
            forced: Default::default(),
        })
    }

    /// Returns whether it makes an array instead of a delayed scalar.
    pub fn is_array(&self) -> bool {
        !matches!(
            self,
            Step::Constant(_)
                | Step::Fold(..)
                | Step::ScanTotal(_)
                | Step::Compute(_)
                | Step::Len(_)
        ) && !matches!(self, Step::Part(part, _) if part.is_scalar())
    }

    /// Returns its bodies.
    pub fn bodies(&self) -> Vec<&Body> {
        bodies_of!(self, &)
    }

    /// Returns its bodies for mutation.
    pub fn bodies_mut(&mut self) -> Vec<&mut Body> {
        bodies_of!(self, &mut)
    }

    /// Renumbers the steps that it needs.
    pub fn renumber(&mut self, number: &[usize]) {
        let inputs: Vec<&mut usize> = inputs_of!(self);
        inputs.into_iter().for_each(|i| *i = number[*i]);
        if let Step::Generate(Length::Delayed(length), _) = self {
            *length = number[*length];
        }
        for body in self.bodies_mut() {
            for t in &mut body.terms {
                if let Term::Scalar(s, _) | Term::At(s, ..) = t {
                    *s = number[*s];
                }
            }
        }
    }

    /// Returns the earlier steps that it consumes.
    pub fn inputs(&self) -> Vec<usize> {
        let inputs: Vec<&usize> = inputs_of!(self);
        inputs.into_iter().copied().collect()
    }

    /// Returns the lengths of its segments, and the data that they cut.
    pub fn cut(&self) -> Option<(usize, Option<usize>)> {
        match self {
            Step::FoldS(l, d, _)
            | Step::ScanS(l, d, ..)
            | Step::SortS(l, d, _)
            | Step::MoveS(l, d, _)
            | Step::CountS(l, d) => Some((*l, Some(*d))),
            Step::Expand(l, ..) => Some((*l, None)),
            _ => None,
        }
    }

    /// Returns the name of its combinator.
    pub fn name(&self) -> &'static str {
        match self {
            Step::Data(_) => "manifest",
            Step::Constant(_) | Step::Compute(_) => "compute",
            Step::Generate(..) => "generate",
            Step::Map(..) => "map",
            Step::Zip(_) => "zip",
            Step::ZipShortest(_) => "zip_shortest",
            Step::Merge(..) => "merge",
            Step::Fields(..) => "fields",
            Step::Filter(..) => "filter",
            Step::Pack(..) => "pack",
            Step::Fold(..) => "fold",
            Step::Scan(..) => "scan",
            Step::ScanTotal(_) => "scan total",
            Step::Scatter(..) => "scatter",
            Step::ScanByIndex(..) => "scan by index",
            Step::Len(_) => "len",
            Step::Expand(..) => "expand",
            Step::FoldS(..) => "fold_s",
            Step::ScanS(..) => "scan_s",
            Step::SortS(..) => "sort_s",
            Step::MoveS(..) => "move_s",
            Step::CountS(..) => "count_s",
            Step::TakeWhile(..) => "take_while",
            Step::Take(..) => "take",
            Step::Append(..) => "append",
            Step::Part(..) => "part",
        }
    }

    /// Returns every earlier step that it needs.
    pub fn links(&self) -> Vec<usize> {
        let mut out = self.inputs();
        for body in self.bodies() {
            out.extend(body.terms.iter().filter_map(|t| match t {
                Term::Scalar(s, _) | Term::At(s, ..) => Some(*s),
                _ => None,
            }));
        }
        if let Step::Generate(Length::Delayed(s), _) = self {
            out.push(*s);
        }
        out
    }
}

impl Fold {
    fn build(&self, nodes: &[Arc<Node>]) -> ast::Fold {
        ast::Fold {
            start: self.start.build(nodes),
            step: self.step.build(nodes),
            style: match &self.style {
                Style::Associative => FoldStyle::Associative,
                Style::First => FoldStyle::First,
                Style::Sequential => FoldStyle::Sequential,
                Style::Aggregate(c) => FoldStyle::Aggregate(c.build(nodes)),
            },
        }
    }
}

impl Body {
    /// Builds it, with captures from `nodes`.
    pub fn build(&self, nodes: &[Arc<Node>]) -> ast::Body {
        let mut b = BodyBuilder::new(&self.params);
        let mut ids: Vec<TermId> = Vec::with_capacity(self.terms.len());
        let mut open: Vec<Option<(u32, Vec<TermId>)>> = vec![None; self.loops.len()];
        let mut ended: Vec<Option<Vec<TermId>>> = vec![None; self.loops.len()];
        for term in &self.terms {
            let of = |t: &usize| ids[*t];
            let id = match term {
                Term::Param(k) => b.param(*k),
                Term::Lit(c) => b.lit(*c),
                Term::Op(op, args) => b.op(*op, &args.iter().map(of).collect::<Vec<_>>()),
                Term::Cast(x, to) => b.cast(ids[*x], *to),
                Term::Bitcast(x, to) => b.bitcast(ids[*x], *to),
                Term::Cond(c, x, y) => b.cond(ids[*c], ids[*x], ids[*y]),
                Term::LoopVar(l, k) => {
                    let start: Vec<TermId> = self.loops[*l].start.iter().map(of).collect();
                    open[*l].get_or_insert_with(|| b.open_loop(&start)).1[*k]
                }
                Term::LoopResult(l, k) => {
                    let s = &self.loops[*l];
                    let next: Vec<TermId> = s.next.iter().map(of).collect();
                    let number = open[*l].as_ref().map_or(0, |o| o.0);
                    ended[*l].get_or_insert_with(|| b.close_loop(number, ids[s.test], &next))[*k]
                }
                Term::Scalar(s, f) => b.scalar(&nodes[*s], *f),
                Term::At(s, f, i, checked) => b.at(&nodes[*s], *f, ids[*i], *checked),
            };
            ids.push(id);
        }
        let results: Vec<TermId> = self.results.iter().map(|r| ids[*r]).collect();
        b.finish(&results)
    }
}

/// The value of a part.
fn given(part: &Part, inputs: &[usize], plain: &[Arc<Node>], built: &Node) -> Value {
    let mut naive = Naive::default();
    let data: Vec<_> = inputs.iter().map(|i| naive.eval(&plain[*i])).collect();
    let typed = inputs.iter().zip(&data);
    let typed: Vec<(&[Ty], &Data)> = typed
        .map(|(i, e)| (&plain[*i].types[..], &e.data))
        .collect();
    let nothing = || match built.rank {
        0 => Data::Scalar(vec![0; built.types.len()]),
        _ => Data::Array(vec![Vec::new(); built.types.len()], 0),
    };
    match part.value(&typed).unwrap_or_else(nothing) {
        Data::Array(columns, _) => {
            let columns = columns.iter().zip(&built.types);
            Value::Array(columns.map(|(words, ty)| buffer(*ty, words)).collect())
        }
        Data::Scalar(fields) => {
            let fields = fields.iter().zip(&built.types);
            Value::Scalar(
                fields
                    .map(|(bits, ty)| Const {
                        ty: *ty,
                        bits: *bits,
                    })
                    .collect(),
            )
        }
    }
}

/// Returns a buffer of words.
pub fn buffer(ty: Ty, words: &[u64]) -> Arc<Buffer> {
    let mut buffer = Buffer::zeroed(ty, words.len()).expect("memory for test data");
    for (i, w) in words.iter().enumerate() {
        buffer.set_word(i, *w);
    }
    Arc::new(buffer)
}
