//! Many statistics of a year of hourly temperatures at once.
//!
//! One loop runs over the hours, and a short one over the days.
//!
//! ```text
//! cargo run --release --example temperatures
//! ```

use livefusion::io::{self, DateTime};
use livefusion::prelude::*;
use livefusion_examples::{Outcome, data, timed};

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];
/// Days before each month of 2010.
const DAYS_BEFORE: [u32; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

/// The table's columns.
struct Hours {
    time: Vec<DateTime>,
    /// 0 to 11.
    month: Vec<u32>,
    /// 0 to 364.
    day: Vec<u32>,
    fahrenheit: Vec<f64>,
}

fn main() -> Outcome {
    let hours = read()?;
    let engine = Engine::builder().build();
    let (month, day) = (Array::from(&hours.month), Array::from(&hours.day));
    let celsius = Array::from(&hours.fahrenheit).map(|f| (f - 32.0) / 1.8);

    // Statistics of the year. Nothing is computed yet.
    let n = celsius.len();
    let moments = celsius.aggregate((0.0f64, 0.0, 0.0), welford_step, welford_join);
    let (coldest, hottest) = (celsius.min_index(), celsius.max_index());
    let frost = celsius.count(|c| c.lt(0.0));
    let warm = celsius.count(|c| c.ge(20.0));
    let record = celsius.scan(f64::NEG_INFINITY, |a, b| a.max(b));
    let records = record
        .zip_with(&celsius, |best, c| c.ge(best))
        .count(|is_record| is_record);
    let so_far = celsius
        .scan(0.0, |a, b| a + b)
        .zip_with(&iota(hours.fahrenheit.len()), |sum, i| {
            sum / (i + 1).cast::<f64>()
        });

    // Statistics of each month and each day.
    let low = celsius.reduce_by_index(
        &month,
        Bins {
            count: 12,
            start: f64::INFINITY,
        },
        |a, b| a.min(b),
    );
    let high = celsius.reduce_by_index(
        &month,
        Bins {
            count: 12,
            start: f64::NEG_INFINITY,
        },
        |a, b| a.max(b),
    );
    let sum = celsius.reduce_by_index(
        &month,
        Bins {
            count: 12,
            start: 0.0,
        },
        |a, b| a + b,
    );
    let ones = celsius.map(|_| 1u64);
    let count = ones.reduce_by_index(
        &month,
        Bins {
            count: 12,
            start: 0u64,
        },
        |a, b| a + b,
    );
    let day_low = celsius.reduce_by_index(
        &day,
        Bins {
            count: 365,
            start: f64::INFINITY,
        },
        |a, b| a.min(b),
    );
    let day_high = celsius.reduce_by_index(
        &day,
        Bins {
            count: 365,
            start: f64::NEG_INFINITY,
        },
        |a, b| a.max(b),
    );
    let range = day_high.zip_with(&day_low, |high, low| high - low);
    let (widest, widest_day) = (range.max(), range.max_index());

    let of_year = (
        &n,
        &moments,
        &coldest,
        &hottest,
        (&frost, &warm),
        &records,
        &so_far,
    );
    let of_parts = ((&low, &high, &sum, &count), (&widest, &widest_day));
    let all = (of_year, of_parts);
    let mut nodes = Vec::new();
    all.nodes(&mut nodes);
    let explanation = engine.explain(&nodes)?;
    let (results, time) = timed(|| all.force_with(&engine));
    let ((n, (_, mean, squares), coldest, hottest, (frost, warm), records, so_far), months) =
        results?;
    let ((low, high, sum, count), (widest, widest_day)) = months;

    let hour = |i: u64| hours.time[i as usize];
    let at = |i: u64| (hours.fahrenheit[i as usize] - 32.0) / 1.8;
    println!("Seattle 2010: {n} hours, in degrees Celsius\n");
    println!(
        "  mean                 {mean:6.2}   standard deviation {:.2}",
        (squares / n as f64).sqrt()
    );
    println!(
        "  coldest              {:6.2}   {}",
        at(coldest),
        hour(coldest)
    );
    println!(
        "  hottest              {:6.2}   {}",
        at(hottest),
        hour(hottest)
    );
    println!("  hours below freezing {frost:6}   of 20 degrees or more {warm}");
    println!("  hours that matched or beat all before {records}");
    println!(
        "  mean of the year so far: {:.2} on 1 April, {:.2} on 1 July",
        so_far[2159], so_far[4343]
    );
    println!(
        "  widest day           {widest:6.2}   {}",
        date(&hours, widest_day)
    );
    println!("\n  month    low   mean   high");
    for (m, name) in MONTHS.iter().enumerate() {
        println!(
            "  {name}   {:6.1} {:6.1} {:6.1}",
            low[m],
            sum[m] / count[m] as f64,
            high[m]
        );
    }
    check(&hours, n, mean, squares)?;

    println!(
        "\nThe plan has {} loops, since a day's range is known after its last hour only:",
        explanation.loops.len()
    );
    println!("{explanation}");
    println!("Computed in {time:.1?}; {}.", engine.counters());
    Ok(())
}

/// Number, mean, and sum of squared distances from the mean, as expressions.
type Moments = (Exp<f64>, Exp<f64>, Exp<f64>);

/// One step of Welford's method, which is numerically stable.
fn welford_step((n, mean, squares): Moments, x: Exp<f64>) -> Moments {
    let n = n + 1.0;
    let distance = x - mean;
    let mean = mean + distance / n;
    (n, mean, squares + distance * (x - mean))
}

/// Joins the moments of two neighbouring parts.
fn welford_join((n, mean, squares): Moments, (m, other, more): Moments) -> Moments {
    let all = n + m;
    let distance = other - mean;
    let share = all.gt(0.0).cond(m / all, 0.0);
    (
        all,
        mean + distance * share,
        squares + more + distance * distance * n * share,
    )
}

fn read() -> Outcome<Hours> {
    let table = io::csv(data("seattle-temps.csv")).read()?;
    let mut hours = Hours {
        time: table.times("date")?.to_vec()?,
        month: vec![],
        day: vec![],
        fahrenheit: table.column::<f64>("temp")?.to_vec()?,
    };
    for time in &hours.time {
        let (_, month, day) = time.date().parts();
        hours.month.push(month - 1);
        hours.day.push(DAYS_BEFORE[month as usize - 1] + day - 1);
    }
    Ok(hours)
}

/// The date of a day of the year.
fn date(hours: &Hours, day: u64) -> String {
    let hour = hours.day.iter().position(|d| u64::from(*d) == day);
    hour.map_or(String::new(), |h| hours.time[h].date().to_string())
}

/// Checks the results against plain loops.
fn check(hours: &Hours, n: u64, mean: f64, squares: f64) -> Outcome {
    let celsius: Vec<f64> = hours.fahrenheit.iter().map(|f| (f - 32.0) / 1.8).collect();
    let plain_mean = celsius.iter().sum::<f64>() / celsius.len() as f64;
    let plain_squares: f64 = celsius.iter().map(|c| (c - plain_mean).powi(2)).sum();
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs();
    if n as usize != celsius.len() || !close(mean, plain_mean) || !close(squares, plain_squares) {
        return Err(format!("expected mean {plain_mean}, got {mean}").into());
    }
    Ok(())
}
