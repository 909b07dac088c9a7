//! The driver of NVIDIA's devices, on a device, if `LIVEFUSION_CUDA` is 1.
//!
//! Otherwise the tests are skipped, except one: it runs all others on a library that simulates a
//! device (`played/cuda.cpp`).

#[cfg(unix)]
mod played;

use livefusion_cuda::driver::cubin::Cubin;
use livefusion_cuda::driver::cuda::Cuda;
use livefusion_cuda::driver::nvrtc::Nvrtc;
use livefusion_cuda::driver::pool::{Memory, Pool};
use livefusion_cuda::driver::{Address, Driver, Fault, Function};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

const KERNELS: &str = r#"
typedef unsigned int u32;
typedef unsigned long long u64;
extern "C" __global__ void twice(u32 *a, u64 n) {
  for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < n; i += gridDim.x * u64(blockDim.x)) a[i] *= 2;
}
extern "C" __global__ void slowly(u32 *a, u32 x) {
  for (int i = 0; i < 20000; i++) __nanosleep(1000);
  *a = x;
}
extern "C" __global__ void tell(u64 *words, u64 x) {
  if (threadIdx.x == 0) words[blockIdx.x] += x + blockIdx.x;
}
"#;

/// Returns a device, if requested and present.
fn device() -> Option<Arc<Cuda>> {
    if std::env::var_os("LIVEFUSION_CUDA").is_none_or(|v| v != "1") {
        eprintln!("SKIPPED: LIVEFUSION_CUDA is not 1");
        return None;
    }
    match Cuda::open(0) {
        Ok(cuda) => Some(Arc::new(cuda)),
        Err(Fault::Missing(why)) => {
            eprintln!("SKIPPED: {why}");
            None
        }
        Err(other) => panic!("{other}"),
    }
}

fn cubin(architecture: &str) -> Cubin {
    let nvrtc = Nvrtc::find().expect("whoever has a device has NVRTC");
    nvrtc
        .compile(KERNELS, architecture)
        .unwrap()
        .cubin()
        .unwrap()
}

fn kernel(cuda: &Cuda, name: &str) -> Function {
    cuda.load(&cubin(&cuda.device().architecture()), name)
        .unwrap()
}

/// Starts a kernel with an address and a number.
fn start(cuda: &Cuda, function: &Function, grid: [u32; 2], at: Address, number: &[u8]) {
    let at = at.0.to_ne_bytes();
    // SAFETY: all kernels here take these two parameters, and stay within the memory of the tests.
    unsafe { cuda.launch(function, grid[0], grid[1], &[&at, number]) }.unwrap();
}

fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_ne_bytes()).collect()
}

fn words_in(memory: &Memory) -> Vec<u32> {
    let mut bytes = vec![0; memory.len()];
    memory.read(0, &mut bytes).unwrap();
    bytes
        .chunks_exact(4)
        .map(|c| u32::from_ne_bytes(c.try_into().unwrap()))
        .collect()
}

#[test]
fn it_says_what_it_is() {
    let Some(cuda) = device() else { return };
    let device = cuda.device();
    println!("{device:?}");
    assert!(device.capability >= (7, 0) && device.multiprocessors > 0 && device.memory > 1 << 30);
    assert!(!device.name.is_empty() && device.architecture().starts_with("sm_"));
    assert!(
        device
            .bandwidth
            .is_none_or(|b| (1 << 36..1 << 44).contains(&b))
    );
    assert!(matches!(Cuda::open(1000), Err(Fault::Missing(why)) if why.contains("no device 1000")));
}

#[test]
fn bytes_of_all_lengths_go_and_come() {
    let Some(cuda) = device() else { return };
    let pool = Pool::new(cuda);
    let mega = 1 << 20;
    let mut memory = pool.take(40 * mega).unwrap();
    for (i, bytes) in [
        0,
        1,
        63,
        1000,
        4 * mega - 1,
        4 * mega,
        4 * mega + 1,
        37 * mega + 5,
    ]
    .into_iter()
    .enumerate()
    {
        let from: Vec<u8> = (0..bytes)
            .map(|k| (k * 31 + k / 251 + k / 65_521 + i) as u8)
            .collect();
        memory.write(i, &from).unwrap();
        let mut to = vec![0; bytes];
        memory.read(i, &mut to).unwrap();
        assert!(from == to, "{bytes} bytes");
    }
}

