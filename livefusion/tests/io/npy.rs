//! NPY and NPZ files.

use super::{fault, file, folder, map_npy};
use livefusion::array::{Dim, Rank};
use livefusion::io::npy;
#[cfg(feature = "npz")]
use livefusion::io::npz;
use livefusion::prelude::*;

/// Writes an array in every way, and reads it in every way.
fn round_trip<T: npy::Stored, D: Rank>(array: &Array<T, D>, same: impl Fn(D::Out<T>) -> bool)
where
    Array<T, D>: Force<Out = D::Out<T>>,
{
    let folder = folder();
    let one = folder.path().join("a.npy");
    npy::write(&one, array).unwrap();
    #[allow(unused_mut, reason = "archives come with a feature")]
    let mut read = vec![npy::read::<T, D>(&one), map_npy::<T, D>(&one)];
    #[cfg(feature = "npz")]
    {
        let all = folder.path().join("a.npz");
        let archive = npz::create(&all).unwrap().add("plain", array).unwrap();
        let archive = archive.compressed().add("packed", array).unwrap();
        archive.finish().unwrap();
        let mut archive = npz::open(&all).unwrap();
        read.extend(["plain", "packed"].map(|name| archive.read::<T, D>(name)));
    }
    for array in read {
        assert!(same(array.unwrap().force().unwrap()));
    }
    // NumPy requires elements to begin at a multiple of 64 bytes.
    let bytes = std::fs::read(&one).unwrap();
    let elements = bytes.len() - bytes.iter().position(|b| *b == b'\n').unwrap() - 1;
    assert_eq!((bytes.len() - elements) % 64, 0);
}

#[test]
fn all_types_round_trip() {
    fn check<T: Scalar>(values: &[T]) {
        let words = |xs: &[T]| xs.iter().map(|x| x.to_word()).collect::<Vec<_>>();
        round_trip(&Array::from(values), |xs| words(&xs) == words(values));
        round_trip(&Array::scalar(Exp::lit(values[0])), |x: T| {
            x.to_word() == values[0].to_word()
        });
    }
    check(&[true, false, true]);
    check(&[i8::MIN, 0, i8::MAX]);
    check(&[i16::MIN, 0, i16::MAX]);
    check(&[i32::MIN, 0, i32::MAX]);
    check(&[i64::MIN, 0, i64::MAX]);
    check(&[isize::MIN, 0]);
    check(&[u8::MAX, 0]);
    check(&[u16::MAX, 0]);
    check(&[u32::MAX, 0]);
    check(&[u64::MAX, 0]);
    check(&[usize::MAX, 0]);
    check(&[-0.0, f32::INFINITY, f32::from_bits(0x7fc0_1234)]);
    check(&[
        -0.0,
        f64::NEG_INFINITY,
        f64::from_bits(0x7ff8_0000_0000_1234),
    ]);
}

#[test]
fn all_ranks_round_trip() {
    fn check<D: Dim + Rank<Out<u16> = Manifest<u16, D>>>(array: Array<u16, D>) {
        let expected = array.force().unwrap();
        round_trip(&array, |read| read == expected);
    }
    let all = iota(720).map(|i| i.cast::<u16>());
    check(all.clone());
    check(all.reshape((24, 30)));
    check(all.reshape((2, 12, 30)));
    check(all.reshape((2, 3, 4, 30)));
    check(all.reshape((2, 3, 4, 5, 6)));
    check(all.reshape((1, 2, 3, 4, 5, 6)));
    check(all.reshape(vec![2u64, 3, 1, 4, 5, 1, 6]));
    check(all.reshape((24, 30)).transpose());
    check(all.take(0));
    check(all.take(0).reshape((3, 0, 2)));
    check(all.take(0).reshape((0, 1u64 << 40, 1u64 << 40)));
    // Lengths that are known only at run time.
    check(generate((&all.filter(|x| x.lt(7)).len(), 2), |(i, j)| {
        (i + j).cast::<u16>()
    }));
}

/// An NPY file from a header and elements.
fn bytes(header: &str, elements: &[u8]) -> Vec<u8> {
    let length = (header.len() as u16).to_le_bytes();
    let parts = [
        b"\x93NUMPY\x01\x00",
        &length[..],
        header.as_bytes(),
        elements,
    ];
    parts.concat()
}

