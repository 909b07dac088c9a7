//! The airports' table.

use livefusion_examples::Outcome;
use std::io::Read;

/// A row of the table.
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
    /// City and state, as far as they are known, else the country.
    pub fn place(&self) -> String {
        if self.city == "NA" {
            self.country.clone()
        } else {
            format!("{}, {}", self.city, self.state)
        }
    }
}

/// Reads `iata,name,city,state,country,latitude,longitude`.
pub fn read(table: impl Read) -> Outcome<Vec<Airport>> {
    let mut table = csv::Reader::from_reader(table);
    let rows = table.deserialize::<(String, String, String, String, String, f64, f64)>();
    rows.map(|row| {
        let (iata, name, city, state, country, latitude, longitude) = row?;
        Ok(Airport {
            iata,
            name,
            city,
            state,
            country,
            longitude,
            latitude,
        })
    })
    .collect()
}
