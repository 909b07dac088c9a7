//! One case at one size: data, contenders and times.

use super::{Cell, Other, Row, SMALL, Started};
use crate::alone::{Runs, Watched};
use crate::backends::{self, Backend};
use crate::cases::{Case, Ours, Rust};
use crate::data::{Data, Input, Inputs};
use crate::kernels::{Kernels, Outcome, Outputs, Room, Variant, room, run_fresh};
use crate::measure::{Contender, Effort, Role, Timing, best_c, once, rounds};
use crate::memory;
use livefusion_backend::buffer::recycle;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

/// A prepared program on one backend.
struct Entrant {
    backend: &'static str,
    ours: Ours,
    /// The kernel runs of a call, if they are measured separately.
    alone: Option<Runs>,
    /// Whether its results agree with the reference.
    checked: bool,
    /// The growth of the process's memory in a call.
    peak: Option<u64>,
}

/// Holds a case with its data and the expected results.
pub struct Setting {
    case: &'static Case,
    n: usize,
    inputs: Inputs,
    input: Input,
    reference: Vec<Data>,
    room: Room,
    variants: Vec<Variant>,
    outputs: RefCell<Outputs>,
}

impl Setting {
    /// Generates the data and compiles the C kernels.
    pub fn new(
        case: &'static Case,
        n: usize,
        inputs: Inputs,
        kernels: &mut Kernels,
    ) -> Outcome<Setting> {
        let mut input = (case.input)(n);
        if inputs != Inputs::Aligned {
            input = input.iter().map(|column| column.moved_to(inputs)).collect();
        }
        let reference = (case.reference)(&input);
        let room = room(n, &reference);
        Ok(Setting {
            case,
            n,
            inputs,
            input,
            reference,
            variants: kernels.variants(case.file, case.name)?,
            outputs: RefCell::new(Outputs::new(&room)?),
            room,
        })
    }

    /// Checks all contenders and measures them against each other.
    ///
    /// Faults become notes.
    pub fn measure(
        &self,
        engines: &[Started],
        threads: usize,
        effort: Effort,
        notes: &mut Vec<String>,
    ) -> Cell {
        let mut faults = |who: &str, got: Vec<Data>| {
            let fault = self.case.agreement.fault(&got, &self.reference);
            let fault = fault.map(|f| format!("{}, n = {}: {who}: {f}", self.case.name, self.n));
            let is_right = fault.is_none();
            notes.extend(fault);
            is_right
        };
        let variants = self.right_variants(threads, &mut faults);
        let rust = self.rust(threads, &mut faults);
        let ours = self.ours(engines, threads, effort, &mut faults);
        let mut contenders: Vec<Contender<'_>> = variants
            .iter()
            .map(|v| self.c(v, threads, Role::C))
            .collect();
        let best = contenders
            .iter_mut()
            .map(|c| once(c).as_nanos())
            .collect::<Vec<_>>();
        let best = best
            .iter()
            .enumerate()
            .min_by_key(|(_, t)| **t)
            .map(|(k, _)| k);
        let best = best.and_then(|k| variants.get(k));
        contenders.extend(best.map(|best| self.c(best, threads, Role::Again)));
        contenders.extend(rust);
        contenders.extend(ours.iter().map(|entrant| Contender {
            name: format!("livefusion, {}", entrant.backend),
            role: Role::Ours(entrant.backend),
            parallel: threads > 1,
            run: Box::new(|| drop((entrant.ours.run)())),
        }));
        contenders.extend(ours.iter().filter_map(|entrant| {
            Some(Contender {
                name: format!("livefusion, {}, kernel alone", entrant.backend),
                role: Role::Alone(entrant.backend),
                parallel: false,
                run: Box::new(entrant.alone.as_ref()?.again()?),
            })
        }));
        let mut timings = rounds(&mut contenders, effort);
        // These give the memory back that other calls would use again.
        let mut fresh: Vec<Contender<'_>> = ours
            .iter()
            .map(|entrant| Contender {
                name: format!("livefusion, {}, fresh", entrant.backend),
                role: Role::Kept(entrant.backend),
                parallel: threads > 1,
                run: Box::new(|| {
                    drop((entrant.ours.run)());
                    recycle::clear();
                }),
            })
            .collect();
        fresh.extend(best.map(|best| self.c(best, threads, Role::Fresh)));
        timings.extend(rounds(&mut fresh, effort));
        self.cell(threads, &timings, &ours)
    }

    /// The variants with right results that are allowed for a number of threads.
    fn right_variants(
        &self,
        threads: usize,
        is_right: &mut dyn FnMut(&str, Vec<Data>) -> bool,
    ) -> Vec<&Variant> {
        let allowed = self.variants.iter().filter(|v| threads > 1 || !v.parallel);
        let right = allowed.filter(|v| {
            let mut outputs = self.outputs.borrow_mut();
            outputs.run(v, &self.input, self.n, threads);
            is_right(&format!("C, {}", v.name), outputs.data())
        });
        right.collect()
    }

