//! Tests that nothing in a drawing overlaps.

use super::*;
use proptest::prelude::*;

/// A graph from arbitrary numbers. Boxed nodes are in order of their boxes; edges go forward.
fn graph(boxes: usize, nodes: &[(usize, u16)], edges: &[(usize, usize, u8)]) -> LayoutGraph {
    let mut order: Vec<(usize, f64)> = nodes
        .iter()
        .map(|(b, w)| (b % (2 * boxes + 1), 40.0 + f64::from(*w)))
        .collect();
    order.sort_by_key(|(b, _)| *b);
    let n = order.len();
    let boxed: Vec<Option<usize>> = order
        .iter()
        .map(|(b, _)| (b % 2 == 1).then_some(b / 2))
        .collect();
    let forward = edges.iter().map(|(a, b, s)| (a % n, b % n, s % 4));
    let forward = forward.map(|(a, b, s)| (a.min(b), a.max(b), s));
    let mut edges: Vec<(usize, usize, u8)> = forward.filter(|(a, b, _)| a != b).collect();
    edges.sort_unstable();
    edges.dedup_by_key(|(a, b, _)| (*a, *b));
    LayoutGraph {
        widths: order.iter().map(|(_, w)| *w).collect(),
        boxed,
        boxes: vec![150.0; boxes],
        edges,
    }
}

fn laid_out(graph: &LayoutGraph) -> Drawing {
    layout(graph).expect("it is small")
}

fn meet(a: &Rect, b: &Rect) -> bool {
    let gap = 1.0;
    a.x < b.x + b.w + gap && b.x < a.x + a.w + gap && a.y < b.y + b.h + gap && b.y < a.y + a.h + gap
}

fn holds(outer: &Rect, inner: &Rect) -> bool {
    outer.x <= inner.x
        && outer.y <= inner.y
        && inner.x + inner.w <= outer.x + outer.w
        && inner.y + inner.h <= outer.y + outer.h
}

/// Points of a curve as it is drawn.
fn points(c: &Curve) -> Vec<(f64, f64)> {
    let middle = (c.from.1 + c.to.1) / 2.0;
    let at = |t: f64| {
        let u = 1.0 - t;
        let (a, b, d, e) = (u * u * u, 3.0 * u * u * t, 3.0 * u * t * t, t * t * t);
        let x = (a + b) * c.from.0 + (d + e) * c.to.0;
        (x, a * c.from.1 + (b + d) * middle + e * c.to.1)
    };
    (1..20).map(|k| at(f64::from(k) / 20.0)).collect()
}

fn inside(r: &Rect, (x, y): (f64, f64)) -> bool {
    r.x < x && x < r.x + r.w && r.y < y && y < r.y + r.h
}

fn check(graph: &LayoutGraph) -> std::result::Result<(), TestCaseError> {
    let drawing = laid_out(graph);
    let whole = Rect {
        w: drawing.width,
        h: drawing.height,
        ..Rect::default()
    };
    prop_assert_eq!(drawing.nodes.len(), graph.widths.len());
    for (i, a) in drawing.nodes.iter().enumerate() {
        prop_assert!(holds(&whole, a), "node {} is not in the picture", i);
        for (j, b) in drawing.nodes.iter().enumerate().skip(i + 1) {
            prop_assert!(
                !meet(a, b),
                "nodes {} and {} overlap: {:?} {:?}",
                i,
                j,
                a,
                b
            );
        }
        for (k, b) in drawing.boxes.iter().enumerate() {
            let Some(b) = b else { continue };
            if graph.boxed[i] == Some(k) {
                prop_assert!(holds(b, a), "node {} is not in box {}", i, k);
            } else {
                prop_assert!(!meet(a, b), "node {} meets box {}", i, k);
            }
        }
    }
    let boxes: Vec<&Rect> = drawing.boxes.iter().flatten().collect();
    for (i, a) in boxes.iter().enumerate() {
        prop_assert!(holds(&whole, a), "box {} is not in the picture", i);
        prop_assert!(
            !boxes[i + 1..].iter().any(|b| meet(a, b)),
            "box {} overlaps",
            i
        );
    }
    for c in &drawing.curves {
        for p in points(c) {
            prop_assert!(inside(&whole, p), "{:?} leaves the picture", c);
            let node = drawing.nodes.iter().position(|r| inside(r, p));
            prop_assert!(node.is_none(), "{:?} crosses node {:?}", c, node);
        }
    }
    // Every edge ends once, at its node.
    let mut ends: Vec<usize> = drawing.curves.iter().filter_map(|c| c.ends).collect();
    ends.sort_unstable();
    prop_assert_eq!(ends, (0..graph.edges.len()).collect::<Vec<_>>());
    for c in &drawing.curves {
        if let Some(e) = c.ends {
            let r = &drawing.nodes[graph.edges[e].1];
            prop_assert!(c.to.1 == r.y && r.x < c.to.0 && c.to.0 < r.x + r.w);
        }
    }
    Ok(())
}