#[test]
fn other_orders_are_read() {
    let folder = folder();
    let read = |header: &str, elements: &[u8]| {
        let path = file(&folder, "m.npy", bytes(header, elements));
        let [a, b] = [npy::read, map_npy].map(|read| read(&path));
        let a: Array<u16, Ix2> = a.unwrap();
        let b: Array<u16, Ix2> = b.unwrap();
        assert_eq!(a.force().unwrap(), b.force().unwrap());
        a.force().unwrap()
    };
    let little: Vec<u8> = (1u16..=6).flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = (1u16..=6).flat_map(u16::to_be_bytes).collect();
    for fortran in ["True", "False"] {
        for (order, elements) in [("<", &little), (">", &big)] {
            let header =
                format!("{{\"shape\": ( 2L ,3),'fortran_order':{fortran}, 'descr':'{order}u2'}}");
            let m = read(&header, elements);
            match fortran {
                "True" => assert_eq!(m, [[1, 3, 5], [2, 4, 6]]),
                _ => assert_eq!(m, [[1, 2, 3], [4, 5, 6]]),
            }
        }
    }
    // Misaligned elements, and trailing bytes.
    let odd = "{'descr': '<u2', 'fortran_order': False, 'shape': (1, 1)} ";
    let odd = match bytes(odd, &[]).len() % 2 {
        0 => format!("{odd} "),
        _ => odd.to_string(),
    };
    assert_eq!(read(&odd, &[5, 1, 9, 9]), [[261]]);
    // Version 2 has a wider length field.
    let text = "{'descr': '|u1', 'fortran_order': False, 'shape': (), }";
    let length = (text.len() as u32).to_le_bytes();
    let all = [b"\x93NUMPY\x02\x00", &length[..], text.as_bytes(), &[7]].concat();
    let path = file(&folder, "x.npy", all);
    assert_eq!(npy::read::<u8, Ix0>(path).unwrap().force().unwrap(), 7);
}

/// An NPY file as NumPy writes it.
fn by_numpy(descr: &str, shape: &str, elements: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let length = (10 + text.len() + 1).next_multiple_of(64) - 11;
    bytes(&format!("{text:length$}\n"), elements)
}

/// A complex number is two adjacent floats; each has the file's byte order.
#[test]
fn complex_numbers_are_pairs() {
    let folder = folder();
    let pairs = [(1.5f64, -2.0f64), (f64::INFINITY, -0.0), (0.25, 3.0)];
    let little: Vec<u8> = pairs
        .iter()
        .flat_map(|(re, im)| [re.to_le_bytes(), im.to_le_bytes()].concat())
        .collect();
    let big: Vec<u8> = pairs
        .iter()
        .flat_map(|(re, im)| [re.to_be_bytes(), im.to_be_bytes()].concat())
        .collect();
    for (descr, elements) in [("<c16", &little), (">c16", &big)] {
        let path = file(&folder, "z.npy", by_numpy(descr, "(3,)", elements));
        for read in [npy::read::<(f64, f64), Ix1>, map_npy::<(f64, f64), Ix1>] {
            assert_eq!(read(&path).unwrap().to_vec().unwrap(), pairs);
        }
        let node = npy::read_node(&path).unwrap();
        assert_eq!(
            Array::<(f64, f64)>::from_node(node)
                .unwrap()
                .to_vec()
                .unwrap(),
            pairs
        );
        let one = file(&folder, "z.npy", by_numpy(descr, "()", &elements[..16]));
        let one = npy::read::<(f64, f64), Ix0>(one).unwrap();
        assert_eq!(one.force().unwrap(), pairs[0]);
    }
    let path = folder.path().join("z.npy");
    let kept = |zs: &Array<(f64, f64)>| {
        npy::write(&path, zs).unwrap();
        std::fs::read(&path).unwrap()
    };
    let zs = Array::from(pairs.to_vec());
    assert_eq!(kept(&zs), by_numpy("<c16", "(3,)", &little));
    npy::write_node(&path, zs.node()).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), kept(&zs));
    let finite = zs.filter(|(re, _)| re.lt(10.0));
    let some = [&little[..16], &little[32..]].concat();
    assert_eq!(kept(&finite), by_numpy("<c16", "(2,)", &some));
    npy::write(&path, &Array::scalar(Exp::lit(1.5)).map(|x| (x, -2.0))).unwrap();
    assert_eq!(
        std::fs::read(&path).unwrap(),
        by_numpy("<c16", "()", &little[..16])
    );
    let table = Array::from(vec![(1.0f32, 2.0f32), (3.0, 4.0)]).reshape((1, 2));
    npy::write(&path, &table).unwrap();
    let elements: Vec<u8> = [1.0f32, 2.0, 3.0, 4.0]
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    assert_eq!(
        std::fs::read(&path).unwrap(),
        by_numpy("<c8", "(1, 2)", &elements)
    );
    let fortran = "{'descr': '<c8', 'fortran_order': True, 'shape': (2, 2), }";
    let elements: Vec<u8> = (0..8u8).flat_map(|x| f32::from(x).to_le_bytes()).collect();
    let path = file(&folder, "z.npy", bytes(fortran, &elements));
    for read in [npy::read::<(f32, f32), Ix2>, map_npy::<(f32, f32), Ix2>] {
        let firsts = read(&path).unwrap().map(|(re, im)| re * 10.0 + im);
        assert_eq!(firsts.force().unwrap(), [[1.0, 45.0], [23.0, 67.0]]);
    }
}

