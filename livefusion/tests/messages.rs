//! Error messages: the call, the element, the expected and the actual value.

use crate::common::engines;
use livefusion::prelude::*;
use livefusion::{Error, ErrorKind};

fn error<T: livefusion::Elt, D: Rank>(a: &Array<T, D>, engine: &Engine) -> Error {
    a.force_with(engine).err().expect("an error")
}

#[test]
fn a_search_without_a_match_speaks_of_the_test() {
    for engine in engines() {
        let xs = Array::from(vec![1i64, 5, 7]);
        for (e, name) in [
            (error(&xs.find(|x| x.gt(9)), &engine), "find"),
            (error(&xs.position(|x| x.gt(9)), &engine), "position"),
        ] {
            assert_eq!((e.combinator, &e.kind), (name, &ErrorKind::NotFound));
            let text = e.to_string();
            let end = ": expected an element for which the test holds, got none";
            assert!(text.ends_with(end), "{text}");
        }
        let none = xs.filter(|x| x.gt(9));
        assert_eq!(error(&none.max(), &engine).kind, ErrorKind::Empty);
        assert_eq!(error(&none.first(), &engine).kind, ErrorKind::Empty);
    }
}

#[test]
fn a_slice_that_runs_backwards_says_so() {
    for engine in engines() {
        let xs = Array::from(vec![1i64, 2, 3, 4]).filter(|x| x.gt(0));
        let e = error(&xs.slice(std::ops::Range { start: 3, end: 1 }), &engine);
        assert!(
            e.to_string().ends_with("got 3..1, which runs backwards"),
            "{e}"
        );
        let e = error(&xs.slice(3..9), &engine);
        let end = "expected a slice that ends by 4, the array's length, got 3..9";
        assert!(e.to_string().ends_with(end), "{e}");
    }
}

#[test]
fn memory_that_runs_out_is_told_without_contradiction() {
    let engine = Engine::builder().memory_limit(1000).build();
    let xs = iota(100).map(|i| i + 1);
    let both = (&xs, &xs.reverse().scan_seq(0u64, |a, b| a * 3 + b));
    let e = both.force_with(&engine).expect_err("1600 bytes");
    let end = "expected room for 800 bytes more, got less: the engine's limit for all results together is 1000";
    assert!(e.to_string().ends_with(end), "{e}");
    let e = error(&iota(u64::MAX / 2), &Engine::interp());
    let told = match cfg!(target_os = "linux") {
        true => "bytes more, got less: the engine's limit for all results together is ",
        false => "bytes, the system has none",
    };
    assert!(e.to_string().contains(told), "{e}");
}

#[test]
fn the_element_at_fault_is_told() {
    for engine in engines() {
        let mut divisors = vec![3i64; 40_000];
        divisors[30_017] = 0;
        let xs = Array::from(divisors);
        let e = error(&xs.map(|x| 12 / x), &engine);
        assert_eq!(e.element, Some(30_017));
        let end = ", element 30017: expected a divisor other than 0, got 12 / 0";
        assert!(e.to_string().ends_with(end), "{e}");
        // The position counts iterations of the loop, also after a filter.
        let e = error(&xs.filter(|x| x.ne(2)).map(|x| x % 0).sum(), &engine);
        assert_eq!(e.element, Some(0));
        let at = iota(9).map(|i| i.eq(7).cond(-4i64, 2));
        let e = error(&Array::from(vec![1.0, 2.0, 3.0]).gather(&at), &engine);
        assert_eq!(e.element, Some(7));
        assert!(
            e.to_string()
                .ends_with("element 7: expected an index below 3, got -4"),
            "{e}"
        );
        // In segments, it is told with its row.
        let rows = Segmented::from_vecs(vec![vec![1i64], vec![0, 2]]);
        let e = error(
            rows.zip_with_each(&rows.sum(), |a, t| t / a).data(),
            &engine,
        );
        assert_eq!(
            (e.row, e.element, e.kind),
            (
                Some(1),
                Some(0),
                ErrorKind::Division {
                    dividend: 2,
                    divisor: 0
                }
            )
        );
    }
}

#[test]
fn message_of_a_term_behind_a_loop_has_no_element() {
    for engine in engines() {
        let xs = Array::from(vec![6i64, 7, 8]);
        let mean = &xs.sum() / &(&xs.len().map(|n| n.cast::<i64>()) - 3);
        let e = error(&mean, &engine);
        let end = ": expected a divisor other than 0, got 21 / 0";
        assert_eq!(e.element, None, "{e}");
        assert!(e.to_string().ends_with(end), "{e}");
    }
}

#[test]
fn conditions_nest_as_deep_as_is_documented() {
    fn nested(x: Exp<i64>, depth: i64) -> Exp<i64> {
        match depth {
            0 => x * 2,
            _ => x.eq(depth).cond(12 / x, nested(x, depth - 1)),
        }
    }
    let xs = Array::from(vec![1i64, 50, 200]);
    for engine in [Engine::interp(), Engine::jit()] {
        let ys = xs.map(|x| nested(x, 90));
        assert_eq!(ys.force_with(&engine).expect("90 are fine"), [12, 0, 400]);
        let e = error(&xs.map(|x| nested(x, 95)), &engine);
        let end = "expected conditions nested at most 90 deep, got deeper ones";
        assert!(e.to_string().ends_with(end), "{e}");
    }
}

/// Three arrays of different lengths in one loop, two of which are zipped with the third later. The
/// reported lengths identify the zip.
#[test]
fn a_zip_is_told_of_its_own_lengths() {
    for engine in engines() {
        let counted = |n: u64| {
            let count = Array::from(vec![n, 0]).sum();
            generate(&count, |i| i % 5)
        };
        let (six, four) = (counted(6), counted(4));
        let xs = Array::from(vec![1u64, 2]).zip_with(&Array::from(vec![3u64, 4]), |x, y| x + y);
        let (all, some) = (six.sum(), four.sum());
        let first = four.zip_with(&xs, |x, y| x + y + &some);
        let second = six.zip_with(&xs, |x, y| x * y + &all);
        let error = (&second, &first, &xs).force_with(&engine).err();
        let kind = error.map(|e| e.kind);
        let told = [4, 6].map(|expected| Some(ErrorKind::LengthMismatch { expected, got: 2 }));
        assert!(told.contains(&kind), "{kind:?}");
    }
}
