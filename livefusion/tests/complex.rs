//! Complex numbers: values against `num-complex`, fusion, and transforms against direct sums.
#![cfg(feature = "fft")]

use crate::common::{engines, shape};
use livefusion::ErrorKind;
use livefusion::complex::{Complex, ComplexExp};
use livefusion::prelude::*;

type C = Complex<f64>;

/// Numbers in all directions and of many sizes.
fn numbers() -> Vec<C> {
    let parts = [-1e200, -3.0, -1.0, -1e-9, -0.0, 0.0, 0.5, 2.0, 1e150];
    let of = |re| parts.map(|im| C::new(re, im));
    parts.into_iter().flat_map(of).collect()
}

fn is_close(a: C, b: C) -> bool {
    let close = |a: f64, b: f64| {
        (a.is_nan() && b.is_nan()) || a == b || (a - b).abs() <= 1e-14 * b.abs().max(a.abs())
    };
    let size = b.norm();
    close(a.re, b.re) && close(a.im, b.im) || (a - b).norm() <= 1e-14 * size
}

/// Compares a program with expected values. Each engine gets its own program, because forced nodes
/// keep their values.
fn same(name: &str, program: impl Fn(&Array<C>) -> Array<C>, expected: impl Fn(C) -> C) {
    for engine in engines() {
        let got = program(&Array::from(numbers()))
            .force_with(&engine)
            .unwrap();
        for (z, got) in numbers().into_iter().zip(&got) {
            let expected = expected(z);
            assert!(
                is_close(got, expected),
                "{name} of {z}: {got}, not {expected}"
            );
        }
    }
}

#[test]
fn operators_are_those_of_pairs() {
    let w = C::new(0.75, -2.5);
    same("z + w", |zs| zs + w, |z| z + w);
    same("w - z", |zs| w - zs, |z| w - z);
    same("z * w", |zs| zs * w, |z| z * w);
    same("z / w", |zs| zs / w, |z| z / w);
    same("z * 2", |zs| zs * 2.0, |z| z * 2.0);
    same("-z", |zs| -zs, |z| -z);
    same("z * z - 1", |zs| zs.map(|z| z * z - 1.0), |z| z * z - 1.0);
    same("2 z", |zs| zs.map(|z| 2.0 * z), |z| z * 2.0);
    same("x z", |zs| zs.map(|z| z.re * z), |z| z * z.re);
    same("1 - z", |zs| zs.map(|z| 1.0 - z), |z| 1.0 - z);
    same("w z", |zs| zs.map(|z| w * z), |z| w * z);
}

#[test]
fn abs_and_quotients__of_huge_parts__do_not_overflow() {
    let zs = Array::from(vec![C::new(1e200, 1e200), C::new(1e-200, -2e-200)]);
    let one = &zs / &zs;
    assert_eq!(one.to_vec().unwrap(), [C::new(1.0, 0.0); 2]);
    let inverse = zs.map(|z| 1.0 / z).to_vec().unwrap();
    assert!(
        is_close(inverse[1], C::new(0.2e200, 0.4e200)),
        "{}",
        inverse[1]
    );
    assert_eq!(zs.abs().force().unwrap()[0], 1e200f64.hypot(1e200));
}

#[test]
fn conj_exp_ln_and_sqrt__of_numbers_in_all_directions__are_those_of_num_complex() {
    same("sqrt", |zs| zs.map(ComplexExp::sqrt), |z| z.sqrt());
    same("conj", |zs| zs.conj(), |z| z.conj());
    let of_small = |f: fn(C) -> C| move |z: C| f(z * 1e-199);
    same(
        "exp",
        |zs| zs.map(|z| z.scale(1e-199)).exp(),
        of_small(|z| z.exp()),
    );
    same(
        "ln",
        |zs| zs.map(|z| z.eq(C::new(0.0, 0.0)).cond(C::new(1.0, 1.0), z).ln()),
        |z| {
            if z == C::new(0.0, 0.0) {
                C::new(1.0, 1.0).ln()
            } else {
                z.ln()
            }
        },
    );
    let parts = |zs: &Array<C>| zip((&zs.re(), &zs.im())).map(|(re, im)| ComplexExp { re, im });
    same("parts", parts, |z| z);
    let polar = |zs: &Array<C>| zs.map(|z| ComplexExp::from_polar(z.abs(), z.arg()));
    same("polar", polar, |z| C::from_polar(z.norm(), z.arg()));
}

