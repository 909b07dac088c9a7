//! Graph keys: the structure of a graph as words, and interning of equal nodes.
//!
//! A node's *structure* has its kind, its links (as ids) and its bodies without constants. Its
//! *identity* adds the constants. Nodes of one identity are one node; graphs of one structure share
//! kernels. Constants that determine the code stay in the structure: `bool`s, divisors, shift
//! amounts, and bounds in the integer tests of scalar loops.

use super::{GraphNode, NodeId};
use crate::ast::{Body, Kind, Len, Node, Term, TermId, Value};
use livefusion_backend::process::PerProcess;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use std::any::{Any, TypeId};
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Holds the structure of a graph.
///
/// Equal keys give equal code. A hit compares the whole structure.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GraphKey {
    hash: u64,
    words: Vec<u64>,
}

impl Hash for GraphKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl GraphKey {
    fn of(words: Vec<u64>) -> GraphKey {
        let mut h = FxHasher::default();
        words.hash(&mut h);
        GraphKey {
            hash: h.finish(),
            words,
        }
    }

    /// Extends this key by further words.
    ///
    /// An example is the equality pattern of lengths.
    pub fn with(&self, more: &[u64]) -> GraphKey {
        let mut words = Vec::with_capacity(self.words.len() + more.len() + 1);
        words.extend_from_slice(&self.words);
        words.push(u64::MAX);
        words.extend_from_slice(more);
        GraphKey::of(words)
    }

    /// The structure of each node.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &[u64]> {
        let mut rest = self.words.as_slice();
        std::iter::from_fn(move || {
            let (len, behind) = rest.split_first()?;
            let (words, behind) = behind.split_at_checked(usize::try_from(*len).ok()?)?;
            rest = behind;
            Some(words)
        })
    }
}

pub(super) enum Interned {
    Known(NodeId),
    /// Equal to a node of another structure.
    Same(NodeId),
    New(NodeId),
}

/// Structures of the nodes seen so far.
#[derive(Default)]
pub(super) struct Keys {
    words: Vec<u64>,
    known: FxHashMap<(Vec<u64>, Vec<Const>), NodeId>,
}

impl Keys {
    /// Interns a node: finds an equal node, or takes the known `same` node, or adds this node with
    /// slots for its constants.
    pub(super) fn intern(
        &mut self,
        entry: &mut GraphNode,
        same: Option<NodeId>,
        constants: &mut Vec<Const>,
    ) -> Interned {
        let mut writer = KeyWriter {
            words: Vec::with_capacity(16),
            constants: Vec::new(),
        };
        // The addresses of arrays are part of a node's identity, but not of its structure.
        let address = writer.node(entry, constants.len() as u32);
        let KeyWriter {
            words,
            constants: own,
        } = writer;
        let mut identity = own.clone();
        identity.extend(address.iter().map(|a| Const::u64(*a)));
        let next = NodeId(self.known.len() as u32);
        match self.known.entry((words, identity)) {
            std::collections::hash_map::Entry::Occupied(e) => Interned::Known(*e.get()),
            std::collections::hash_map::Entry::Vacant(e) => {
                if let Some(id) = same {
                    return Interned::Same(id);
                }
                self.words.push(e.key().0.len() as u64);
                self.words.extend_from_slice(&e.key().0);
                constants.extend(own);
                e.insert(next);
                Interned::New(next)
            }
        }
    }

    /// The key of a graph with these roots and these sizes of lengths.
    pub(super) fn finish(mut self, roots: &[NodeId], sizes: &[u64]) -> GraphKey {
        self.words.push(u64::MAX);
        self.words.extend(roots.iter().map(|r| r.0 as u64));
        if !sizes.is_empty() {
            self.words.push(u64::MAX);
            self.words.extend(sizes);
        }
        GraphKey::of(self.words)
    }
}

struct KeyWriter {
    words: Vec<u64>,
    constants: Vec<Const>,
}

impl KeyWriter {
    fn put(&mut self, word: impl Into<u64>) {
        self.words.push(word.into());
    }

    fn types(&mut self, types: &[Ty]) {
        self.put(types.len() as u64);
        for t in types {
            self.put(*t as u64);
        }
    }