#[test]
fn complex_numbers_of_all_ranks_round_trip() {
    fn check<D: Dim + Rank<Out<(f32, f32)> = Manifest<(f32, f32), D>>>(array: Array<(f32, f32), D>)
    where
        Array<(f32, f32), D>: Force<Out = Manifest<(f32, f32), D>>,
    {
        let expected = array.force().unwrap();
        round_trip(&array, |read| read == expected);
    }
    let all = iota(720).map(|i| (i.cast::<f32>(), -i.cast::<f32>()));
    check(all.clone());
    check(all.reshape((24, 30)));
    check(all.reshape((2, 3, 4, 30)));
    check(all.reshape((24, 30)).transpose());
    check(all.take(0));
    check(all.take(0).reshape((0, 1u64 << 40, 1u64 << 40)));
    check(all.filter(|(re, _)| re.lt(7.0)));
    let n = all.filter(|(re, _)| re.lt(7.0)).len();
    check(generate((&n, 2), |(i, j)| {
        (i.cast::<f32>(), j.cast::<f32>())
    }));
    round_trip(
        &Array::scalar(Exp::lit(0.5f32)).map(|x| (x, x + 1.0)),
        |z| z == (0.5, 1.5),
    );
}

#[test]
fn other_tuples_have_no_type() {
    let folder = folder();
    let path = folder.path().join("a.npy");
    let mixed = Array::from(vec![(1.0f64, 2.0f32)]);
    let expected = "expected an array of scalars or complex numbers, got (f64, f32)";
    assert_eq!(fault(npy::write_node(&path, mixed.node())), expected);
    #[cfg(feature = "npz")]
    {
        let archive = npz::create(folder.path().join("a.npz")).unwrap();
        let got = fault(archive.add_node("x", mixed.node()));
        assert!(got.ends_with(expected), "{got}");
    }
    let whole = Array::from(vec![(1i64, 2i64)]);
    let got = fault(npy::write_node(&path, whole.node()));
    assert!(got.ends_with("got (i64, i64)"), "{got}");
    assert!(!path.exists());
}

#[cfg(feature = "complex")]
#[test]
fn complex_elements_are_complex_numbers() {
    use livefusion::complex::Complex;
    let folder = folder();
    let path = folder.path().join("z.npy");
    let zs = vec![Complex::new(1.0f64, -2.0), Complex::i()];
    npy::write(&path, &Array::from(zs.clone())).unwrap();
    let elements: Vec<u8> = [1.0f64, -2.0, 0.0, 1.0]
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    assert_eq!(
        std::fs::read(&path).unwrap(),
        by_numpy("<c16", "(2,)", &elements)
    );
    let read = npy::read::<Complex<f64>, Ix1>(&path).unwrap();
    assert_eq!(read.to_vec().unwrap(), zs);
    // Consumers read the file's floats in one loop.
    let power = map_npy::<Complex<f64>, Ix1>(&path)
        .unwrap()
        .norm_sqr()
        .sum();
    assert_eq!(crate::common::shape(&[power.node()]).unwrap(), (1, 0));
    assert_eq!(power.force().unwrap(), 6.0);
    assert_eq!(
        fault(npy::read::<Complex<f32>, Ix1>(&path)),
        "expected Complex<f32> of rank 1, got Complex<f64> of rank 1"
    );
    assert_eq!(
        fault(npy::read::<Complex<f64>, Ix2>(&path)),
        "expected Complex<f64> of rank 2, got Complex<f64> of rank 1"
    );
    let small = Array::from(vec![Complex::new(0.5f32, 0.25)]);
    round_trip(&small, |read| {
        read.to_vec().unwrap() == [Complex::new(0.5f32, 0.25)]
    });
    for end in 0..elements.len() {
        let cut = by_numpy("<c16", "(2,)", &elements[..end]);
        let got = fault(npy::read::<Complex<f64>, Ix1>(file(&folder, "z.npy", cut)));
        assert!(
            got.starts_with("expected elements of type Complex<f64>"),
            "{got}"
        );
    }
}

