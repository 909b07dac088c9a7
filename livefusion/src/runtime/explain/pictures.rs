//! Drawings of the graph with its loops as boxes.

use super::text::{count, short};
use super::{Call, Explanation, Flow, Place};
use crate::picture::{self, Line, LineStyle, NodeStyle, Picture, PictureNode};

impl Explanation {
    /// Returns the graph for graphviz.
    ///
    /// Calls are nodes, and loops are clusters. Flows through memory between loops are bold and
    /// labelled with the reason.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![3.0f64, 1.0, 2.0]);
    /// let dot = xs.map(|x| x + 1.0).sum().explain_with(&Engine::interp())?.dot();
    /// assert!(dot.starts_with("digraph livefusion {") && dot.contains("subgraph cluster_0"));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn dot(&self) -> String {
        picture::dot(&self.picture())
    }

    /// Returns the graph as an SVG picture, drawn without other programs.
    ///
    /// Loops are boxes, in the order in which they run. A graph of thousands of calls gives their
    /// number only.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![3.0f64, 1.0, 2.0]);
    /// let svg = xs.map(|x| x + 1.0).sum().explain_with(&Engine::interp())?.svg();
    /// assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn svg(&self) -> String {
        picture::svg(&self.picture())
    }

    fn picture(&self) -> Picture {
        let loops = self.loops.iter().enumerate().map(|(at, l)| {
            vec![
                format!("loop {at}"),
                format!("reads {}", l.traffic.reads),
                format!("writes {}", l.traffic.writes),
            ]
        });
        Picture {
            title: format!(
                "{} on {}; reads {}, writes {} (unfused {} and {})",
                count(self.loops.len(), "loop"),
                self.backend,
                self.traffic.reads,
                self.traffic.writes,
                self.unfused.reads,
                self.unfused.writes
            ),
            boxes: loops.collect(),
            nodes: self.calls.iter().map(node).collect(),
            lines: self.flows.iter().map(|flow| self.line(flow)).collect(),
        }
    }

    fn line(&self, flow: &Flow) -> Line {
        let (from, to) = (&self.calls[flow.from], &self.calls[flow.to]);
        let made = |l: usize| from.loops().any(|made| made == l);
        let style = match (from.place, to.place) {
            (Place::Input, _) => LineStyle::Input,
            (Place::Free, _) => LineStyle::Free,
            (a, b) if a == b => LineStyle::Fused,
            // A box in another loop stands for the rematerialised call.
            (_, Place::Loop(_)) if to.loops().all(made) => LineStyle::Free,
            _ => LineStyle::Memory,
        };
        Line {
            from: flow.from,
            to: flow.to,
            style,
            label: flow.reason.clone(),
        }
    }
}

fn node(call: &Call) -> PictureNode {
    let at = short(call.loc);
    let (name, detail) = match call.place {
        Place::Input => (call.shape.clone(), format!("{} at {at}", call.name)),
        _ => (call.name.to_string(), at),
    };
    let (boxed, style) = match call.place {
        Place::Input => (None, NodeStyle::Input),
        Place::Free => (None, NodeStyle::Free),
        Place::Loop(l) => (Some(l), NodeStyle::Computed),
    };
    PictureNode {
        name,
        detail,
        boxed,
        style,
        is_result: call.is_result,
    }
}
