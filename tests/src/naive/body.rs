//! Scalar bodies, evaluated on demand: an untaken arm is not computed and cannot trap.

use super::{Data, Naive, Read, Trap, When};
use livefusion::ast::{Assert, Body, Term, TermId};
use loop_lang::eval::eval;
use loop_lang::ir::TrapKind;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::ops::Range;

/// The number of iterations after which a scalar loop counts as endless.
const PATIENCE: usize = 100_000;

/// Evaluates a body.
///
/// It knows which terms vary with which scalar loops.
pub struct Runner<'a> {
    naive: &'a Naive,
    body: &'a Body,
    /// Per term: bit `l` is set if it uses a variable of loop `l` from inside.
    inside: Vec<u64>,
    params: Vec<u64>,
    values: Vec<Option<u64>>,
    ended: Vec<Option<Vec<u64>>>,
    when: When,
    field: Option<u32>,
    /// Traps so far.
    pub traps: Vec<Trap>,
}

impl<'a> Runner<'a> {
    pub fn new(naive: &'a Naive, body: &'a Body) -> Runner<'a> {
        assert!(
            body.loops.len() <= 64,
            "the naive evaluator takes at most 64 loops a body"
        );
        Runner {
            naive,
            body,
            inside: inside(body),
            params: vec![],
            values: vec![],
            ended: vec![],
            when: When::Init,
            field: None,
            traps: vec![],
        }
    }

    /// Computes all results for some parameters.
    ///
    /// Terms that results share are computed once.
    pub fn run(&mut self, params: &[u64], when: When) -> Vec<u64> {
        self.begin(params, when, None);
        self.body.results.iter().map(|r| self.term(*r)).collect()
    }

    /// Computes some of the results.
    pub fn run_some(&mut self, params: &[u64], when: When, which: Range<usize>) -> Vec<u64> {
        self.begin(params, when, None);
        let results = self.body.results[which].to_vec();
        results.into_iter().map(|r| self.term(r)).collect()
    }

    /// Computes one result, whose traps belong to this field.
    pub fn run_field(&mut self, params: &[u64], when: When, field: usize) -> u64 {
        self.run_as(params, when, field, field as u32)
    }

    /// Computes one result on behalf of a field.
    pub fn run_as(&mut self, params: &[u64], when: When, result: usize, field: u32) -> u64 {
        self.begin(params, when, Some(field));
        self.term(self.body.results[result])
    }

    fn begin(&mut self, params: &[u64], when: When, field: Option<u32>) {
        self.params = params.to_vec();
        self.values = vec![None; self.body.terms.len()];
        self.ended = vec![None; self.body.loops.len()];
        (self.when, self.field) = (when, field);
    }

    fn trap(&mut self, kind: TrapKind, payload: Vec<Const>) {
        let trap = Trap {
            when: self.when,
            kind,
            payload,
            field: self.field,
        };
        if !self.traps.iter().rev().take(16).any(|t| *t == trap) {
            self.traps.push(trap);
        }
    }

    fn term(&mut self, t: TermId) -> u64 {
        if let Some(v) = self.values[t.index()] {
            return v;
        }
        let body = self.body;
        let ty = body.ty(t);
        let value = match &body.terms[t.index()].term {
            Term::Param(k) => self.params[*k as usize],
            Term::Lit(c) => c.bits,
            Term::Op(op, args) => self.operator(*op, ty, args),
            Term::Flat(args) => {
                let [outer, inner, length] = [0, 1, 2].map(|k| self.term(args[k]));
                outer.wrapping_mul(length).wrapping_add(inner)
            }
            Term::Cond(c, a, b) => {
                if self.term(*c) != 0 {
                    self.term(*a)
                } else {
                    self.term(*b)
                }
            }
            Term::Assert(assert, args) => {
                let words: Vec<u64> = args.iter().map(|a| self.term(*a)).collect();
                let (kind, holds) = match assert {
                    Assert::Below => (TrapKind::OutOfRange, words[0] < words[1]),
                    Assert::Nonempty => (TrapKind::Empty, words[0] < words[1]),
                    Assert::Equal => (TrapKind::LengthMismatch, words[0] == words[1]),
                    Assert::Fits => (TrapKind::Segments, words[0] <= words[1]),
                    Assert::Fills => (TrapKind::Segments, words[0] == words[1]),
                    Assert::Inside => {
                        let inside = words[0] <= words[1] && words[1] <= words[2];
                        (TrapKind::SliceRange, inside)
                    }
                    Assert::Adds => (TrapKind::LongSum, words[0].checked_add(words[1]).is_some()),
                    Assert::Multiplies => {
                        let product = words[0].checked_mul(words[1]);
                        (TrapKind::LongProduct, product.is_some())
                    }
                };
                if !holds {
                    let payload = match kind {
                        TrapKind::Empty => &[],
                        _ => words.as_slice(),
                    };
                    self.trap(kind, payload.iter().map(|w| Const::u64(*w)).collect());
                }
                words[0]
            }
            Term::LoopVar(..) => unreachable!("a loop variable outside of its loop"),
            Term::LoopResult(l, k) => self.scalar_loop(*l as usize)[*k as usize],
            Term::Scalar { capture, field } => {
                match self.naive.seen(body.captures[*capture as usize].node()) {
                    Data::Scalar(fields) => fields[*field as usize],
                    Data::Array(..) => unreachable!("a captured array used as a scalar"),
                }
            }
            Term::At {
                capture,
                field,
                index,
                checked,
            } => {
                let i = self.term(*index);
                let node = body.captures[*capture as usize].node();
                let array = self.naive.seen(node);
                let len = array.len();
                if i < len as u64 {
                    self.naive.read(Read {
                        when: self.when,
                        field: self.field,
                        array: (node.clone(), *field),
                        index: i as usize,
                    });
                    array.columns()[*field as usize][i as usize]
                } else {
                    if *checked {
                        self.trap(
                            TrapKind::OutOfRange,
                            vec![Const::u64(i), Const::u64(len as u64)],
                        );
                    }
                    0
                }
            }
        };
        self.values[t.index()] = Some(value);
        value
    }

    fn operator(&mut self, op: Op, to: Ty, args: &[TermId]) -> u64 {
        let words: Vec<u64> = args.iter().map(|a| self.term(*a)).collect();
        let from = self
            .body
            .ty(if op == Op::Select { args[1] } else { args[0] });
        let divides = matches!(op, Op::Div | Op::Rem | Op::DivEuclid | Op::RemEuclid);
        if divides && from.is_int() && eval(Op::DivOk, from, Ty::Bool, &words) == 0 {
            let payload = words.iter().map(|w| Const { ty: from, bits: *w }).collect();
            self.trap(TrapKind::Division, payload);
        }
        eval(op, from, to, &words)
    }

    fn scalar_loop(&mut self, l: usize) -> Vec<u64> {
        if let Some(state) = &self.ended[l] {
            return state.clone();
        }
        let body = self.body;
        let scalar_loop = &body.loops[l];
        let mut state: Vec<u64> = scalar_loop.start.iter().map(|s| self.term(*s)).collect();
        for _ in 0..PATIENCE {
            for i in 0..body.terms.len() {
                if self.inside[i] & (1 << l) != 0 {
                    self.values[i] = None;
                    if let Term::LoopResult(inner, _) = body.terms[i].term {
                        self.ended[inner as usize] = None;
                    }
                }
                if let Term::LoopVar(m, k) = body.terms[i].term
                    && m as usize == l
                {
                    self.values[i] = Some(state[k as usize]);
                }
            }
            if self.term(scalar_loop.test) == 0 {
                self.ended[l] = Some(state.clone());
                return state;
            }
            state = scalar_loop.next.iter().map(|n| self.term(*n)).collect();
        }
        panic!("a scalar loop does not end");
    }
}

/// Per term: the unfinished loops whose variables it uses.
fn inside(body: &Body) -> Vec<u64> {
    let mut inside: Vec<u64> = Vec::with_capacity(body.terms.len());
    for data in &body.terms {
        let of = |t: &TermId| inside[t.index()];
        inside.push(match &data.term {
            Term::Param(_) | Term::Lit(_) | Term::Scalar { .. } => 0,
            Term::Op(_, args) | Term::Flat(args) | Term::Assert(_, args) => {
                args.iter().map(of).fold(0, |a, b| a | b)
            }
            Term::Cond(c, a, b) => of(c) | of(a) | of(b),
            Term::At { index, .. } => of(index),
            Term::LoopVar(l, _) => 1 << l,
            Term::LoopResult(l, _) => {
                let s = &body.loops[*l as usize];
                let within = s.next.iter().chain([&s.test]).map(of).fold(0, |a, b| a | b);
                s.start
                    .iter()
                    .map(of)
                    .fold(within & !(1 << l), |a, b| a | b)
            }
        });
    }
    inside
}