#[test]
fn re_im_abs_norm_sqr_and_arg__of_an_array__are_those_of_each_number() {
    let close = |got: f64, expected: f64| is_close(C::new(got, 0.0), C::new(expected, 0.0));
    for engine in engines() {
        let zs = Array::from(numbers());
        let parts = (&zs.re(), &zs.im(), &zs.abs(), &zs.norm_sqr(), &zs.arg());
        assert_eq!(parts.explain().unwrap().loops.len(), 1);
        let (re, im, abs, norm_sqr, arg) = parts.force_with(&engine).unwrap();
        for (k, z) in numbers().into_iter().enumerate() {
            let bits = |re: f64, im: f64| [re.to_bits(), im.to_bits()];
            assert_eq!(bits(re[k], im[k]), bits(z.re, z.im));
            assert!(close(abs[k], z.norm()), "{z}: {}", abs[k]);
            assert!(close(norm_sqr[k], z.norm_sqr()), "{z}: {}", norm_sqr[k]);
            assert!(close(arg[k], z.arg()), "{z}: {}", arg[k]);
        }
    }
    let none = Array::from(Vec::<C>::new());
    assert_eq!(
        (none.re().to_vec(), none.arg().to_vec()),
        (Ok(vec![]), Ok(vec![]))
    );
}

#[test]
fn cis_and_from_polar__of_angles__are_those_of_num_complex() {
    let angles = [-7.0, -0.5, -0.0, 0.0, 1.0, 3.0, 1e3];
    for engine in engines() {
        let array = Array::from(angles.to_vec());
        let unit = array.map(|theta| ComplexExp::cis(theta));
        let far = array.map(|theta| ComplexExp::from_polar(theta * 2.0, theta));
        let (unit, far) = (&unit, &far).force_with(&engine).unwrap();
        let (unit, far) = (unit.to_vec().unwrap(), far.to_vec().unwrap());
        for (k, theta) in angles.into_iter().enumerate() {
            assert!(is_close(unit[k], C::cis(theta)), "{theta}: {}", unit[k]);
            let expected = C::from_polar(theta * 2.0, theta);
            assert!(is_close(far[k], expected), "{theta}: {}", far[k]);
        }
    }
}

#[test]
fn eq_and_ne__of_complex_numbers__compare_both_parts() {
    let nan = C::new(f64::NAN, 0.0);
    let zs = [C::new(1.0, 2.0), C::new(1.0, -2.0), C::new(0.0, -0.0), nan];
    for engine in engines() {
        let pairs = || zs.into_iter().flat_map(|z| zs.map(|w| (z, w)));
        let array = Array::from_iter(pairs());
        let (eq, ne) = (&array.map(|(z, w)| z.eq(w)), &array.map(|(z, w)| z.ne(w)))
            .force_with(&engine)
            .unwrap();
        assert_eq!(eq, pairs().map(|(z, w)| z == w).collect::<Vec<_>>());
        assert_eq!(ne, pairs().map(|(z, w)| z != w).collect::<Vec<_>>());
    }
}

#[test]
fn complex_arithmetic_is_one_loop() {
    let zs = Array::from(numbers());
    let power = (&zs * zs.conj()).re().sum();
    assert_eq!(shape(&[power.node()]).unwrap(), (1, 0));
    // Real and imaginary parts are a column each.
    let moved = (&zs + C::i()) * 2.0;
    assert_eq!(shape(&[moved.node()]).unwrap(), (1, 2));
    let sum = zs.filter(|z| z.abs().lt(10.0)).sum();
    assert_eq!(shape(&[sum.node()]).unwrap().0, 1);
    let of_few = numbers().into_iter().filter(|z| z.norm() < 10.0);
    assert!(is_close(sum.force().unwrap(), of_few.sum()));
}

#[test]
fn delayed_scalars_and_ranks_are_operands() {
    let zs = Array::from(vec![C::new(1.0, 1.0), C::new(3.0, -1.0)]);
    let centred = &zs - zs.sum();
    assert_eq!(
        centred.to_vec().unwrap(),
        [C::new(-3.0, 1.0), C::new(-1.0, -1.0)]
    );
    let total = zs.sum() * zs.sum();
    assert_eq!(total.force().unwrap(), C::new(16.0, 0.0));
    let table = Array::from(vec![C::i(); 6]).reshape([2, 3]);
    assert_eq!(
        (&table * &table).re().along(1).sum().to_vec().unwrap(),
        [-3.0; 2]
    );
}

