//! Text arrays: codes in the order of the texts.

use super::error::{ErrorKind, Place, Result};
use super::table::Table;
use crate::array::Array;
use crate::elt::{Int, collected};
use crate::exp::Exp;
use std::fmt;
use std::sync::Arc;

/// Holds distinct texts in ascending order.
///
/// The position of a text is its code.
///
/// ```
/// use livefusion::io::Labels;
/// let labels = Labels::of(["Oslo", "Bern", "Oslo"]);
/// assert_eq!((labels.len(), labels.code("Oslo"), labels.get(0)), (2, Some(1), Some("Bern")));
/// ```
#[derive(Clone, Eq, Default)]
pub struct Labels(Arc<[Arc<str>]>);

impl PartialEq for Labels {
    /// Compares the texts only if the lists are not shared.
    fn eq(&self, other: &Labels) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl Labels {
    /// Sorts texts and removes duplicates.
    pub fn of<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> Labels {
        let mut all: Vec<Arc<str>> = texts.into_iter().map(|t| t.as_ref().into()).collect();
        all.sort_unstable();
        all.dedup();
        Labels(all.into())
    }

    /// Returns the number of texts.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no texts.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the text of a code.
    ///
    /// None if no text has it.
    pub fn get(&self, code: u32) -> Option<&str> {
        self.0.get(code as usize).map(|text| &**text)
    }

    /// Returns the code of a text.
    ///
    /// None if the text is not in the list.
    pub fn code(&self, text: &str) -> Option<u32> {
        let at = self.0.binary_search_by(|known| (**known).cmp(text));
        at.ok().map(|code| code as u32)
    }

    /// Counts the texts before a text.
    pub fn before(&self, text: &str) -> u32 {
        self.0.partition_point(|known| **known < *text) as u32
    }

    /// Lists all texts in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &str> + ExactSizeIterator {
        self.0.iter().map(|text| &**text)
    }

    /// Merges two lists without duplicates.
    ///
    /// *Cost.* One pass over both; none where this list already contains the others.
    ///
    /// *Cost.* One pass over both; none where the others are among these.
    pub fn merged(&self, others: &Labels) -> Labels {
        if Arc::ptr_eq(&self.0, &others.0) || others.iter().all(|text| self.code(text).is_some()) {
            return self.clone();
        }
        let mut all: Vec<Arc<str>> = self.0.iter().chain(others.0.iter()).cloned().collect();
        all.sort();
        all.dedup();
        Labels(all.into())
    }

    /// Returns the code of each text in another list.
    ///
    /// A text that is not in the other list gets the number of texts before it.
    pub fn codes_in(&self, others: &Labels) -> Vec<u32> {
        self.iter().map(|text| others.before(text)).collect()
    }
}

impl fmt::Debug for Labels {
    /// Formats the first 20 texts.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().take(20)).finish()
    }
}

/// Represents an array of text by codes and labels.
///
/// The codes are in memory or computed. Their order is the order of the texts. So comparisons,
/// sorts and groups of the [`codes`](Texts::codes) of one array are those of its texts, and
/// [`with_codes`](Texts::with_codes) turns the result back into text. Codes of two arrays are
/// unrelated: [`join`](Texts::join) and [`alike`](Texts::alike) give both the same labels.
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::io;
/// let people = io::csv_text("name,height\nWang,1.6\nAda,1.7\nBo,1.8\n").read()?;
/// let names = people.texts("name")?;
/// let heights = people.column::<f64>("height")?;
/// assert_eq!(heights.pack(&names.lt("C")).sum().force()?, 3.5);
/// assert_eq!(names.with_codes(&names.codes().sort()).to_vec()?, ["Ada", "Bo", "Wang"]);
/// # Ok::<(), livefusion::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Texts {
    codes: Array<u32>,
    labels: Labels,
}

