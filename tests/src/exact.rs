//! Exact references for correctly rounded results, by arbitrary-precision numbers.

use astro_float_num::BigFloat;

/// The exponent shift for subnormal numbers, which the reference reads incorrectly.
const LIFT: i32 = 200;

/// A finite number, exact.
fn big(x: f64) -> BigFloat {
    if x == 0.0 || x.is_normal() {
        return BigFloat::from_f64(x, 64);
    }
    let mut lifted = BigFloat::from_f64(x * 2f64.powi(LIFT), 64);
    lifted.set_exponent(lifted.exponent().unwrap_or(0) - LIFT);
    lifted
}

/// An exact sum. The library's sum loses the other operand of a zero.
fn sum(a: &BigFloat, b: &BigFloat) -> BigFloat {
    match (a.is_zero(), b.is_zero()) {
        (true, _) => b.clone(),
        (_, true) => a.clone(),
        _ => a.add_full_prec(b),
    }
}

/// An exact product.
fn product(a: &BigFloat, b: &BigFloat) -> BigFloat {
    match a.is_zero() || b.is_zero() {
        true => big(0.0),
        false => a.mul_full_prec(b),
    }
}

/// The float nearest to an exact value between two floats; ties go to even.
fn nearest(value: &BigFloat, low: f64, high: f64) -> f64 {
    // The largest float not above the value, by bisection of the ordered floats.
    let place = |x: f64| {
        let bits = x.to_bits() as i64;
        i128::from(if bits < 0 { i64::MIN - bits } else { bits })
    };
    let float = |place: i128| {
        let bits = place as i64;
        f64::from_bits(if bits < 0 { i64::MIN - bits } else { bits } as u64)
    };
    let (mut from, mut to) = (place(low), place(high));
    while from < to {
        let middle = (from + to + 1).div_euclid(2);
        match big(float(middle)) <= *value {
            true => from = middle,
            false => to = middle - 1,
        }
    }
    let below = float(from);
    let above = below.next_up().min(high);
    let twice = sum(&big(below), &big(above));
    let value = sum(value, value);
    match value.partial_cmp(&twice) {
        Some(std::cmp::Ordering::Less) => below,
        Some(std::cmp::Ordering::Equal) if below.to_bits() % 2 == 0 => below,
        _ => above,
    }
}

/// Interpolates between two floats with one rounding.
///
/// `part` is between 0 and 1, and `low <= high`. An infinite end decides alone; between both
/// infinities the result is NaN.
pub fn between(low: f64, high: f64, part: f64) -> f64 {
    match (low, high) {
        _ if low == high || part == 0.0 => low,
        _ if part == 1.0 => high,
        (f64::NEG_INFINITY, f64::INFINITY) => f64::NAN,
        (f64::NEG_INFINITY, _) => low,
        (_, f64::INFINITY) => high,
        _ => {
            let (low_end, part) = (big(low), big(part));
            let way = product(&sum(&big(high), &big(-low)), &part);
            nearest(&sum(&low_end, &way), low, high)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::between;

    #[test]
    fn between_far_and_near_ends_is_rounded_once() {
        let (max, tiny) = (f64::MAX, f64::from_bits(1));
        assert_eq!(between(-max, max, 0.5), 0.0);
        assert_eq!(between(0.0, max, 0.5), max / 2.0);
        assert_eq!(between(0.0, tiny, 0.75), tiny);
        assert_eq!(between(0.0, tiny, 0.5), 0.0);
        assert_eq!(between(tiny, 3.0 * tiny, 0.5), 2.0 * tiny);
        assert_eq!(between(1.0, 1.0f64.next_up(), 0.5), 1.0);
        assert_eq!(between(-1.0, 3.0, 0.25), 0.0);
        assert_eq!(between(1.0, 2.0, tiny), 1.0);
    }
}
