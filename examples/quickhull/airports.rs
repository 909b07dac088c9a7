//! The table of airports.

use livefusion::io::Csv;
use livefusion_examples::Outcome;

/// Holds a row of the table.
pub struct Airport {
    /// Code: `SEA`.
    pub iata: String,
    /// Name.
    pub name: String,
    /// City.
    pub city: String,
    /// State.
    pub state: String,
    /// Country.
    pub country: String,
    /// Degrees east.
    pub longitude: f64,
    /// Degrees north.
    pub latitude: f64,
}

impl Airport {
    /// Returns city and state.
    ///
    /// If they are unknown, returns the country.
    pub fn place(&self) -> String {
        if self.city == "NA" {
            self.country.clone()
        } else {
            format!("{}, {}", self.city, self.state)
        }
    }
}

/// Reads `iata,name,city,state,country,latitude,longitude`.
pub fn read(table: Csv) -> Outcome<Vec<Airport>> {
    let names = ["iata", "name", "city", "state", "country"];
    let table = names.iter().fold(table, |table, name| table.text(*name));
    let table = table.read()?;
    let longitudes = table.column::<f64>("longitude")?.force()?;
    let latitudes = table.column::<f64>("latitude")?.force()?;
    let mut texts = Vec::new();
    for name in names {
        texts.push(table.text(name)?);
    }
    let degrees = longitudes.iter().zip(&latitudes);
    let airports = degrees.map(|(longitude, latitude)| {
        let mut texts = texts.iter_mut().map(|t| t.next().unwrap_or("").to_string());
        let mut text = || texts.next().unwrap_or_default();
        Airport {
            iata: text(),
            name: text(),
            city: text(),
            state: text(),
            country: text(),
            longitude: *longitude,
            latitude: *latitude,
        }
    });
    Ok(airports.collect())
}