#[test]
fn many_small_copies_are_in_order() {
    let Some(cuda) = device() else { return };
    let pool = Pool::new(cuda.clone());
    let twice = kernel(&cuda, "twice");
    let mut memory = pool.take(4 << 10).unwrap();
    for round in 0..20u32 {
        for k in 0..1024u32 {
            memory
                .write(4 * k as usize, &(k + round).to_ne_bytes())
                .unwrap();
        }
        start(
            &cuda,
            &twice,
            [4, 128],
            memory.address(),
            &1024u64.to_ne_bytes(),
        );
        assert!(
            (0..1024).map(|k| 2 * (k + round)).eq(words_in(&memory)),
            "round {round}"
        );
    }
}

#[test]
fn kernels_run_and_tell_what_they_need() {
    let Some(cuda) = device() else { return };
    let pool = Pool::new(cuda.clone());
    let twice = kernel(&cuda, "twice");
    assert!(
        (4..=255).contains(&twice.needs.registers) && twice.needs.threads >= 128,
        "{twice:?}"
    );
    assert_eq!((twice.needs.local, twice.needs.shared), (0, 0));
    assert!((1..=64).contains(&cuda.blocks_at_once(&twice, 128).unwrap()));
    let n = 1_000_003u32;
    let mut memory = pool.take(4 * n as usize).unwrap();
    memory
        .write(0, &bytes_of(&(0..n).collect::<Vec<_>>()))
        .unwrap();
    start(
        &cuda,
        &twice,
        [100, 128],
        memory.address(),
        &u64::from(n).to_ne_bytes(),
    );
    // The kernel is unloaded after it has run.
    drop(twice);
    assert!((0..n).map(|k| 2 * k).eq(words_in(&memory)));
}

#[test]
fn memory_that_is_dropped_is_used_again_behind_what_is_queued() {
    let Some(cuda) = device() else { return };
    let pool = Pool::new(cuda.clone());
    let slowly = kernel(&cuda, "slowly");
    let first = pool.take(4).unwrap();
    let at = first.address();
    start(&cuda, &slowly, [1, 1], at, &7u32.to_ne_bytes());
    drop(first);
    let mut second = pool.take(4).unwrap();
    assert_eq!(second.address(), at);
    second.fill(0, 4, 1).unwrap();
    let mut third = pool.take(4).unwrap();
    third.copy_from(&second, 4).unwrap();
    second.write(0, &5u32.to_ne_bytes()).unwrap();
    assert_eq!(
        (words_in(&third), words_in(&second)),
        (vec![0x0101_0101], vec![5])
    );
    // Memory returned to the device during a kernel's run is freed after it.
    start(&cuda, &slowly, [1, 1], at, &7u32.to_ne_bytes());
    pool.set_limit(0);
    drop(second);
    cuda.wait().unwrap();
}

#[test]
fn absurd_sizes_are_faults_and_nothing_is_lost() {
    let Some(cuda) = device() else { return };
    let pool = Pool::new(cuda.clone());
    drop(pool.take(1 << 20).unwrap());
    for bytes in [1 << 60, 2 * cuda.device().memory as usize] {
        assert_eq!(pool.take(bytes).unwrap_err(), Fault::OutOfMemory { bytes });
        assert_eq!(pool.kept(), 0);
    }
    let mut memory = pool.take(16).unwrap();
    memory.fill(0, 16, 9).unwrap();
    assert_eq!(words_in(&memory), [0x0909_0909; 4]);
}

#[test]
fn kernels_write_words_of_the_host() {
    let Some(cuda) = device() else { return };
    let tell = kernel(&cuda, "tell");
    let words = cuda.words(8).unwrap();
    let read = || {
        words
            .iter()
            .map(|w| w.load(Ordering::Relaxed))
            .collect::<Vec<_>>()
    };
    assert_eq!(read(), [0; 8]);
    words[1].store(1000, Ordering::Relaxed);
    start(&cuda, &tell, [4, 32], words.address(), &10u64.to_ne_bytes());
    cuda.wait().unwrap();
    assert_eq!(read(), [10, 1011, 12, 13, 0, 0, 0, 0]);
    // Dropped words are freed after all queued work.
    start(&cuda, &tell, [8, 32], words.address(), &0u64.to_ne_bytes());
    drop(words);
    assert!(matches!(
        cuda.words(usize::MAX),
        Err(Fault::OutOfMemory { .. })
    ));
}

