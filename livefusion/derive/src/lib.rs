//! derive(Elt).