    /// Writes a node's structure. Returns the rest of its identity (a leaf's addresses).
    fn node(&mut self, entry: &mut GraphNode, base: u32) -> Vec<u64> {
        let node = entry.node.clone();
        if entry.leaf {
            return self.leaf(entry);
        }
        self.words.extend(kind_words(&node.kind));
        // Elements of higher ranks are stored as one row, so the rank does not matter.
        self.put(u64::from(node.rank.min(1)));
        self.types(&node.types);
        self.put(entry.inputs.len() as u64);
        for i in &entry.inputs {
            self.put(i.0 as u64);
        }
        if let Some(n) = entry.length {
            self.put(n.0 as u64);
        }
        let all = node.kind.bodies_by_role().into_iter();
        for ((role, body), captures) in all.zip(&entry.captures) {
            // Combine functions only see their parameters, so their constants stay in the code.
            let slots = self.body(body, captures, base, role.is_function());
            entry.constants.push(slots);
        }
        // A known length may change. Fusion adds its equality pattern.
        match &node.kind {
            Kind::Generate(Len::Known(n), _) => vec![*n],
            _ => vec![],
        }
    }

    fn leaf(&mut self, entry: &GraphNode) -> Vec<u64> {
        let node = &entry.node;
        self.put(100u64);
        self.put(u64::from(node.rank.min(1)));
        self.types(&node.types);
        match (node.value.get(), &node.kind) {
            (Some(Value::Array(fields)), _) => fields
                .iter()
                .map(|b| std::sync::Arc::as_ptr(b) as u64)
                .collect(),
            (Some(Value::Scalar(fields)), _) => fields.iter().map(|c| c.bits).collect(),
            // Inputs of different programs differ, even with equal numbers.
            (None, Kind::Input(input)) => {
                self.put(u64::from(input.number));
                self.put(u64::from(input.consumed));
                vec![std::sync::Arc::as_ptr(node) as u64]
            }
            (None, _) => vec![],
        }
    }

    fn body(
        &mut self,
        body: &Body,
        captures: &[NodeId],
        base: u32,
        function: bool,
    ) -> super::BodyConstants {
        let shaping = shaping_literals(body, function);
        let mut slots = super::BodyConstants::default();
        self.types(&body.params);
        self.put(body.terms.len() as u64);
        for (i, data) in body.terms.iter().enumerate() {
            let tag = (data.ty as u64) << 8;
            match &data.term {
                Term::Param(k) => self.words.extend([tag, *k as u64]),
                Term::Lit(c) if shaping[i] => self.words.extend([tag | 1, c.bits]),
                Term::Lit(c) => {
                    self.words.push(tag | 2);
                    slots.insert(i as u32, base + self.constants.len() as u32);
                    self.constants.push(*c);
                }
                Term::Op(op, args) => {
                    self.words.push(tag | 3 | (*op as u64) << 16);
                    self.words.extend(args.iter().map(|a| a.0 as u64));
                }
                Term::Flat(args) => {
                    self.words.push(tag | 10);
                    self.words.extend(args.iter().map(|a| a.0 as u64));
                }
                Term::Assert(assert, args) => {
                    self.words.push(tag | 9 | (*assert as u64) << 16);
                    self.words.extend(args.iter().map(|a| a.0 as u64));
                }
                Term::Cond(c, a, b) => {
                    self.words
                        .extend([tag | 4, c.0 as u64, a.0 as u64, b.0 as u64]);
                }
                Term::LoopVar(l, k) => self.words.extend([tag | 5, *l as u64, *k as u64]),
                Term::LoopResult(l, k) => self.words.extend([tag | 6, *l as u64, *k as u64]),
                Term::Scalar { capture, field } => {
                    let n = captures[*capture as usize].0 as u64;
                    self.words.extend([tag | 7, n, *field as u64]);
                }
                Term::At {
                    capture,
                    field,
                    index,
                    checked,
                } => {
                    let n = captures[*capture as usize].0 as u64;
                    self.words.extend([
                        tag | 8 | (*checked as u64) << 16,
                        n,
                        *field as u64,
                        index.0 as u64,
                    ]);
                }
            }
        }
        for l in &body.loops {
            self.types(&l.types);
            self.words
                .extend(l.start.iter().chain(&l.next).map(|t| t.0 as u64));
            self.put(l.test.0 as u64);
        }
        self.put(body.results.len() as u64);
        self.words.extend(body.results.iter().map(|t| t.0 as u64));
        slots
    }
}

/// The words of a kind, without links and bodies.
pub(super) fn kind_words(kind: &Kind) -> SmallVec<[u64; 4]> {
    let mut words = kind.words();
    if let Kind::Custom(c) = kind {
        let any: &dyn Any = &*c.combinator;
        let key = c.combinator.key();
        words.extend([number_of(any.type_id()), key.len() as u64]);
        words.extend(key);
    }
    words
}