macro_rules! comparisons {
    ($($(#[$doc:meta])* $name:ident, $with:ident => |$codes:ident, $at:ident, $behind:ident| $e:expr;)*) => {
        /// Comparisons with one text, or elementwise with an array of texts, in the order of `str`.
        /// Each compares codes once.
        impl Texts {
            $($(#[$doc])*
            #[track_caller]
            pub fn $name(&self, text: &str) -> Array<bool> {
                let $at = self.labels.before(text);
                let $behind = $at + u32::from(self.labels.code(text).is_some());
                self.codes.map(|$codes: Exp<u32>| $e)
            }

            /// Compares element by element.
            #[track_caller]
            pub fn $with(&self, others: &Texts) -> Array<bool> {
                let (own, others) = self.alike(others);
                own.codes.zip_with(&others.codes, |a, b| a.$name(b))
            })*
        }
    };
}

comparisons! {
    /// Compares each with this text for equality.
    eq, eq_each => |c, at, behind| c.ge(at).and(c.lt(behind));
    /// Compares each with this text for inequality.
    ne, ne_each => |c, at, behind| c.lt(at).or(c.ge(behind));
    /// Returns whether each is before this text.
    lt, lt_each => |c, at, _behind| c.lt(at);
    /// Returns whether each is this text or before it.
    le, le_each => |c, _at, behind| c.lt(behind);
    /// Returns whether each is after this text.
    gt, gt_each => |c, _at, behind| c.ge(behind);
    /// Returns whether each is this text or after it.
    ge, ge_each => |c, at, _behind| c.ge(at);
}

impl Texts {
    /// Creates a text array from texts in memory.
    pub fn of<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> Texts {
        let all: Vec<S> = texts.into_iter().collect();
        let labels = Labels::of(&all);
        let codes: Vec<u32> = all.iter().map(|t| labels.before(t.as_ref())).collect();
        let codes = Array::from(codes);
        Texts { codes, labels }
    }

    /// Creates a text array from codes and labels.
    ///
    /// The codes are positions in the labels.
    pub fn new(codes: &Array<u32>, labels: &Labels) -> Texts {
        let (codes, labels) = (codes.clone(), labels.clone());
        Texts { codes, labels }
    }

    /// Returns the code of each element.
    pub fn codes(&self) -> &Array<u32> {
        &self.codes
    }

    /// Returns the labels of the codes.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// Creates a text array of other codes with the same labels.
    ///
    /// The codes may be a selection, another order, or groups of these.
    pub fn with_codes(&self, codes: &Array<u32>) -> Texts {
        Texts::new(codes, &self.labels)
    }

    /// Gives both arrays the same labels, so that equal texts have equal codes.
    ///
    /// Joins and concatenations need this.
    ///
    /// *Cost and fusion.* Labels are merged immediately. If they differ, codes are translated by a
    /// gather, which fuses.
    #[track_caller]
    pub fn alike(&self, others: &Texts) -> (Texts, Texts) {
        let labels = self.labels.merged(&others.labels);
        (self.among(&labels), others.among(&labels))
    }

    /// Pairs the indices of equal texts.
    ///
    /// It is as [`Array::join`].
    ///
    /// ```
    /// use livefusion::io::Texts;
    /// let (here, there) = (Texts::of(["Oslo", "Rome", "Bern"]), Texts::of(["Rome", "Oslo"]));
    /// assert_eq!(here.join(&there).force()?, [(0, 1), (1, 0)]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* As [`alike`](Texts::alike) and [`Array::join`].
    ///
    /// # Errors
    /// As [`Array::join`].
    #[track_caller]
    pub fn join(&self, others: &Texts) -> Array<(u64, u64)> {
        let (own, others) = self.alike(others);
        own.codes.join(&others.codes)
    }

    /// Pairs the index of each text with the indices of equal texts.
    ///
    /// It is as [`Array::left_join`].
    ///
    /// ```
    /// use livefusion::io::Texts;
    /// let (here, there) = (Texts::of(["Oslo", "Bern"]), Texts::of(["Rome", "Oslo"]));
    /// assert_eq!(here.left_join(&there).force()?, [(0, 1, true), (1, 0, false)]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* As [`alike`](Texts::alike) and [`Array::left_join`].
    ///
    /// # Errors
    /// As [`Array::left_join`].
    #[track_caller]
    pub fn left_join(&self, others: &Texts) -> Array<(u64, u64, bool)> {
        let (own, others) = self.alike(others);
        own.codes.left_join(&others.codes)
    }

    /// Keeps the texts whose tag is true.
    ///
    /// It is as [`Array::pack`].
    ///
    /// *Fusion.* It fuses.
    ///
    /// # Errors
    /// As [`Array::pack`].
    #[track_caller]
    pub fn pack(&self, tags: &Array<bool>) -> Texts {
        self.with_codes(&self.codes.pack(tags))
    }

    /// Reads the texts at indices.
    ///
    /// It is as [`Array::gather`].
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// use livefusion::io::Texts;
    /// let names = Texts::of(["Wang", "Ada", "Bo"]);
    /// let short = names.pack(&names.lt("C"));
    /// assert_eq!(short.gather(&Array::from(vec![1, 0, 1])).to_vec()?, ["Bo", "Ada", "Bo"]);
    /// # Ok::<(), livefusion::io::Error>(())
    /// ```
    ///
    /// *Fusion.* It fuses.
    ///
    /// # Errors
    /// As [`Array::gather`].
    #[track_caller]
    pub fn gather<I: Int>(&self, indices: &Array<I>) -> Texts {
        self.with_codes(&self.codes.gather(indices))
    }

    /// The same texts, with codes into a larger list of labels.
    #[track_caller]
    fn among(&self, labels: &Labels) -> Texts {
        if self.labels == *labels {
            return self.clone();
        }
        let codes = Array::from(self.labels.codes_in(labels));
        Texts::new(&codes.gather(&self.codes), labels)
    }

    /// Computes the texts.
    ///
    /// # Errors
    /// As [`force`](Array::force). Also if a code has no label.
    pub fn to_vec(&self) -> Result<Vec<String>> {
        let codes = self.codes.force()?;
        codes.fetch()?;
        let text = |code: &u32| {
            let text = self.labels.get(*code).map(String::from);
            text.ok_or_else(|| {
                let expected = format!("a code of one of {} texts", self.labels.len());
                ErrorKind::malformed(expected, code.to_string()).at(None, Place::Whole)
            })
        };
        codes.iter().map(text).collect()
    }
}

impl Table {
    /// Returns a column of text as a text array.
    ///
    /// *Cost.* A sort of the labels and one pass over the rows. A missing text is usually empty.
    ///
    /// *Cost.* Sorts the labels, and one pass over the rows. The substitute for a missing text is mostly empty.
    ///
    /// # Errors
    /// As [`codes`](Table::codes).
    #[track_caller]
    pub fn texts(&self, name: &str) -> Result<Texts> {
        let text = self.find_text(name)?;
        let labels = Labels::of(&text.labels);
        let places: Vec<u32> = text.labels.iter().map(|t| labels.before(t)).collect();
        let codes: &[u32] = text.codes.as_slice().unwrap_or_default();
        let codes = codes
            .iter()
            .filter_map(|c| places.get(*c as usize).copied());
        let codes = collected(text.codes.len(), codes);
        let bytes = 4 * text.codes.len() as u64;
        let codes = codes.ok_or_else(|| self.fault(name, ErrorKind::Memory { bytes }))?;
        Ok(Texts::new(&Array::from(codes), &labels))
    }

    /// Computes texts and adds them as a column.
    ///
    /// It replaces a column of the same name.
    ///
    /// # Errors
    /// As [`to_vec`](Texts::to_vec). Also if the number of texts differs from the table's number of
    /// rows.
    pub fn with_texts(self, name: impl Into<String>, texts: &Texts) -> Result<Table> {
        self.with_text(name, texts.to_vec()?)
    }
}
