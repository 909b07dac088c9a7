//! Device memory: recycling, freeing, and exhaustion.

use livefusion_cuda::driver::cubin::Cubin;
use livefusion_cuda::driver::pool::Pool;
use livefusion_cuda::driver::{Driver, Fault};
use livefusion_cuda_shim::memory::POISON;
use livefusion_cuda_shim::{Call, Stub, error};
use std::sync::Arc;

const KB: usize = 1 << 10;

fn pool(stub: &Arc<Stub>) -> Arc<Pool> {
    Pool::new(stub.clone())
}

/// Creates a device with this many kilobytes.
fn small(kilobytes: usize) -> Arc<Stub> {
    Stub::with((kilobytes * KB) as u64, |_, _, _, _| Ok(()))
}

#[test]
fn pool_reuses_dropped_memory() {
    let stub = Stub::new();
    let pool = pool(&stub);
    let first = pool.take(10 * KB).unwrap();
    let at = first.address();
    assert_eq!(
        (pool.used(), pool.kept(), first.len()),
        (10 * KB, 0, 10 * KB)
    );
    drop(first);
    assert_eq!((pool.used(), pool.kept()), (0, 10 * KB));
    // A block may exceed the request by a quarter.
    let second = pool.take(8 * KB).unwrap();
    assert_eq!((second.address(), second.len()), (at, 8 * KB));
    assert_eq!((pool.used(), pool.kept()), (10 * KB, 0));
    drop(second);
    for other in [7 * KB, 10 * KB + 1] {
        assert_ne!(pool.take(other).unwrap().address(), at, "{other}");
        pool.clear();
        drop(pool.take(10 * KB).unwrap());
    }
}

#[test]
fn the_shortest_that_is_long_enough_and_of_those_the_last() {
    let stub = Stub::new();
    let pool = pool(&stub);
    let sizes = [20 * KB, 16 * KB, 18 * KB, 16 * KB];
    let blocks = sizes.map(|s| pool.take(s).unwrap());
    let at = blocks.each_ref().map(|b| b.address());
    drop(blocks);
    let again = [16 * KB, 16 * KB, 16 * KB, 16 * KB].map(|s| pool.take(s).unwrap());
    assert_eq!(
        again.each_ref().map(|b| b.address()),
        [at[3], at[1], at[2], at[0]]
    );
    assert_eq!(stub.calls(Call::Allocate), 4);
}

#[test]
fn no_more_is_kept_than_the_limit_and_the_oldest_goes_first() {
    let stub = Stub::new();
    let pool = pool(&stub);
    assert_eq!(pool.limit(), 1 << 29);
    pool.set_limit(10 * KB);
    let [a, b, c] = [4 * KB, 4 * KB, 4 * KB].map(|s| pool.take(s).unwrap());
    let (second, third) = (b.address(), c.address());
    drop(a);
    drop(b);
    assert_eq!((pool.kept(), stub.calls(Call::Free)), (8 * KB, 0));
    drop(c);
    assert_eq!((pool.kept(), stub.calls(Call::Free)), (8 * KB, 1));
    let [x, y] = [4 * KB, 4 * KB].map(|s| pool.take(s).unwrap());
    assert_eq!([x.address(), y.address()], [third, second]);
    drop((x, y));
    pool.set_limit(0);
    assert_eq!((pool.kept(), stub.blocks()), (0, 0));
    drop(pool.take(1).unwrap());
    assert_eq!((pool.kept(), stub.blocks()), (0, 0));
}

#[test]
fn when_there_is_no_more_what_is_kept_is_given_back() {
    let stub = small(32);
    let pool = pool(&stub);
    pool.set_limit(usize::MAX);
    let used = pool.take(8 * KB).unwrap();
    drop([4 * KB, 8 * KB].map(|s| pool.take(s).unwrap()));
    let allocated = stub.calls(Call::Allocate);
    let large = pool.take(24 * KB).unwrap();
    assert_eq!(stub.calls(Call::Allocate), allocated + 2);
    assert_eq!((pool.used(), pool.kept(), stub.blocks()), (32 * KB, 0, 2));
    drop((used, large));
}

#[test]
fn when_there_is_none_at_all_it_is_a_fault() {
    let stub = small(32);
    let pool = pool(&stub);
    let used = pool.take(16 * KB).unwrap();
    drop(pool.take(8 * KB).unwrap());
    let fault = pool.take(24 * KB).unwrap_err();
    assert_eq!(fault, Fault::OutOfMemory { bytes: 24 * KB });
    assert_eq!((pool.used(), pool.kept(), stub.blocks()), (16 * KB, 0, 1));
    // The driver is asked only once more. A smaller request still succeeds.
    assert_eq!(stub.calls(Call::Allocate), 4);
    pool.take(16 * KB).unwrap();
    let absurd = usize::MAX - 3;
    let fault = pool.take(absurd).unwrap_err();
    assert_eq!(fault, Fault::OutOfMemory { bytes: absurd });
    drop(used);
}