#[test]
fn marks_tell_the_time() {
    let Some(cuda) = device() else { return };
    let pool = Pool::new(cuda.clone());
    let slowly = kernel(&cuda, "slowly");
    let memory = pool.take(4).unwrap();
    let before = cuda.mark().unwrap();
    start(
        &cuda,
        &slowly,
        [1, 1],
        memory.address(),
        &1u32.to_ne_bytes(),
    );
    let behind = cuda.mark().unwrap();
    let took = cuda.elapsed(&before, &behind).unwrap();
    println!("20000 naps of 1 µs took {took:?}");
    assert!(
        (Duration::from_millis(1)..Duration::from_secs(10)).contains(&took),
        "{took:?}"
    );
}

#[test]
fn threads_share_a_device() {
    let Some(cuda) = device() else { return };
    let pool = Pool::new(cuda.clone());
    let twice = kernel(&cuda, "twice");
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            let (cuda, pool, twice) = (&cuda, &pool, &twice);
            scope.spawn(move || {
                for round in 0..50u32 {
                    let words: Vec<u32> = (0..10_000 + 1000 * thread)
                        .map(|k| k ^ round ^ thread)
                        .collect();
                    let mut memory = pool.take(4 * words.len()).unwrap();
                    memory.write(0, &bytes_of(&words)).unwrap();
                    let n = (words.len() as u64).to_ne_bytes();
                    start(cuda, twice, [8, 128], memory.address(), &n);
                    assert!(
                        words.iter().map(|w| 2 * w).eq(words_in(&memory)),
                        "{thread}, {round}"
                    );
                }
            });
        }
    });
    assert_eq!(pool.used(), 0);
}

#[test]
fn device_module_that_cannot_be_loaded_is_a_fault() {
    let Some(cuda) = device() else { return };
    let here = cubin(&cuda.device().architecture());
    let name = |fault: Fault| match fault {
        Fault::Device { name, .. } => name,
        other => panic!("{other}"),
    };
    assert_eq!(
        name(cuda.load(&here, "none").unwrap_err()),
        "CUDA_ERROR_NOT_FOUND"
    );
    assert!(matches!(
        cuda.load(&here, "no\0name"),
        Err(Fault::Refused(_))
    ));
    let other = if cuda.device().capability.0 == 8 {
        "sm_90"
    } else {
        "sm_80"
    };
    assert_eq!(
        name(cuda.load(&cubin(other), "twice").unwrap_err()),
        "CUDA_ERROR_NO_BINARY_FOR_GPU"
    );
    let twice = kernel(&cuda, "twice");
    // SAFETY: no block with that many threads is started.
    let launched = unsafe { cuda.launch(&twice, 1, 5000, &[&[0; 8], &[0; 8]]) };
    assert_eq!(
        launched.map_err(name),
        Err("CUDA_ERROR_INVALID_VALUE".into())
    );
}

/// The variable that makes a child of this test's process.
const CHILD: &str = "LIVEFUSION_TEST_LOST";

/// Writes to unallocated memory, in the process that [`a_lost_device_is_a_fault`] starts.
#[test]
fn child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let cuda = device().expect("it is asked for where there is one");
    let pool = Pool::new(cuda.clone());
    let mut memory = pool.take(1 << 20).unwrap();
    let words = cuda.words(1).unwrap();
    memory.write(0, &[1; 1000]).unwrap();
    let twice = kernel(&cuda, "twice");
    start(&cuda, &twice, [1, 1], Address(0), &1u64.to_ne_bytes());
    let lost = |done: Result<(), Fault>| match done {
        Err(Fault::Device { name, .. }) => assert_eq!(name, "CUDA_ERROR_ILLEGAL_ADDRESS"),
        other => panic!("{other:?}"),
    };
    lost(cuda.wait());
    lost(memory.write(0, &[1]));
    lost(memory.read(0, &mut [1]));
    lost(pool.take(1 << 24).map(drop));
    lost(cuda.mark().map(drop));
    drop((memory, words, twice, pool, cuda));
    println!("ALL WELL");
}

#[test]
fn a_lost_device_is_a_fault() {
    if device().is_none() {
        return;
    }
    let child = Command::new(std::env::current_exe().expect("a path"))
        .args(["--exact", "child", "--nocapture"])
        .env(CHILD, "1")
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&child.stdout);
    let erred = String::from_utf8_lossy(&child.stderr);
    assert!(
        child.status.success() && said.contains("ALL WELL"),
        "{said}{erred}"
    );
}