#[test]
fn they_print_as_people_write_them() {
    let zs = Array::from(vec![C::new(1.0, 2.0), C::new(0.5, -1.0)]);
    assert_eq!(zs.force().unwrap().to_string(), "[1.0+2.0i, 0.5-1.0i]");
    assert_eq!(zs.get(1).unwrap(), Some(C::new(0.5, -1.0)));
}

fn signal(n: usize) -> Vec<C> {
    let part = |k: usize| ((k * k * 7 + 3) % 23) as f64 - 11.0;
    (0..n).map(|k| C::new(part(k), part(k + 5))).collect()
}

fn by_hand(zs: &[C], sign: f64) -> Vec<C> {
    let n = zs.len();
    let turn = |jk: usize| C::cis(sign * 2.0 * std::f64::consts::PI * (jk % n) as f64 / n as f64);
    (0..n)
        .map(|k| zs.iter().enumerate().map(|(j, z)| z * turn(j * k)).sum())
        .collect()
}

fn near(got: &[C], expected: &[C]) {
    assert_eq!(got.len(), expected.len());
    for (k, (a, b)) in got.iter().zip(expected).enumerate() {
        assert!(
            (a - b).norm() < 1e-10 * got.len() as f64,
            "{k}: {a}, not {b}"
        );
    }
}

#[test]
fn fft_ifft_rfft_and_irfft__of_each_length__are_direct_sums() {
    for n in [0, 1, 2, 3, 8, 12, 97] {
        let zs = signal(n);
        let array = Array::from(zs.clone());
        near(&array.fft().to_vec().unwrap(), &by_hand(&zs, -1.0));
        near(&array.fft().ifft().to_vec().unwrap(), &zs);
        let xs: Vec<C> = zs.iter().map(|z| C::new(z.re, 0.0)).collect();
        let half = if n == 0 { 0 } else { n / 2 + 1 };
        near(
            &array.re().rfft().to_vec().unwrap(),
            &by_hand(&xs, -1.0)[..half],
        );
        let again = array.re().rfft().irfft(n as u64).to_vec().unwrap();
        near(
            &again.iter().map(|x| C::new(*x, 0.0)).collect::<Vec<_>>(),
            &xs,
        );
    }
}

#[test]
fn floats_of_half_the_size_are_transformed_too() {
    let xs = Array::from(vec![1.0f32, 2.0, 0.0, -1.0]);
    let power = xs.rfft().norm_sqr().force().unwrap();
    assert_eq!(power, [4.0f32, 10.0, 0.0]);
    let delayed = xs.rfft().irfft(xs.len()).to_vec().unwrap();
    assert_eq!(delayed, [1.0, 2.0, 0.0, -1.0]);
}

#[test]
fn windows_go_into_the_loop_before_and_powers_into_the_one_behind() {
    let program = || {
        let xs = iota(64).map(|i| i.cast::<f64>() * 0.1);
        xs.map(|x| x * (1.0 - x)).rfft().norm_sqr().sum()
    };
    let power = program();
    let explained = Engine::interp().explain(&[power.node().clone()]).unwrap();
    assert_eq!(explained.loops.len(), 1, "{explained}");
    assert!(
        explained
            .to_string()
            .contains("a Fourier transform looks at all elements"),
        "{explained}"
    );
    let xs: Vec<C> = (0..64)
        .map(|i| f64::from(i) * 0.1)
        .map(|x| C::new(x * (1.0 - x), 0.0))
        .collect();
    let expected: f64 = by_hand(&xs, -1.0)[..33].iter().map(|z| z.norm_sqr()).sum();
    for engine in engines() {
        let got = program().force_with(&engine).unwrap();
        assert!(
            (got / expected - 1.0).abs() < 1e-10,
            "{got}, not {expected}"
        );
    }
}

/// Segments of mixed lengths.
fn rows() -> Vec<Vec<C>> {
    [3, 0, 8, 1, 12, 0, 97, 2, 8, 3, 0].map(signal).to_vec()
}

