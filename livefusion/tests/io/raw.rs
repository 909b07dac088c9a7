//! Raw files of elements.

use super::{fault, file, files, folder, map_raw};
use livefusion::io::raw;
use livefusion::prelude::*;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};

#[test]
fn all_types_round_trip() {
    fn check<T: Scalar>(values: &[T]) {
        let folder = folder();
        let path = folder.path().join("xs");
        let words = |xs: &[T]| xs.iter().map(|x| x.to_word()).collect::<Vec<_>>();
        for values in [values, &[]] {
            raw::write(&path, &Array::from(values)).unwrap();
            for read in [raw::read::<T>, map_raw::<T>] {
                let read = read(&path).unwrap().force().unwrap();
                assert_eq!(words(&read), words(values));
            }
        }
    }
    check(&[false, true, true]);
    check(&[i8::MIN, 0, i8::MAX]);
    check(&[i16::MIN, 0, i16::MAX]);
    check(&[i32::MIN, 0, i32::MAX]);
    check(&[i64::MIN, 0, i64::MAX]);
    check(&[isize::MIN, 0]);
    check(&[0, u8::MAX]);
    check(&[0, u16::MAX]);
    check(&[0, u32::MAX]);
    check(&[0, u64::MAX]);
    check(&[0, usize::MAX]);
    check(&[-0.0, f32::INFINITY, f32::from_bits(0x7fc0_1234)]);
    check(&[
        -0.0,
        f64::NEG_INFINITY,
        f64::from_bits(0x7ff8_0000_0000_1234),
    ]);
}

#[test]
fn raw_file_of_partial_elements_is_an_error() {
    let folder = folder();
    let path = file(&folder, "xs", [0, 1, 2, 3, 4]);
    assert_eq!(
        fault(map_raw::<f32>(&path)),
        "expected a multiple of 4 bytes, the size of f32, got 5 bytes"
    );
    assert_eq!(
        fault(raw::read::<bool>(&path)),
        "byte 2: expected bool, a byte 0 or 1, got 2"
    );
    assert_eq!(
        fault(map_raw::<bool>(&path)),
        fault(raw::read::<bool>(&path))
    );
    let nowhere = raw::read::<u8>(folder.path().join("none")).unwrap_err();
    assert!(std::error::Error::source(&nowhere).is_some());
    assert_eq!(
        fault(map_raw::<u8>(folder.path())),
        "expected a file, got something else"
    );
}

/// The bound on the result is 2 GiB, but it has three elements.
#[test]
fn a_filter_of_a_mapped_file_has_room_for_its_elements() {
    let folder = folder();
    let path = folder.path().join("sparse");
    let sparse = File::create(&path).unwrap();
    sparse.set_len(1 << 28).unwrap();
    for at in [0, 1 << 27, (1 << 28) - 1] {
        (&sparse).seek(SeekFrom::Start(at)).unwrap();
        (&sparse).write_all(&[7]).unwrap();
    }
    let xs = map_raw::<u8>(&path).unwrap();
    let kept = xs.map(|x| x.cast::<f64>()).filter(|x| x.gt(0.0));
    for engine in [Engine::builder(), Engine::builder().threads(2)] {
        let engine = engine.memory_limit(64 << 20).build();
        assert_eq!(kept.force_with(&engine).unwrap(), [7.0; 3]);
    }
}

#[test]
fn a_file_may_be_larger_than_memory() {
    let folder = folder();
    let path = folder.path().join("sparse");
    // 512 GiB, or 8 GiB where the file system refuses such files.
    let sparse = File::create(&path).unwrap();
    let made = sparse.set_len(1 << 39).or_else(|_| sparse.set_len(8 << 30));
    made.unwrap();
    let xs = map_raw::<u64>(&path).unwrap();
    let len = xs.len().force().unwrap();
    assert!(len >= 1 << 30);
    let sum = xs.drop(len - 1000).map(|x| x + 1).sum();
    assert_eq!(sum.force().unwrap(), 1000);
}

#[test]
fn raw_mapped_file_is_never_written() {
    let folder = folder();
    let path = file(&folder, "xs", [1u8; 100_000]);
    let xs = map_raw::<u8>(&path).unwrap();
    let ys = xs.scatter_with(&Array::from(vec![0u64]), &Array::from(vec![9u8]), |a, b| {
        a + b
    });
    assert_eq!(ys.force().unwrap()[..2], [10, 1]);
    let mut vec = xs.force().unwrap().into_vec().unwrap();
    vec[0] = 7;
    // A program receives the input itself as the memory of an old result.
    let program = prepare(|xs: Array<u8>| xs).unwrap();
    let mut new = program.call(&xs).unwrap();
    let other = Array::from(vec![3u8; 100_000]);
    program.call_into(&other, &mut new).unwrap();
    assert_eq!(new[0], 3);
    assert_eq!(xs.force().unwrap()[0], 1);
    assert_eq!(std::fs::read(&path).unwrap(), [1u8; 100_000]);
}

#[test]
fn a_program_may_save_over_what_it_has_mapped() {
    let folder = folder();
    let path = file(&folder, "xs", [1u8; 10_000]);
    let xs = map_raw::<u8>(&path).unwrap();
    raw::write(&path, &xs.map(|x| x + 1).take(10)).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), [2; 10]);
    assert_eq!(xs.map(|x| x.cast::<u64>()).sum().force().unwrap(), 10_000);
    assert_eq!(files(folder.path()), ["xs"]);
}

#[test]
fn raw_write_that_fails_leaves_the_old_file() {
    let folder = folder();
    let path = file(&folder, "xs", [1u8; 10]);
    let wrong = Array::from(vec![1u8]).gather(&Array::from(vec![5u64]));
    assert!(fault(raw::write(&path, &wrong)).contains("`gather` at "));
    assert!(fault(raw::write(folder.path().join("no/where"), &iota(3))).len() > 5);
    assert!(raw::write(folder.path(), &iota(3)).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), [1; 10]);
    assert_eq!(files(folder.path()), ["xs"]);
}

#[cfg(unix)]
#[test]
fn links_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder();
    let path = file(&folder, "xs", [1u8; 10]);
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
    let link = folder.path().join("link");
    symlink(&path, &link).unwrap();
    raw::write(&link, &Array::from(vec![5u8])).unwrap();
    assert!(link.is_symlink());
    assert_eq!(
        (std::fs::read(&path).unwrap(), mode(&path)),
        (vec![5], 0o640)
    );
    raw::write("/dev/null", &Array::from(vec![5u8])).unwrap();
}