#[cfg(feature = "half")]
#[test]
fn halves_are_floats_of_two_bytes() {
    use livefusion::half::f16;
    let folder = folder();
    let path = folder.path().join("h.npy");
    let halves = [1.0f32, -2.5, 65504.0, f32::INFINITY, 0.0].map(f16::from_f32);
    // The bytes of 1.0, -2.5, the largest number, infinity, 0.0.
    let little = [0, 0x3c, 0, 0xc1, 0xff, 0x7b, 0, 0x7c, 0, 0];
    let big = [0x3c, 0, 0xc1, 0, 0x7b, 0xff, 0x7c, 0, 0, 0];
    npy::write(&path, &Array::from(halves.to_vec())).unwrap();
    assert_eq!(
        std::fs::read(&path).unwrap(),
        by_numpy("<f2", "(5,)", &little)
    );
    for (descr, elements) in [("<f2", little), (">f2", big)] {
        let path = file(&folder, "h.npy", by_numpy(descr, "(5,)", &elements));
        for read in [npy::read::<f16, Ix1>, map_npy::<f16, Ix1>] {
            assert_eq!(read(&path).unwrap().to_vec().unwrap(), halves);
        }
        // Graphs have no 16-bit floats.
        let node = npy::read_node(&path).unwrap();
        let wide = Array::<f32>::from_node(node).unwrap().to_vec().unwrap();
        assert_eq!(wide, halves.map(f16::to_f32));
        for end in 0..elements.len() {
            let cut = by_numpy(descr, "(5,)", &elements[..end]);
            let got = fault(npy::read::<f16, Ix1>(file(&folder, "c.npy", cut)));
            assert!(got.starts_with("expected elements of type f16"), "{got}");
        }
        assert_eq!(
            fault(npy::read::<u16, Ix1>(&path)),
            "expected u16 of rank 1, got f16 of rank 1"
        );
    }
    let table = Array::from(halves[..4].to_vec()).reshape((2, 2));
    round_trip(&table, |read| read == table.force().unwrap());
    round_trip(&Array::scalar(Exp::lit(0.5f32)).to_half::<f16>(), |x| {
        x == halves[0] / f16::from_f32(2.0)
    });
    let bits = file(&folder, "u.npy", by_numpy("<u2", "(5,)", &little));
    assert_eq!(
        fault(npy::read::<f16, Ix1>(bits)),
        "expected f16 of rank 1, got u16 of rank 1"
    );
}

