//! Loops as work of a device's threads: which iterations each has, and what they must tell each other.
//!
//! | module | room for |
//! | --- | --- |
//! | [`phases`] | roots that follow each other, each as a loop of its own |
//! | [`shape`] | which loops can run in parallel on a device, and why others cannot |
//! | [`plan`] | how iterations become work of threads, and why |
//! | [`path`] | segments whose elements are shared among threads |
//! | `team` | rows that a team of threads has |
//! | [`demand`] | what values hang on: groups, and inner rates that must have run for them |
//! | [`handed`] | arrays by which an iteration hands on to itself |

pub mod demand;
pub mod handed;
pub mod path;
pub mod phases;
pub mod plan;
pub mod shape;
mod team;