/// Removes edges from a box to a node without a box whose users are above. Pictures have no such
/// edges.
fn without_upward(mut g: LayoutGraph) -> LayoutGraph {
    let mut first = vec![usize::MAX; g.widths.len()];
    for n in (0..first.len()).rev() {
        let users = g
            .edges
            .iter()
            .filter(|(a, ..)| *a == n)
            .map(|(_, b, _)| first[*b]);
        first[n] = g.boxed[n].map_or(users.min().map_or(usize::MAX, |u| u & !1), |b| 2 * b + 1);
    }
    let boxed = &g.boxed;
    g.edges
        .retain(|(a, b, _)| first[*a] <= first[*b] || boxed[*a].is_none());
    g
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn nothing_overlaps(
        boxes in 0usize..6,
        nodes in prop::collection::vec((any::<usize>(), 0u16..160), 1..40),
        edges in prop::collection::vec((any::<usize>(), any::<usize>(), any::<u8>()), 0..90),
    ) {
        check(&without_upward(graph(boxes, &nodes, &edges)))?;
    }
}

#[test]
fn nothing_at_all() {
    let drawing = laid_out(&LayoutGraph::default());
    assert!(drawing.nodes.is_empty() && drawing.width.is_finite());
}

#[test]
fn cycles_do_no_harm() {
    let graph = LayoutGraph {
        widths: vec![50.0; 3],
        boxed: vec![Some(0), None, Some(7)],
        boxes: vec![60.0],
        edges: vec![(0, 1, 0), (1, 0, 0), (1, 2, 0), (2, 1, 9), (2, 2, 0)],
    };
    assert_eq!(laid_out(&graph).nodes.len(), 3);
}

#[test]
fn a_line_past_a_box_goes_beside_it() {
    let graph = LayoutGraph {
        widths: vec![60.0, 300.0, 60.0],
        boxed: vec![Some(0), Some(1), Some(2)],
        boxes: vec![60.0; 3],
        edges: vec![(0, 2, 3)],
    };
    let drawing = laid_out(&graph);
    let middle = drawing.boxes[1].unwrap_or_default();
    let inside = |c: &Curve| points(c).into_iter().any(|p| inside(&middle, p));
    assert!(!drawing.curves.iter().any(inside));
    assert!(
        drawing
            .curves
            .iter()
            .any(|c| c.from.1 <= middle.y && c.to.1 >= middle.y + middle.h)
    );
}

#[test]
fn layout_refuses_unreadable_pictures() {
    let n = 2000;
    let chain = (1..n).map(|k| (k - 1, k, 0));
    let mut graph = LayoutGraph {
        widths: vec![60.0; n],
        boxed: vec![Some(0); n],
        boxes: vec![60.0],
        edges: chain.collect(),
    };
    assert!(layout(&graph).is_some());
    graph.edges.extend((0..n - 2).map(|k| (k, n - 1, 1)));
    assert!(layout(&graph).is_none());
}
