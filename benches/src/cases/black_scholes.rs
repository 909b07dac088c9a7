//! Black-Scholes: the values of a call and a put from price, strike and years.

use super::{Agreement, Case, fused, prepared, rayon};
use crate::data::{Data, Input, Random};
use livefusion::prelude::*;
use rayon::prelude::*;

const RISK_FREE: f64 = 0.02;
const VOLATILITY: f64 = 0.30;
const COEFFICIENTS: [f64; 5] = [
    0.319_381_54,
    -0.356_563_78,
    1.781_477_9,
    -1.821_255_9,
    1.330_274_5,
];
const RSQRT_2PI: f64 = 0.398_942_3;

macro_rules! black_scholes {
    ($($(#[$doc:meta])* $CASE:ident $name:literal $module:ident $T:ident $tolerance:literal;)*) => {$(
        $(#[$doc])*
        pub const $CASE: Case = Case {
            name: $name,
            file: "black_scholes.c",
            large: 10_000_000,
            agreement: Agreement::Within($tolerance),
            input: |n| {
                let mut random = Random::new(1);
                let mut column = |low: f64, high: f64| {
                    let numbers = random.between(n, low, high);
                    Data::input(numbers.into_iter().map(|x| x as $T).collect())
                };
                vec![column(5.0, 30.0), column(1.0, 100.0), column(0.25, 10.0)]
            },
            reference: $module::by_iterators,
            ours: |engine, input| {
                let [price, strike, years] = [0, 1, 2].map(|k| input[k].array::<$T>());
                prepared(engine, (price, strike, years), |(price, strike, years)| {
                    $module::program(&zip((&price, &strike, &years)))
                })
            },
            rust: &[fused($module::by_iterators), rayon($module::in_parallel)],
        };

        mod $module {
            use super::*;

            pub fn program(options: &Array<($T, $T, $T)>) -> Array<($T, $T)> {
                options.map(|(price, strike, years)| {
                    let v = VOLATILITY as $T * years.sqrt();
                    let drift = (RISK_FREE + 0.5 * VOLATILITY * VOLATILITY) as $T;
                    let d1 = ((price / strike).ln() + drift * years) / v;
                    let d2 = d1 - v;
                    let (c1, c2) = (cnd_exp(d1), cnd_exp(d2));
                    let rest = strike * (-(RISK_FREE as $T) * years).exp();
                    (price * c1 - rest * c2, rest * (1.0 - c2) - price * (1.0 - c1))
                })
            }

            /// Cumulative normal distribution.
            fn cnd_exp(d: Exp<$T>) -> Exp<$T> {
                let k = 1.0 / (1.0 + 0.231_641_9 * d.abs());
                let terms = COEFFICIENTS.iter().rev();
                let poly = terms.fold(Exp::lit(0.0), |sum, c| k * (*c as $T + sum));
                let c = RSQRT_2PI as $T * (-0.5 * d * d).exp() * poly;
                d.gt(0.0).cond(1.0 - c, c)
            }

            fn cnd(d: $T) -> $T {
                let k = 1.0 / (1.0 + 0.231_641_9 * d.abs());
                let poly = COEFFICIENTS.iter().rev().fold(0.0, |sum, c| k * (*c as $T + sum));
                let c = RSQRT_2PI as $T * (-0.5 * d * d).exp() * poly;
                if d > 0.0 { 1.0 - c } else { c }
            }

            fn value(((price, strike), years): ((&$T, &$T), &$T)) -> ($T, $T) {
                let v = VOLATILITY as $T * years.sqrt();
                let drift = (RISK_FREE + 0.5 * VOLATILITY * VOLATILITY) as $T;
                let d1 = ((price / strike).ln() + drift * years) / v;
                let d2 = d1 - v;
                let (c1, c2) = (cnd(d1), cnd(d2));
                let rest = strike * (-(RISK_FREE as $T) * years).exp();
                (price * c1 - rest * c2, rest * (1.0 - c2) - price * (1.0 - c1))
            }

            pub fn by_iterators(input: &Input) -> Vec<Data> {
                let [price, strike, years] = [0, 1, 2].map(|k| input[k].of::<$T>());
                let values = price.iter().zip(strike).zip(years).map(value);
                let (calls, puts): (Vec<$T>, Vec<$T>) = values.unzip();
                vec![Data::result(calls), Data::result(puts)]
            }

            pub fn in_parallel(input: &Input) -> Vec<Data> {
                let [price, strike, years] = [0, 1, 2].map(|k| input[k].of::<$T>().par_iter());
                let values = price.zip(strike).zip(years).map(value);
                let (calls, puts): (Vec<$T>, Vec<$T>) = values.unzip();
                vec![Data::result(calls), Data::result(puts)]
            }
        }
    )*};
}

black_scholes! {
    /// In single precision.
    F32 "blackScholesF32" single f32 1e-5;
    /// In double precision.
    F64 "blackScholesF64" double f64 1e-12;
}