#[test]
fn pool_gives_kept_memory_to_other_users() {
    let stub = Stub::new();
    let pool = pool(&stub);
    drop(pool.take(8 * KB).unwrap());
    // SAFETY: nobody runs it.
    let cubin = unsafe { Cubin::new(Vec::new(), String::new()) };
    let none = Fault::OutOfMemory { bytes: 1 };
    stub.fail(Call::Load, 1, none.clone());
    pool.making_room(|| stub.load(&cubin, "sum")).unwrap();
    assert_eq!((stub.calls(Call::Load), stub.blocks()), (2, 0));
    for nth in [1, 2] {
        stub.fail(Call::Load, nth, none.clone());
    }
    assert_eq!(
        pool.making_room(|| stub.load(&cubin, "sum")).unwrap_err(),
        none
    );
    assert_eq!(stub.calls(Call::Load), 4);
}

#[test]
fn other_faults_are_not_asked_again() {
    let stub = Stub::new();
    let pool = pool(&stub);
    drop(pool.take(4 * KB).unwrap());
    stub.fail(Call::Allocate, 1, error("CUDA_ERROR_LAUNCH_FAILED"));
    assert_eq!(
        pool.take(KB).unwrap_err(),
        error("CUDA_ERROR_LAUNCH_FAILED")
    );
    assert_eq!((stub.calls(Call::Allocate), pool.kept()), (2, 4 * KB));
}

#[test]
fn all_is_given_back_in_the_end() {
    let stub = Stub::new();
    let pool = pool(&stub);
    let memory = pool.take(KB).unwrap();
    drop(pool.take(64 * KB).unwrap());
    drop(pool);
    assert_eq!(stub.blocks(), 2);
    // Memory keeps its pool alive.
    assert_eq!(memory.pool().used(), KB);
    drop(memory);
    assert_eq!((stub.blocks(), stub.calls(Call::Free)), (0, 2));
}

#[test]
fn bytes_go_and_come() {
    let stub = Stub::new();
    let pool = pool(&stub);
    let [mut a, mut b] = [100, 50].map(|s| pool.take(s).unwrap());
    let mut bytes = [0; 4];
    a.read(96, &mut bytes).unwrap();
    assert_eq!(bytes, [POISON; 4]);
    a.fill(0, 100, 7).unwrap();
    a.write(10, &[1, 2]).unwrap();
    b.copy_from(&a, 50).unwrap();
    b.read(9, &mut bytes).unwrap();
    assert_eq!(bytes, [7, 1, 2, 7]);
    assert!(a.write(100, &[]).is_ok() && !a.is_empty());
}

#[test]
fn pool_refuses_memory_from_outside() {
    let stub = Stub::new();
    let (pool, other) = (pool(&stub), pool(&stub));
    let [mut a, mut b] = [100, 50].map(|s| pool.take(s).unwrap());
    let foreign = other.take(100).unwrap();
    let before = [Call::ToDevice, Call::ToHost, Call::Copy, Call::Fill].map(|c| stub.calls(c));
    let refused = [
        a.write(99, &[1, 2]),
        a.write(usize::MAX, &[1]),
        a.read(101, &mut []),
        a.fill(1, 100, 0),
        b.copy_from(&a, 51),
        a.copy_from(&b, 51),
        a.copy_from(&foreign, 1),
    ];
    for (i, fault) in refused.into_iter().enumerate() {
        assert!(matches!(fault, Err(Fault::Refused(_))), "{i}: {fault:?}");
    }
    assert_eq!(
        [Call::ToDevice, Call::ToHost, Call::Copy, Call::Fill].map(|c| stub.calls(c)),
        before
    );
}

#[test]
fn a_lost_device_loses_its_memory_and_nothing_else() {
    let stub = Stub::new();
    let pool = pool(&stub);
    let mut memory = pool.take(KB).unwrap();
    stub.fail(Call::ToHost, 2, error("CUDA_ERROR_UNKNOWN"));
    memory.write(0, &[1]).unwrap();
    memory.read(0, &mut [0]).unwrap();
    assert_eq!(memory.read(0, &mut [0]), Err(error("CUDA_ERROR_UNKNOWN")));
    memory.read(0, &mut [0]).unwrap();
    stub.lose(error("CUDA_ERROR_ILLEGAL_ADDRESS"));
    let lost = Err(error("CUDA_ERROR_ILLEGAL_ADDRESS"));
    assert_eq!(memory.write(0, &[1]), lost);
    drop(memory);
    pool.clear();
    assert_eq!((pool.used(), pool.kept()), (0, 0));
    assert_eq!(stub.wait(), lost);
}

#[test]
fn threads_never_have_the_same_memory() {
    let stub = small(1024);
    let pool = pool(&stub);
    std::thread::scope(|scope| {
        for thread in 0..8u8 {
            let pool = &pool;
            scope.spawn(move || {
                for i in 0..200usize {
                    let bytes = (i * 97 + usize::from(thread) * 31) % (64 * KB);
                    let mut memory = pool.take(bytes).unwrap();
                    memory.fill(0, bytes, thread).unwrap();
                    let mut read = vec![POISON; bytes];
                    memory.read(0, &mut read).unwrap();
                    assert!(read.iter().all(|b| *b == thread), "{thread}, {bytes}");
                }
            });
        }
    });
    assert_eq!(pool.used(), 0);
    drop(pool);
    assert_eq!(stub.blocks(), 0);
}
