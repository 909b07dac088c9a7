//! Updates in place: dead arrays are updated, live arrays are copied.
//!
//! The alias cases are those that a language with updates must reject. Here arrays are immutable,
//! and the plan knows every reader. A memory limit distinguishes an update in place from a copy.

use livefusion::prelude::*;
use livefusion::{ErrorKind, Result};
use livefusion_backend::Backend;
use livefusion_c::CBackend;
use livefusion_interp::InterpBackend;
use std::sync::Arc;

const N: u64 = 10_000;

/// Engines with memory for one and a half arrays.
fn tight() -> [Engine; 2] {
    let backends: [Arc<dyn Backend>; 2] =
        [Arc::new(InterpBackend::new()), Arc::new(CBackend::new())];
    backends.map(|b| Engine::builder().backend(b).memory_limit(12 * N).build())
}

fn squares() -> Array<i64> {
    iota(N).map(|i| (i * i).cast::<i64>())
}

fn plain() -> Vec<i64> {
    (0..N as i64).map(|i| i * i).collect()
}

#[test]
fn in_place_changes_a_sole_owners_array() -> Result<()> {
    for engine in tight() {
        let xs = squares().update(3, 7).update(0, -1).update(3, 8);
        let mut want = plain();
        (want[0], want[3]) = (-1, 8);
        assert_eq!(xs.force_with(&engine)?, want);
    }
    Ok(())
}

#[test]
fn many_values_at_once() -> Result<()> {
    for engine in tight() {
        let (ixs, vals) = (Array::from(vec![5i64, 2, 5]), Array::from(vec![1i64, 2, 3]));
        let xs = squares().scatter_with(&ixs, &vals, |old, new| old + new);
        let mut want = plain();
        (want[5], want[2]) = (25 + 1 + 3, 4 + 2);
        assert_eq!(xs.force_with(&engine)?, want);
    }
    Ok(())
}

/// A length among the results does not force a copy of an earlier loop's array.
#[test]
fn a_length_beside_it_is_no_reason_to_copy() -> Result<()> {
    for engine in tight() {
        let xs = squares().update(3, 7);
        let some = iota(5).filter(|i| i.gt(1)).len();
        let (xs, n) = (&xs, &some).force_with(&engine)?;
        assert_eq!((xs[3], n), (7, 3));
    }
    Ok(())
}

/// `let b = a with [0] <- 9 in (a, b)`: both are results.
#[test]
fn a_result_is_copied() -> Result<()> {
    for engine in tight() {
        let a = squares();
        let b = a.update(0, 9);
        let refused = (&a, &b).force_with(&engine).map(|_| ());
        let kind = refused.expect_err("there is no room for two").kind;
        assert!(matches!(kind, ErrorKind::Memory { .. }), "{kind}");
    }
    let a = squares();
    let b = a.update(0, 9);
    let (a, b) = (&a, &b).force()?;
    assert_eq!((a[0], b[0], a[1], b[1]), (0, 9, 1, 1));
    Ok(())
}

/// `let b = a with [1] <- 9 in a[1] + b[1]`: the old state is read after the update.
#[test]
fn in_place_copies_an_array_read_later() -> Result<()> {
    for engine in [Engine::interp(), Engine::c()] {
        let a = squares();
        let b = a.update(1, 9);
        // The indices of this gather depend on `b`, so it runs in a loop after the update.
        let ixs = b.map(|x| x % 3);
        let c = a.gather(&ixs);
        let got = c.force_with(&engine)?;
        let old = plain();
        let mut new = plain();
        new[1] = 9;
        let want: Vec<i64> = new.iter().map(|x| old[(x % 3) as usize]).collect();
        assert_eq!(got, want);
    }
    Ok(())
}

/// Two updates of one array: each copies the old state.
#[test]
fn two_updates_of_one_array() -> Result<()> {
    for engine in [Engine::interp(), Engine::c()] {
        let a = squares();
        let (b, c) = (a.update(2, -2), a.update(3, -3));
        let (b, c) = (&b, &c).force_with(&engine)?;
        assert_eq!((b[2], b[3], c[2], c[3]), (-2, 9, 4, -3));
    }
    Ok(())
}

#[test]
fn arrays_of_the_users_stay() -> Result<()> {
    for engine in [Engine::interp(), Engine::c()] {
        let xs = Array::from(vec![1i64, 2, 3]);
        assert_eq!(xs.update(1, 9).force_with(&engine)?, [1, 9, 3]);
        assert_eq!(xs.force_with(&engine)?, [1, 2, 3]);
        // The user forced it in between and holds it.
        let ys = xs.map(|x| x * 10);
        ys.force_with(&engine)?;
        assert_eq!(ys.update(0, 0).force_with(&engine)?, [0, 20, 30]);
        assert_eq!(ys.to_vec()?, [10, 20, 30]);
    }
    Ok(())
}

#[test]
fn a_failed_update_says_where() {
    for engine in tight() {
        let error = squares()
            .update(N, 1)
            .force_with(&engine)
            .expect_err("outside");
        assert_eq!(error.combinator, "update");
        let want = ErrorKind::OutOfRange {
            index: N.into(),
            len: N,
        };
        assert_eq!(error.kind, want);
    }
}