#[test]
fn npy_of_other_content_is_an_error() {
    let folder = folder();
    let check = |bytes: &[u8], expected: &str| {
        let path = file(&folder, "m.npy", bytes);
        for read in [npy::read::<f64, Ix1>, map_npy::<f64, Ix1>] {
            let got = fault(read(&path));
            assert!(got.starts_with(expected), "{got}");
        }
    };
    let dict = |descr: &str, shape: &str| {
        bytes(
            &format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"),
            &[0; 16],
        )
    };
    let whole = dict("'<f8'", "(2,)");
    check(
        b"",
        "expected an NPY file, which begins with \"\\x93NUMPY\", got \"\"",
    );
    check(b"a,b\n1,2\n1,2\n", "expected an NPY file");
    check(
        b"\x93NUMPY\x09\x00aaaaaaaa",
        "expected NPY of version 1, 2 or 3, got version 9",
    );
    check(
        b"\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr'",
        "expected a header of at most 8 bytes, got one of 4294967295",
    );
    check(
        &whole[..whole.len() - 1],
        "expected elements of type f64 and shape (2), got 15 bytes",
    );
    for end in 0..whole.len() {
        check(&whole[..end], "expected ");
    }
    check(
        &dict("'<f8'", "(1152921504606846976,)"),
        "expected elements of type f64 and shape (1152921504606846976), got 16 bytes behind the header",
    );
    check(
        &dict("'<f8'", "(4294967296, 4294967296)"),
        "expected elements of",
    );
    check(
        &dict("'<f8'", "(99999999999999999999,)"),
        "expected a length in the header, got",
    );
    check(
        &dict("'<f8'", "(-1,)"),
        "expected a length in the header, got \"-1",
    );
    check(
        &dict("'<f8'", &format!("({})", "1,".repeat(65))),
        "expected at most 64 axes",
    );
    check(&dict("'<c32'", "(1,)"), "expected a type among b1, i1,");
    // NumPy saves a `bf16` of Python's crate like this.
    check(&dict("'<V2'", "(1,)"), "expected a type among b1, i1,");
    check(
        &dict("'<c16'", "(1,)"),
        "expected f64 of rank 1, got Complex<f64> of rank 1",
    );
    check(
        &dict("'<c16'", "(2,)"),
        "expected elements of type Complex<f64> and shape (2), got 16 bytes behind the header",
    );
    check(
        &dict("'<c16'", "(1152921504606846976,)"),
        "expected elements of type Complex<f64> and shape (1152921504606846976), got 16 bytes",
    );
    check(&dict("'é'", "(1,)"), "expected a type among b1, i1,");
    check(&dict("''", "(1,)"), "expected a type among b1, i1,");
    check(
        &dict("[('x', '<f8')]", "(1,)"),
        "expected the type of scalars, not of records,",
    );
    check(&dict("'<f8", "(1,)"), "expected");
    check(
        &dict("'<f4'", "(2,)"),
        "expected f64 of rank 1, got f32 of rank 1",
    );
    check(
        &dict("'<f8'", "(1, 2)"),
        "expected f64 of rank 1, got f64 of rank 2",
    );
    check(
        &dict("'<f8'", "()"),
        "expected f64 of rank 1, got f64 of rank 0",
    );
    check(
        &bytes("{}", &[]),
        "expected a header with descr, fortran_order and shape",
    );
    check(
        &bytes("{'x': 1}", &[]),
        "expected a header's key, got \"x\"",
    );
    check(
        &bytes(&"(".repeat(60_000), &[]),
        "expected `{` in the header, got \"((",
    );
    let path = file(&folder, "b.npy", dict("'|b1'", "(16,)"));
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.len() - 3;
    bytes[at] = 0xff;
    let path = file(&folder, "b.npy", bytes);
    assert_eq!(
        fault(map_npy::<bool, Ix1>(path)),
        format!("byte {at}: expected bool, a byte 0 or 1, got 255")
    );
}

#[cfg(feature = "npz")]
#[test]
fn archives_say_what_is_wrong() {
    let folder = folder();
    let path = folder.path().join("a.npz");
    let archive = npz::create(&path).unwrap().add("x", &iota(100)).unwrap();
    assert!(archive.add("x", &iota(3)).is_err());
    assert!(!path.exists());
    let archive = npz::create(&path).unwrap().add("x", &iota(100)).unwrap();
    archive.finish().unwrap();
    let mut archive = npz::open(&path).unwrap();
    assert_eq!(
        fault(archive.read::<u64, Ix1>("y")),
        "expected one of the arrays \"x\", got \"y\""
    );
    assert_eq!(
        fault(archive.read::<u64, Ix2>("x")),
        "array \"x\": expected u64 of rank 2, got u64 of rank 1"
    );
    let whole = std::fs::read(&path).unwrap();
    // The checksum detects one changed element.
    let mut changed = whole.clone();
    changed[400] ^= 1;
    let mut archive = npz::open(file(&folder, "b.npz", &changed)).unwrap();
    assert!(archive.read::<u64, Ix1>("x").is_err());
    assert!(npz::open(file(&folder, "b.npz", &whole[..whole.len() / 2])).is_err());
    assert!(npz::open(file(&folder, "b.npz", b"no archive")).is_err());
}
