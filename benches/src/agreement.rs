//! Agreement of results with the reference.

use crate::data::Data;

/// Bounds the difference between a result and the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Agreement {
    /// No difference.
    Exact,
    /// This share of the column's largest magnitude: floats are added in another order.
    Within(f64),
    /// This share of the elements may differ: rounding decides between paths.
    Mostly(f64),
}

impl Agreement {
    /// Describes the first fault of the results.
    ///
    /// None if they agree.
    pub fn fault(self, got: &[Data], want: &[Data]) -> Option<String> {
        if got.len() != want.len() {
            return Some(format!("{} columns, not {}", got.len(), want.len()));
        }
        let mut columns = got.iter().zip(want).enumerate();
        columns.find_map(|(k, (got, want))| {
            let fault = self.column_fault(got, want)?;
            Some(format!("column {k}: {fault}"))
        })
    }

    fn column_fault(self, got: &Data, want: &Data) -> Option<String> {
        if (got.ty(), got.len()) != (want.ty(), want.len()) {
            let of = |d: &Data| format!("{} of {:?}", d.len(), d.ty());
            return Some(format!("{}, not {}", of(got), of(want)));
        }
        let numbers = || (0..want.len()).filter_map(|i| Some((i, got.number(i)?, want.number(i)?)));
        let largest = || numbers().map(|(_, _, w)| w.abs()).fold(0.0, f64::max);
        let far = match self {
            Agreement::Within(share) => share * largest(),
            Agreement::Exact | Agreement::Mostly(_) => 0.0,
        };
        let wrong = |(_, g, w): &(usize, f64, f64)| (g - w).abs() > far || g.is_nan() != w.is_nan();
        let allowed = match self {
            Agreement::Mostly(share) => (share * want.len() as f64) as usize,
            Agreement::Exact | Agreement::Within(_) => 0,
        };
        let count = numbers().filter(wrong).count();
        let first = numbers().find(wrong).filter(|_| count > allowed);
        first.map(|(i, g, w)| format!("element {i} is {g}, not {w} ({count} such)"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(agreement: Agreement, got: &[f64], want: &[f64]) -> Option<String> {
        let data = |x: &[f64]| [Data::result(x.to_vec())];
        agreement.fault(&data(got), &data(want))
    }

    #[test]
    fn faults_are_found() {
        let (want, near) = ([1.0, 4.0], [1.0 + 1e-9, 4.0]);
        assert_eq!(fault(Agreement::Exact, &want, &want), None);
        assert!(fault(Agreement::Exact, &near, &want).is_some());
        assert_eq!(fault(Agreement::Within(1e-9), &near, &want), None);
        assert!(fault(Agreement::Within(1e-10), &near, &want).is_some());
        assert_eq!(fault(Agreement::Mostly(0.5), &near, &want), None);
        assert!(fault(Agreement::Mostly(0.4), &near, &want).is_some());
        assert!(fault(Agreement::Mostly(1.0), &[1.0], &want).is_some());
        assert!(fault(Agreement::Within(1.0), &[f64::NAN, 4.0], &want).is_some());
    }
}