/// A number for a type, constant within this process.
fn number_of(id: TypeId) -> u64 {
    static NUMBERS: PerProcess<Mutex<FxHashMap<TypeId, u64>>> = PerProcess::new();
    // A forked child has its parent's programs. It never reuses a number.
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let numbers = NUMBERS.get_or_make(Mutex::default).lock();
    let mut numbers = numbers.unwrap_or_else(PoisonError::into_inner);
    let next = || NEXT.fetch_add(1, Ordering::Relaxed);
    *numbers.entry(id).or_insert_with(next)
}

/// Whether two computed nodes have the same value: the same arrays in memory, or equal scalars.
pub(super) fn same_leaf(a: &Node, b: &Node) -> bool {
    match (a.value.get(), b.value.get()) {
        (Some(Value::Array(a)), Some(Value::Array(b))) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| Arc::ptr_eq(a, b))
        }
        (Some(Value::Scalar(a)), Some(Value::Scalar(b))) => a == b,
        _ => false,
    }
}

/// The terms that are subtracted from a delayed scalar, which may be a length.
pub(super) fn taken_from_scalars(body: &Body) -> impl Iterator<Item = usize> {
    body.terms.iter().filter_map(|data| match &data.term {
        Term::Op(Op::Sub, args) => match body.terms[args[0].index()].term {
            Term::Scalar { .. } => Some(args[1].index()),
            _ => None,
        },
        _ => None,
    })
}

/// Whether a literal subtracted from a length stays in the code. A length minus 1 is the last
/// index, and an index that counts down from it runs from the end.
pub(super) fn makes_last(c: Const) -> bool {
    c == Const::u64(1)
}

/// The literals that are a divisor or keep it above zero, as in `x / y.max(1)` and `max(n, 3) - 2`.
/// They make a check unnecessary.
fn of_divisor(body: &Body, divisor: TermId) -> impl Iterator<Item = usize> {
    let term = |t: TermId| &body.terms[t.index()].term;
    let maximum = |t: TermId| match term(t) {
        Term::Op(Op::Max, sides) => Some(&sides[..]),
        _ => None,
    };
    let (most, less) = match term(divisor) {
        Term::Op(Op::Sub, sides) if maximum(sides[0]).is_some() => (sides[0], Some(sides[1])),
        _ => (divisor, None),
    };
    let sides = maximum(most).unwrap_or_default().iter().copied();
    let all = sides.chain([most]).chain(less);
    all.filter(move |t| matches!(term(*t), Term::Lit(_)))
        .map(TermId::index)
}

/// Whether a word fits into its lower half.
fn half(word: u64) -> bool {
    u32::try_from(word).is_ok()
}

/// The literals that stay in the code.
fn shaping_literals(body: &Body, function: bool) -> Vec<bool> {
    let mut shaping: Vec<bool> = body
        .terms
        .iter()
        .map(|t| function || t.ty == Ty::Bool)
        .collect();
    for data in &body.terms {
        let Term::Op(op, args) = &data.term else {
            continue;
        };
        if op.shifts() {
            shaping[args[1].index()] = true;
        }
        if op.divides() && !body.ty(args[1]).is_float() {
            of_divisor(body, args[1]).for_each(|t| shaping[t] = true);
        }
        let literal = |t: TermId| match body.terms[t.index()].term {
            Term::Lit(c) => Some(c.bits),
            _ => None,
        };
        let mask = |t: TermId| literal(t).filter(|bits| bits.wrapping_add(1).is_power_of_two());
        match op {
            // A mask keeps low bits of a word, as a shift does.
            Op::And => {
                let masks = args.iter().filter(|a| mask(**a).is_some());
                masks.for_each(|a| shaping[a.index()] = true);
            }
            // Machines have an instruction for the product of two half words.
            Op::Mul if data.ty == Ty::U64 => {
                let is_half = |t: &TermId| match &body.terms[t.index()].term {
                    Term::Op(Op::And, sides) => sides.iter().any(|s| mask(*s).is_some_and(half)),
                    _ => false,
                };
                let halves = args.iter().filter(|a| literal(**a).is_some_and(half));
                if args.iter().any(is_half) {
                    halves.for_each(|a| shaping[a.index()] = true);
                }
            }
            _ => {}
        }
    }
    for t in taken_from_scalars(body) {
        shaping[t] |= matches!(body.terms[t].term, Term::Lit(c) if makes_last(c));
    }
    for l in &body.loops {
        if let Some(Term::Op(_, args)) = body.terms.get(l.test.index()).map(|t| &t.term) {
            for a in args.iter().filter(|a| body.ty(**a).is_int()) {
                shaping[a.index()] = true;
            }
        }
    }
    shaping
}
