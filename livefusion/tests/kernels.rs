//! User-defined kernels in safe code cannot cause reads of freed memory.
#![forbid(unsafe_code)]

use livefusion::prelude::*;
use livefusion_backend::{Arg, Backend, Buffer, CompileError, Frame, Held, Kernel, Outcome, Pass};
use livefusion_interp::InterpBackend;
use loop_lang::Loop;
use loop_lang::state::Layout;
use std::sync::{Arc, Mutex};

/// A change of a frame, before and after each span.
type Deed = Arc<dyn Fn(&mut Frame<'_>) + Send + Sync>;

/// The interpreter, with a change applied to each frame.
struct Meddling {
    inner: InterpBackend,
    deed: Deed,
}

struct Meddler {
    inner: Arc<dyn Kernel>,
    deed: Deed,
}

impl Backend for Meddling {
    fn name(&self) -> &'static str {
        "meddling"
    }

    fn compile(&self, program: &Loop) -> Result<Arc<dyn Kernel>, CompileError> {
        Ok(Arc::new(Meddler {
            inner: self.inner.compile(program)?,
            deed: self.deed.clone(),
        }))
    }
}

impl Kernel for Meddler {
    fn layout(&self) -> &Layout {
        self.inner.layout()
    }

    fn chunk(&self) -> u64 {
        self.inner.chunk()
    }

    fn run(&self, pass: Pass, steps: u64, frame: &mut Frame<'_>, args: &[Arg<'_>]) -> Outcome {
        let outcome = self.inner.run(pass, steps, frame, args);
        (self.deed)(frame);
        outcome
    }
}

/// Forces a filter and a map on four threads, and drops the engine.
fn forced(deed: Deed) {
    let inner = InterpBackend::with_chunk(64);
    let backend = Arc::new(Meddling { inner, deed });
    let builder = Engine::builder().backend(backend);
    let engine = builder.threads(4).eager().build();
    let xs = Array::from((0..5000).map(f64::from).collect::<Vec<_>>());
    // The result may be an error or a wrong value, because the kernel is wrong.
    let _ = xs.map(|x| x + 1.0).force_with(&engine);
    let _ = xs.filter(|x| x.gt(9.0)).force_with(&engine);
}

/// A kernel owns each buffer that it takes from its frame. The buffer stays exclusive after the
/// engine is gone.
#[test]
fn kernel_owns_arrays_taken_from_its_frame() {
    type Taken = (Vec<u64>, Buffer);
    let kept: Arc<Mutex<Vec<Taken>>> = Arc::default();
    let keep = kept.clone();
    forced(Arc::new(move |frame| {
        for array in &mut frame.arrays {
            let other = array.as_ref().map(|a| Buffer::empty(a.ty()).into());
            let taken = std::mem::replace(array, other);
            if let Some(own) = taken.and_then(Held::into_own) {
                let words = (0..own.len()).map_while(|i| own.get_word(i)).collect();
                keep.lock().unwrap().push((words, own));
            }
        }
    }));
    // Allocate arrays that reuse freed memory.
    let others: Vec<_> = (0..64).map(|_| Array::from(vec![7.0; 5000])).collect();
    assert!(others.iter().all(|o| o.force().is_ok()));
    let kept = kept.lock().unwrap();
    assert!(!kept.is_empty());
    for (words, own) in &*kept {
        let now: Vec<u64> = (0..own.len()).map_while(|i| own.get_word(i)).collect();
        assert!(*words == now, "somebody else wrote into a taken buffer");
    }
}

/// A frame may be replaced, have its arrays permuted, or hold arbitrary words: no crash.
#[test]
fn a_kernel_may_do_to_its_frame_what_it_likes() {
    let deeds: [Deed; 6] = [
        Arc::new(|frame| *frame = Frame::default()),
        Arc::new(|frame| frame.arrays.reverse()),
        Arc::new(|frame| frame.arrays.clear()),
        Arc::new(|frame| frame.words.iter_mut().for_each(|w| *w ^= 1 << 40)),
        Arc::new(|frame| frame.words.clear()),
        Arc::new(|frame| {
            for array in frame.arrays.iter_mut().flatten() {
                for i in (0..array.len()).step_by(97) {
                    array.set_word(i, 1);
                }
                array.truncate(3);
            }
        }),
    ];
    for deed in deeds {
        forced(deed);
    }
}

/// A backend that breaks the promises that callers rely on, such as progress.
struct Idle(u8);

struct Idler(Arc<dyn Kernel>, u8);

impl Backend for Idle {
    fn name(&self) -> &'static str {
        "idle"
    }

    fn compile(&self, program: &Loop) -> Result<Arc<dyn Kernel>, CompileError> {
        let inner = InterpBackend::new().compile(program)?;
        Ok(Arc::new(Idler(inner, self.0)))
    }

    fn compile_all(&self, programs: &[&Loop]) -> Vec<Result<Arc<dyn Kernel>, CompileError>> {
        let kernels = programs.iter().map(|p| self.compile(p));
        kernels.skip(usize::from(self.0 == 2)).collect()
    }
}

impl Kernel for Idler {
    fn layout(&self) -> &Layout {
        self.0.layout()
    }

    fn chunk(&self) -> u64 {
        match self.1 {
            1 => 0,
            _ => self.0.chunk(),
        }
    }

    fn run(&self, pass: Pass, steps: u64, frame: &mut Frame<'_>, args: &[Arg<'_>]) -> Outcome {
        match self.1 {
            0 => Outcome::Paused,
            3 => {
                frame.words[1] = u64::MAX;
                Outcome::Paused
            }
            _ => self.0.run(pass, steps, frame, args),
        }
    }
}

#[test]
fn a_kernel_that_does_nothing_is_an_error() {
    for threads in [1, 4] {
        let on = |deed| {
            let builder = Engine::builder().backend(Arc::new(Idle(deed)));
            let engine = builder.threads(threads).eager().build();
            let xs = Array::from(vec![1.0; 100_000]);
            let ys = xs.map(|x| x + 1.0).force_with(&engine);
            ys.map(|ys| ys.len()).map_err(|e| e.to_string())
        };
        let said = |why: &str| Err(format!("`force`: {why}"));
        assert_eq!(on(0), said("a kernel paused without a step"));
        assert_eq!(on(1), Ok(100_000)); // A chunk has at least one step.
        assert!(on(3).is_err());
        assert_eq!(on(2), said("the backend gave 0 kernels for 1 loops"));
    }
}

#[test]
fn an_engine_has_at_most_1024_threads() {
    let engine = Engine::builder().threads(usize::MAX).build();
    assert_eq!(engine.threads(), 1024);
    assert_eq!(Engine::builder().threads(0).build().threads(), 1);
}