#[test]
fn fft_ifft_rfft_and_irfft__of_segments__transform_each_alone() {
    let rows = rows();
    for engine in engines() {
        let force = |made: Segmented<C>| {
            let all = (&made.lengths().clone(), made.data());
            let (lengths, data) = all.force_with(&engine).unwrap();
            let mut data = data.to_vec().unwrap().into_iter();
            let row = |n: &u64| data.by_ref().take(*n as usize).collect();
            lengths.iter().map(row).collect::<Vec<Vec<C>>>()
        };
        let given = Segmented::from_vecs(rows.clone());
        let real = given.map(|z| z.re);
        let made = [
            force(given.fft()),
            force(given.fft().ifft()),
            force(given.map_segments(|row| row.fft())),
            force(given.map_segments(|row| row.fft().ifft())),
            force(real.rfft()),
            force(
                real.rfft()
                    .irfft(real.lengths())
                    .map(|x| ComplexExp::new(x, 0.0)),
            ),
        ];
        for (k, zs) in rows.iter().enumerate() {
            let xs: Vec<C> = zs.iter().map(|z| C::new(z.re, 0.0)).collect();
            let (sums, mut half) = (by_hand(zs, -1.0), by_hand(&xs, -1.0));
            half.truncate(zs.len() / 2 + 1);
            for (made, expected) in made.iter().zip([&sums, zs, &sums, zs, &half, &xs]) {
                assert_eq!(made.len(), rows.len());
                near(&made[k], expected);
            }
        }
    }
}

#[test]
fn segments_of_smaller_floats_are_transformed_too() {
    let rows: Vec<Vec<f32>> = [3, 0, 8, 1, 12, 97, 2]
        .map(|n| signal(n).iter().map(|z| z.re as f32).collect())
        .to_vec();
    let given = Segmented::from_vecs(rows.clone());
    let again = given
        .rfft()
        .irfft(&given.lengths().map(|n| n.cast::<i32>()));
    let full = given.map(|x| ComplexExp::new(x, 0.0)).fft();
    let whole = full.ifft().map(|z| z.re);
    let (again, whole) = (again.to_vecs().unwrap(), whole.to_vecs().unwrap());
    for ((xs, again), whole) in rows.iter().zip(again).zip(whole) {
        assert_eq!((xs.len(), xs.len()), (again.len(), whole.len()));
        for ((x, again), whole) in xs.iter().zip(again).zip(whole) {
            assert!((x - again).abs() < 1e-3 && (x - whole).abs() < 1e-3);
        }
    }
    let powers = given.rfft().map(|z| z.norm_sqr()).to_vecs().unwrap();
    for (xs, powers) in rows.iter().zip(powers) {
        let xs: Vec<C> = xs.iter().map(|x| C::new((*x).into(), 0.0)).collect();
        for (power, z) in powers.into_iter().zip(by_hand(&xs, -1.0)) {
            assert!((f64::from(power) - z.norm_sqr()).abs() <= 1e-4 * z.norm_sqr() + 1e-2);
        }
    }
}

/// Enough segments for several threads.
#[test]
fn many_segments_are_as_each_is_alone() {
    let n = 60_000;
    let lengths: Vec<u64> = (0..n).map(|k| [5, 0, 4, 1][k % 4]).collect();
    let len = lengths.iter().sum::<u64>();
    let xs = iota(len).map(|i| ((i * 7919) % 1013).cast::<f64>());
    let rows = Segmented::new(&Array::from(lengths), &xs);
    let again = rows.rfft().irfft(rows.lengths());
    let whole = rows.map(|x| ComplexExp::new(x, -x)).fft().ifft();
    let off = |ys: Array<f64>| (ys - &xs).map(|e| e.abs()).max().force().unwrap();
    assert!(off(again.data().clone()) < 1e-9);
    assert!(off(whole.data().re()) < 1e-9);
    assert!(off(-whole.data().im()) < 1e-9);
    let first = (rows.rfft().data().re().take(3), rows.sum().take(1));
    let (first, sum) = (&first.0, &first.1).force().unwrap();
    assert_eq!(first[0], sum[0]);
}