    fn c<'a>(&'a self, variant: &'a Variant, threads: usize, role: Role) -> Contender<'a> {
        let input = &self.input;
        let run: Box<dyn FnMut() + 'a> = match role {
            Role::Fresh => Box::new(move || run_fresh(variant, input, &self.room, self.n, threads)),
            _ => Box::new(move || {
                self.outputs
                    .borrow_mut()
                    .run(variant, input, self.n, threads)
            }),
        };
        let fresh = if role == Role::Fresh { ", fresh" } else { "" };
        Contender {
            name: format!("C, {}{fresh}", variant.name),
            role,
            parallel: variant.parallel,
            run,
        }
    }

    fn rust(
        &self,
        threads: usize,
        is_right: &mut dyn FnMut(&str, Vec<Data>) -> bool,
    ) -> Vec<Contender<'_>> {
        let allowed = self.case.rust.iter().filter(|r| threads > 1 || !r.parallel);
        let right = allowed.filter(|r| is_right(r.name, (r.run)(&self.input)));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.ok().map(Rc::new);
        let contender = |r: &'static Rust| {
            let input = &self.input;
            let run: Box<dyn FnMut() + '_> = match pool.clone().filter(|_| r.parallel) {
                Some(pool) => Box::new(move || drop(pool.install(|| (r.run)(input)))),
                None => Box::new(|| drop((r.run)(input))),
            };
            Contender {
                name: r.name.to_string(),
                role: Role::Rust,
                parallel: r.parallel,
                run,
            }
        };
        right.map(contender).collect()
    }

    /// The prepared programs.
    fn ours(
        &self,
        engines: &[Started],
        threads: usize,
        effort: Effort,
        is_right: &mut dyn FnMut(&str, Vec<Data>) -> bool,
    ) -> Vec<Entrant> {
        let mut all = Vec::new();
        let fits = |e: &&Started| e.threads == threads && self.n <= e.backend.largest;
        for started in engines.iter().filter(fits) {
            let name = started.backend.name;
            let made = (self.case.ours)(&started.engine, &self.input);
            let results = made.and_then(|ours| Ok(((ours.results)()?, ours)));
            match results {
                Ok((columns, ours)) => {
                    let checked = is_right(name, columns);
                    if started.backend.settles() {
                        settle(&ours, effort);
                    }
                    all.push(Entrant {
                        backend: name,
                        alone: self.alone(started.backend, threads),
                        checked,
                        peak: memory::peak(|| drop((ours.run)())),
                        ours,
                    });
                }
                Err(e) => {
                    is_right(&format!("{name}: {e}"), Vec::new());
                }
            }
        }
        all
    }

    /// The kernel runs of a call, for small sizes where the rest of the call matters.
    fn alone(&self, backend: &Backend, threads: usize) -> Option<Runs> {
        let make = backend.make.filter(|_| threads == 1 && self.n <= SMALL)?;
        let watched = Arc::new(Watched::new(make(), self.inputs));
        let engine = backends::on(watched.clone(), threads);
        let ours = (self.case.ours)(&engine, &self.input).ok()?;
        // The runs of the preparation do not count.
        drop(watched.runs());
        (ours.run)().ok()?;
        Some(watched.runs())
    }

    fn cell(&self, threads: usize, timings: &[Timing], ours: &[Entrant]) -> Cell {
        let per_element = |t: &Timing| t.median() / self.n as f64;
        let best = best_c(timings);
        let best_c_ns_per_element = best.map_or(f64::NAN, per_element);
        let result_bytes: u64 = self.reference.iter().map(Data::bytes).sum();
        let bytes = result_bytes + self.input.iter().map(Data::bytes).sum::<u64>();
        let entrant = |backend| ours.iter().find(|e| e.backend == backend);
        let own = |role| timings.iter().find(|t| t.role == role).map(per_element);
        let again = timings.iter().find(|t| t.role == Role::Again);
        let mut cell = Cell {
            case: self.case.name,
            n: self.n,
            threads,
            rows: Vec::new(),
            others: Vec::new(),
            best_c: best.map_or("none", |t| &t.name).to_string(),
            noise: again.map_or(f64::NAN, |again| noise(again, timings)),
        };
        for t in timings {
            match t.role {
                Role::Ours(backend) => cell.rows.push(Row {
                    case: self.case.name,
                    backend,
                    n: self.n,
                    threads,
                    ns_per_element: per_element(t),
                    kernel_ns_per_element: own(Role::Alone(backend)),
                    fresh_ns_per_element: own(Role::Kept(backend)),
                    best_c_ns_per_element,
                    bytes_per_s: bytes as f64 / (t.median() * 1e-9),
                    peak_bytes: entrant(backend).and_then(|e| e.peak),
                    result_bytes,
                    rounds: t.samples.len(),
                    checked: entrant(backend).is_some_and(|e| e.checked),
                }),
                Role::C | Role::Fresh | Role::Rust => cell.others.push(Other {
                    name: t.name.clone(),
                    fresh: t.role == Role::Fresh,
                    rust: t.role == Role::Rust,
                    ns_per_element: per_element(t),
                    rounds: t.samples.len(),
                }),
                Role::Alone(_) | Role::Kept(_) | Role::Again => {}
            }
        }
        cell
    }
}

/// Runs a program for a while, so that background compilation finishes.
fn settle(ours: &Ours, effort: Effort) {
    let start = Instant::now();
    while start.elapsed() < effort.budget / 3 {
        drop((ours.run)());
    }
}

/// The distance between the medians of the kernel that was measured twice.
fn noise(again: &Timing, timings: &[Timing]) -> f64 {
    let same = timings
        .iter()
        .find(|t| t.role == Role::C && t.name == again.name);
    same.map_or(f64::NAN, |t| (again.median() / t.median() - 1.0).abs())
}
