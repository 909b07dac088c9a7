//! Arrays of rank 2 and more, against plain loops.

#[path = "ranked/axes.rs"]
mod axes;
#[path = "ranked/broadcasts.rs"]
mod broadcasts;
#[path = "ranked/core.rs"]
mod core;
#[path = "ranked/edges.rs"]
mod edges;
#[path = "ranked/folds.rs"]
mod folds;
#[path = "ranked/loops.rs"]
mod loops;
#[path = "ranked/parts.rs"]
mod parts;
#[path = "ranked/planes.rs"]
mod planes;
#[path = "ranked/random.rs"]
mod random;
#[path = "ranked/reordered_joins.rs"]
mod reordered_joins;
#[path = "ranked/rewrites.rs"]
mod rewrites;
#[path = "ranked/rows.rs"]
mod rows;
#[path = "ranked/scans.rs"]
mod scans;
#[path = "ranked/short_rows.rs"]
mod short_rows;
#[path = "ranked/stencils.rs"]
mod stencils;
#[path = "ranked/transposed_scans.rs"]
mod transposed_scans;