#[test]
fn the_powers_of_a_spectrogram_are_in_the_loop_behind() {
    let program = || {
        let xs = iota(100).map(|i| i.cast::<f64>() * 0.1);
        let window = xs.map(|x| x * (1.0 - x)).chunks(16);
        window.rfft().map(|z| z.norm_sqr()).sum()
    };
    let powers = program();
    let explained = Engine::interp().explain(&[powers.node().clone()]).unwrap();
    assert_eq!(explained.loops.len(), 1, "{explained}");
    let xs: Vec<C> = (0..100)
        .map(|i| f64::from(i) * 0.1)
        .map(|x| C::new(x * (1.0 - x), 0.0))
        .collect();
    let power = |xs: &[C]| {
        let half = xs.len() / 2 + 1;
        let sums = by_hand(xs, -1.0);
        sums[..half].iter().map(|z| z.norm_sqr()).sum::<f64>()
    };
    for engine in engines() {
        let got = program().force_with(&engine).unwrap();
        assert_eq!(got.len(), 7);
        for (got, xs) in got.iter().zip(xs.chunks(16)) {
            assert!((got / power(xs) - 1.0).abs() < 1e-10, "{got}");
        }
    }
}

#[test]
fn irfft__of_segments_that_do_not_fit__is_an_error() {
    let wrong = |result: livefusion::Result<()>, name: &str| {
        let error = result.unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
        error.kind
    };
    let zs = Array::from(signal(6));
    for lengths in [
        vec![],
        vec![6u64, 1],
        vec![5],
        vec![u64::MAX, 7],
        vec![u64::MAX],
    ] {
        let rows = Segmented::new(&Array::from(lengths.clone()), &zs);
        let of_real = Segmented::new(rows.lengths(), &zs.re());
        for (made, name) in [
            (rows.fft().data().re(), "fft"),
            (rows.ifft().data().re(), "ifft"),
            (of_real.rfft().data().re(), "rfft"),
            (rows.irfft(rows.lengths()).data().clone(), "irfft"),
        ] {
            let kind = wrong(made.force().map(|_| ()), name);
            assert!(
                matches!(kind, ErrorKind::Segments { room: 6, .. }),
                "{kind:?}"
            );
        }
    }
    // 4 numbers give 6 or 7 floats, 2 numbers give 2 or 3.
    let rows = Segmented::new(&Array::from(vec![4u64, 0, 2]), &zs);
    for (lengths, wanted, count) in [
        (vec![6i64, 0], 3, 2),
        (vec![6, 0, 2, 0], 3, 4),
        (vec![], 3, 0),
        (vec![4, 0, 2], 3, 4),
        (vec![6, 1, 2], 1, 0),
        (vec![7, 0, 0], 0, 2),
        (vec![6, 0, 4], 3, 2),
        (vec![i64::MIN, 0, 3], 1 + (1 << 62), 4),
        (vec![-1, 0, 3], 1 << 63, 4),
    ] {
        let made = rows.irfft(&Array::from(lengths));
        let kind = wrong(made.data().force().map(|_| ()), "irfft");
        let ErrorKind::LengthMismatch { expected, got } = kind else {
            panic!("{kind:?}");
        };
        assert_eq!((expected, got), (wanted, count));
    }
    assert_eq!(
        rows.irfft(&Array::from(vec![7u8, 0, 3]))
            .data()
            .force()
            .unwrap()
            .len(),
        10
    );
    let ints = Segmented::from_vecs(vec![vec![1i64]]).nodes();
    let made = ints.rfft(livefusion::ast::Builder::named("rfft"));
    let made = Array::<C>::from_node(made.data).expect("a mistake is told when it is forced");
    let kind = wrong(made.force().map(|_| ()), "rfft");
    assert!(matches!(kind, ErrorKind::Malformed { .. }), "{kind:?}");
}

#[test]
fn irfft__with_a_length_that_does_not_fit__is_an_error() {
    let zs = Array::from(signal(4));
    for n in [0, 5, 8, u64::MAX] {
        let error = zs.irfft(n).force().map(|_| ()).unwrap_err();
        assert!(
            matches!(error.kind, ErrorKind::LengthMismatch { got: 4, .. }),
            "{error}"
        );
        assert!(error.to_string().contains("irfft"), "{error}");
    }
    let ints = livefusion::ast::Builder::named("fft").fft(Array::from(vec![1i64]).node());
    let error = Array::<i64>::from_node(ints)
        .map(|_| ())
        .map_err(|e| e.to_string());
    assert_eq!(error, Ok(()), "a mistake is told when it is forced");
}
