//! `components`: connected components of a graph, given by its edges.

use super::call::unfit;
use crate::array::{Array, IntoLen, extent};
use crate::ast::{Axis, Buffer, Builder, Function, Gives, Node, Types, Value, show_node, trace};
use crate::elt::{Elt, Int};
use crate::error::ErrorKind;
use crate::external::{no_memory, uncleared};
use livefusion_backend::Prim;
use loop_lang::types::Ty;
use std::sync::Arc;

/// The untyped method.
impl Builder {
    /// Labels the nodes `0..n` with the smallest node of their component (`u64`).
    ///
    /// An edge has two integer fields, its ends.
    pub fn components(self, edges: &Arc<Node>, n: &Axis) -> Arc<Node> {
        let are_ends = edges.types.len() == 2 && edges.types.iter().all(|ty| ty.is_int());
        if edges.error.is_none() && !(are_ends && edges.rank == 1) {
            let expected = "edges of two integers each".to_string();
            let got = show_node(edges);
            let kind = ErrorKind::Malformed { expected, got };
            return self.instead(&[edges], (&[Ty::U64], 1), kind);
        }
        let ty = match edges.types.iter().any(|ty| ty.is_signed()) {
            true => Ty::I64,
            false if *edges.types == [Ty::U32; 2] => Ty::U32,
            false => Ty::U64,
        };
        let ends = match edges.types.iter().all(|own| *own == ty) {
            true => edges.clone(),
            false => self.map(
                std::slice::from_ref(edges),
                trace(&edges.types, |ends| {
                    ends.iter().map(|end| end.cast(ty, self.loc())).collect()
                }),
            ),
        };
        let gives = Gives {
            types: Types::from_slice(&[Ty::U64]),
            rank: 1,
            like: None,
        };
        self.external(&[n.node().clone(), ends], gives, Arc::new(Components))
    }
}

/// Joins the trees of both ends of each edge.
struct Components;

impl Function for Components {
    fn call(&self, inputs: &[Value], _: usize) -> Result<Value, ErrorKind> {
        let [Value::Scalar(n), Value::Array(columns)] = inputs else {
            return Err(unfit());
        };
        let ([n], [from, to]) = (&n[..], &columns[..]) else {
            return Err(unfit());
        };
        let labels = match from.ty() {
            Ty::U32 => labels_of::<u32>(n.bits, from, to),
            Ty::U64 => labels_of::<u64>(n.bits, from, to),
            Ty::I64 => labels_of::<i64>(n.bits, from, to),
            _ => Err(unfit()),
        }?;
        Ok(Value::Array(vec![Arc::new(labels)]))
    }

    fn why(&self) -> &str {
        "an edge may join any two components found before it"
    }
}

/// Labels nodes with the smaller word for parents that holds all numbers.
fn labels_of<W: Prim>(n: u64, from: &Buffer, to: &Buffer) -> Result<Buffer, ErrorKind> {
    let (from, to) = (from.as_slice::<W>(), to.as_slice());
    let (from, to) = from.zip(to).ok_or_else(unfit)?;
    match n <= u64::from(u32::MAX) {
        true => labels::<u32, W>(n, from, to),
        false => labels::<u64, W>(n, from, to),
    }
}

/// Labels each node with the smallest one of its component.
///
/// The trees are Rem's: a parent is smaller than its children, and a walk to the root moves each
/// node that it visits to a smaller parent.
fn labels<P: Prim, W: Prim>(n: u64, from: &[W], to: &[W]) -> Result<Buffer, ErrorKind> {
    let len = usize::try_from(n).map_err(|_| no_memory(usize::MAX))?;
    let mut forest = uncleared(P::TY, len)?;
    let parents = forest.as_mut_slice::<P>().unwrap_or_default();
    (0..)
        .zip(&mut *parents)
        .for_each(|(k, parent)| *parent = P::from_word(k));
    for (from, to) in from.iter().zip(to) {
        let (mut u, mut v) = (inside(*from, n)?, inside(*to, n)?);
        loop {
            let (above_u, above_v) = (parents[u].to_word(), parents[v].to_word());
            if above_u == above_v {
                break;
            }
            if above_u < above_v {
                std::mem::swap(&mut u, &mut v);
            }
            let (above, least) = (above_u.max(above_v), above_u.min(above_v));
            parents[u] = P::from_word(least);
            if above as usize == u {
                break;
            }
            u = above as usize;
        }
    }
    // A parent has its label before its children.
    let mut made = uncleared(Ty::U64, len)?;
    let labels = made.as_mut_slice::<u64>().unwrap_or_default();
    for (node, parent) in parents.iter().enumerate() {
        let parent = parent.to_word() as usize;
        labels[node] = if parent == node {
            node as u64
        } else {
            labels[parent]
        };
    }
    Ok(made)
}

/// The place of an end, which must be below `n`.
fn inside<W: Prim>(end: W, n: u64) -> Result<usize, ErrorKind> {
    let word = end.to_word();
    if word < n {
        return Ok(word as usize);
    }
    let index = match W::TY.is_signed() {
        true => i128::from(word as i64),
        false => i128::from(word),
    };
    Err(ErrorKind::OutOfRange { index, len: n })
}

impl<I: Int, J: Int> Array<(I, J)>
where
    (I, J): Elt,
{
    /// Labels the nodes `0..n` of a graph with their connected components.
    ///
    /// The elements of the array are edges, pairs of nodes in any order. The label of a node is the
    /// smallest node that a path of edges connects with it. A node without edges is its own label.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let edges = Array::from(vec![(1u32, 4u32), (5, 3), (4, 2)]);
    /// let labels = edges.components(6);
    /// assert_eq!(labels.force()?, [0, 1, 1, 3, 1, 3]);
    /// // A component has one node that is its own label.
    /// let number = labels.enumerate().map(|(node, label)| node.eq(label)).filter(|own| own).len();
    /// assert_eq!(number.force()?, 3);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* A union-find structure on the calling thread: about two reads at random
    /// places for each edge, and one pass over the nodes. It is external to loops. Producers of the
    /// edges run in the loop before it, and consumers of the labels in the loop after it. Ends of
    /// type `u32` take half the memory of others.
    ///
    /// *Source.* R. E. Rem's algorithm in E. W. Dijkstra, "A Discipline of Programming" (1976),
    /// chapter 23.
    ///
    /// # Errors
    /// When forced: if an end is not below `n`, or if there is not enough memory.
    #[doc(alias("connected_components", "union_find", "label"))]
    #[track_caller]
    pub fn components(&self, n: impl IntoLen) -> Array<u64> {
        let builder = Builder::named("components");
        Array::wrap(match extent(builder, n) {
            Ok(n) => builder.components(self.node(), &n),
            Err(kind) => builder.fault(&[Ty::U64], 1, kind),
        })
    }
}
