//! Table rows in generated Rust: tuples of needed columns, groups, aggregates.
//!
//! Text appears as codes, which have the order of the texts.

use super::code::{Code, ident, tuple};
use super::expression::{Writer, refuse};
use super::functions::names;
use super::notes::{Note, Notes};
use crate::eval::Result;
use crate::syntax::{Expr, ExprKind, Field, Function, Literal, Statement, StatementKind};
use crate::value::Elt;
use livefusion::io::Labels;
use std::collections::HashSet;

/// Combinators of rows with the same form on tuples.
const OF_ROWS: &[&str] = &[
    "map", "filter", "take", "drop", "head", "reverse", "len", "count", "any", "all", "sort_by",
    "group_by", "agg",
];

/// The message about texts without a column.
const NO_COLUMN: &str = "these texts are of no column of a table, and so have no codes in Rust";

/// The widest tuple that the typed API zips.
const MOST: usize = 6;

/// Holds the unneeded columns of a program's tables, and the texts of codes.
#[derive(Default)]
pub struct Rows {
    unneeded: HashSet<String>,
    texts: Vec<(Labels, String)>,
}

impl Rows {
    /// Finds the columns that statements do not name and do not show.
    pub fn of(statements: &[&Statement], notes: &Notes) -> Rows {
        let mut needed = HashSet::new();
        for s in statements {
            match &s.kind {
                StatementKind::Let { value, .. } => columns_in(value, &mut needed),
                StatementKind::Def { function, .. } => columns_in(&function.body, &mut needed),
                StatementKind::Show(value) => {
                    columns_in(value, &mut needed);
                    notes
                        .get(value.span)
                        .into_iter()
                        .for_each(|n| shown(n, &mut needed));
                }
            }
        }
        let tables = notes.all().filter_map(|note| match note {
            Note::Table(columns) => Some(columns),
            _ => None,
        });
        let names = tables.flatten().map(|(name, _)| name.clone());
        Rows {
            unneeded: names.filter(|name| !needed.contains(name)).collect(),
            texts: Vec::new(),
        }
    }

    /// The indices of the columns that rows have in Rust: the first column if none is needed.
    fn kept(&self, names: &[String]) -> Vec<usize> {
        let is_needed = |k: &usize| !self.unneeded.contains(&names[*k]);
        let kept: Vec<usize> = (0..names.len()).filter(is_needed).collect();
        match kept.is_empty() {
            true => (0..names.len().min(1)).collect(),
            false => kept,
        }
    }

    /// The index of a column in a tuple. The inner `None` means that the column is the only one,
    /// without a tuple.
    fn place(&self, names: &[String], name: &str) -> Option<Option<usize>> {
        let kept = self.kept(names);
        let place = kept.iter().position(|k| names[*k] == name)?;
        Some((kept.len() > 1).then_some(place))
    }

    /// The column whose codes have these texts.
    fn texts(&self, labels: &Labels) -> Option<&str> {
        let known = self.texts.iter().find(|(own, _)| own == labels);
        known.map(|(_, column)| column.as_str())
    }
}

/// The names of columns in an expression.
fn columns_in(e: &Expr, out: &mut HashSet<String>) {
    match &e.kind {
        ExprKind::Field {
            field: Field::Name(name),
            ..
        } => {
            out.insert(name.text.clone());
        }
        ExprKind::Literal(Literal::Text(name)) => {
            out.insert(name.clone());
        }
        ExprKind::Function(f) => columns_in(&f.body, out),
        ExprKind::Block { statements, .. } => {
            for s in statements {
                match &s.kind {
                    StatementKind::Let { value, .. } | StatementKind::Show(value) => {
                        columns_in(value, out);
                    }
                    StatementKind::Def { function, .. } => columns_in(&function.body, out),
                }
            }
        }
        _ => {}
    }
    e.kind.parts().into_iter().for_each(|p| columns_in(p, out));
}

/// The names of columns that a value shows.
fn shown(note: &Note, out: &mut HashSet<String>) {
    match note {
        Note::Tuple(parts) => parts.iter().for_each(|p| shown(p, out)),
        note => {
            if let Some(Elt::Row(names, _)) = note.elt() {
                out.extend(names.iter().cloned());
            }
        }
    }
}

impl Writer<'_> {
    /// Returns whether a combinator of rows has the same form on tuples.
    pub fn is_of_rows(&self, name: &str, args: &[Expr]) -> bool {
        OF_ROWS.contains(&name)
            && args
                .first()
                .is_some_and(|of| match self.notes.get(of.span) {
                    Some(Note::Table(_)) => true,
                    Some(Note::Array(Elt::Row(..), _)) => true,
                    Some(Note::Tuple(_)) => name == "agg",
                    _ => false,
                })
    }

    /// Writes the rows of a table, or an array of rows.
    pub fn rows(&mut self, e: &Expr) -> Result<Code> {
        let Note::Table(columns) = self.note(e)?.clone() else {
            return self.expr(e);
        };
        let ExprKind::Name(table) = &e.kind else {
            return refuse("rows are of a table with a name: `let t = load …`", e.span);
        };
        let table = ident(table);
        let all: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
        let kept = self.rows.kept(&all);
        let mut parts = Vec::new();
        for (name, elt) in kept.iter().filter_map(|k| columns.get(*k)) {
            parts.push(self.column_of_rows(&table, name, elt.as_ref(), e)?);
        }
        self.files = true;
        match parts.as_slice() {
            [one] => Ok(Code::atom(one.clone())),
            parts if parts.len() > MOST => refuse(
                format!("rows of more than {MOST} columns are no tuple of the typed API"),
                e.span,
            ),
            parts => Ok(zipped(parts)),
        }
    }

    /// A column as a part of rows.
    fn column_of_rows(
        &mut self,
        table: &str,
        name: &str,
        elt: Option<&Elt>,
        e: &Expr,
    ) -> Result<String> {
        match elt {
            Some(Elt::Scalar(ty)) => Ok(format!("{table}.column::<{ty}>({name:?})?")),
            Some(Elt::Text(labels)) => {
                let texts = format!("{table}.texts({name:?})?");
                self.rows.texts.push((labels.clone(), texts.clone()));
                Ok(format!("{texts}.codes().clone()"))
            }
            _ => refuse(
                format!("a row with `{name}` is no tuple: dates, gaps and lists are none in Rust"),
                e.span,
            ),
        }
    }

    /// Writes a column of rows, or a part of one row.
    ///
    /// Returns `None` if the value has no rows.
    pub fn part_of_row(&mut self, e: &Expr, value: &Expr, name: &str) -> Result<Option<Code>> {
        let note = self.note(value)?.clone();
        let Some(Elt::Row(all, _)) = note.elt() else {
            return Ok(None);
        };
        let Some(place) = self.rows.place(all, name) else {
            return Ok(None);
        };
        let of = self.expr(value)?;
        let code = match (&note, place) {
            (_, None) => of,
            (Note::Term(_), Some(k)) => Code::atom(format!("{}.{k}", of.text)),
            (Note::Array(..), Some(k)) => of.call("map", &[format!("|x| x.{k}")]),
            _ => return Ok(None),
        };
        self.with_texts(e, code).map(Some)
    }

    /// Replaces codes by their texts, for an array of text.
    pub fn with_texts(&self, e: &Expr, code: Code) -> Result<Code> {
        let Note::Array(Elt::Text(labels), _) = self.note(e)? else {
            return Ok(code);
        };
        match self.rows.texts(labels) {
            Some(texts) => {
                let codes = code.borrowed().text;
                Ok(Code::atom(texts.to_string()).call("with_codes", &[codes]))
            }
            None => refuse(NO_COLUMN, e.span),
        }
    }

    /// Writes `group_by` or `sort_by` with a key.
    pub fn by_key(&mut self, name: &str, of: &Expr, key: &Expr) -> Result<Code> {
        let (rows, key_code) = (self.rows(of)?, self.function(key, 1)?);
        let method = match name {
            "group_by" => "group_by_key",
            _ => "sort_by_key",
        };
        let name = fresh("rows", &[of, key]);
        let keys = format!("&{name}.map({key_code})");
        let call = Code::atom(name.clone()).call(method, &[keys]).text;
        let line = format!("let {name} = {};", rows.text);
        Ok(match &of.kind {
            ExprKind::Name(_) if !matches!(self.note(of)?, Note::Table(_)) => {
                let keys = format!("&{}.map({key_code})", rows.text);
                rows.call(method, &[keys])
            }
            _ => block(&[line], &call),
        })
    }

    /// Writes the keys of groups next to the results of functions of each group.
    pub fn aggregates(&mut self, e: &Expr, args: &[Expr]) -> Result<Code> {
        let Some((groups, functions)) = args.split_first() else {
            return refuse("expected groups", e.span);
        };
        let Note::Tuple(parts) = self.note(groups)?.clone() else {
            return refuse("expected groups", groups.span);
        };
        let Some(Elt::Row(keys, _)) = parts.first().and_then(Note::elt).cloned() else {
            return refuse("expected groups", groups.span);
        };
        let all: Vec<&Expr> = args.iter().collect();
        let [key_name, group_name] = ["keys", "groups"].map(|name| fresh(name, &all));
        let of = self.owned(groups)?.text;
        let mut lines = vec![format!("let ({key_name}, {group_name}) = {of};")];
        let mut columns = Vec::new();
        match keys.len() {
            1 => columns.push(key_name),
            n => {
                columns.extend((0..n).map(|k| format!("{key_name}{k}")));
                lines.push(format!(
                    "let {} = {key_name}.unzip();",
                    tuple(&columns).text
                ));
            }
        }
        // Named arguments come last, as in the shell.
        let is_named = |arg: &&Expr| matches!(arg.kind, ExprKind::Keyword { .. });
        let (named, plain): (Vec<&Expr>, Vec<&Expr>) = functions.iter().partition(is_named);
        for (k, arg) in plain.into_iter().chain(named).enumerate() {
            let (column, function) = self.aggregate(arg)?;
            if self.rows.unneeded.contains(&column) {
                continue;
            }
            let name = fresh(&format!("of_group{k}"), &all);
            lines.push(format!(
                "let {name} = {group_name}.map_segments({function});"
            ));
            columns.push(name);
        }
        if columns.len() > MOST {
            let message = format!("rows of more than {MOST} columns are no tuple of the typed API");
            return refuse(message, e.span);
        }
        let rows = match columns.as_slice() {
            [one] => one.clone(),
            all => zipped(all).text,
        };
        Ok(block(&lines, &rows))
    }

    /// The column name of an argument of `agg`, and its closure: `n = f`, `("n", f)`, or a plain
    /// function.
    fn aggregate(&mut self, arg: &Expr) -> Result<(String, String)> {
        let named = |parts: &[Expr]| match parts {
            [
                Expr {
                    kind: ExprKind::Literal(Literal::Text(name)),
                    ..
                },
                value,
            ] => Some((name.clone(), value.clone())),
            _ => None,
        };
        match &arg.kind {
            ExprKind::Keyword { name, value } => Ok((name.text.clone(), self.function(value, 1)?)),
            ExprKind::Tuple(parts) if let Some((name, f)) = named(parts) => {
                Ok((name, self.function(&f, 1)?))
            }
            ExprKind::Function(f)
                if let ExprKind::Tuple(parts) = &f.body.kind
                    && let Some((name, body)) = named(parts) =>
            {
                let own = Function {
                    body,
                    ..(**f).clone()
                };
                Ok((name, self.closure(&own, false)?.text))
            }
            _ => refuse(
                "the name of an aggregate stands before it: `n = _.len()`",
                arg.span,
            ),
        }
    }

    /// Writes lines that print rows, with texts in place of codes.
    pub fn shown_rows(&self, code: &Code, e: &Expr) -> Result<Option<Vec<String>>> {
        let Note::Array(Elt::Row(names, elts), 1) = self.note(e)? else {
            return Ok(None);
        };
        if !elts.iter().any(|elt| matches!(elt, Elt::Text(_))) {
            return Ok(None);
        }
        let mut lines = vec![format!(
            "let rows = {}?;",
            code.clone().call("force", &[]).text
        )];
        let mut parts = Vec::new();
        for (name, elt) in names.iter().zip(elts) {
            let part = match self.rows.place(names, name) {
                Some(Some(k)) => format!("row.{k}"),
                Some(None) => "row".to_string(),
                None => continue,
            };
            parts.push(match elt {
                Elt::Text(labels) => {
                    let Some(texts) = self.rows.texts(labels) else {
                        return refuse(NO_COLUMN, e.span);
                    };
                    let own = format!("texts{}", lines.len());
                    lines.push(format!("let {own} = {texts};"));
                    format!("{own}.labels().get({part}).unwrap_or_default()")
                }
                _ => part,
            });
        }
        let row = tuple(&parts).text;
        lines.push(format!(
            "let rows: Vec<_> = rows.iter().map(|row| {row}).collect();"
        ));
        lines.push("println!(\"{:?}\", rows);".into());
        Ok(Some(lines))
    }
}

/// A block of lines with a value, indented as a statement of `main`.
fn block(lines: &[String], value: &str) -> Code {
    let indented = |line: &str| format!("        {}\n", line.replace('\n', "\n    "));
    let lines: String = lines.iter().map(|line| indented(line)).collect();
    Code::atom(format!("{{\n{lines}{}    }}", indented(value)))
}

/// A zip of arrays.
fn zipped(parts: &[String]) -> Code {
    let parts: Vec<String> = parts.iter().map(|p| format!("&{p}")).collect();
    Code::atom(format!("zip({})", tuple(&parts).text))
}

/// A name that none of these expressions uses.
fn fresh(name: &str, of: &[&Expr]) -> String {
    let mut used = HashSet::new();
    of.iter().for_each(|e| names(e, &mut used));
    let mut name = name.to_string();
    while used.contains(&name) {
        name.push('_');
    }
    name
}
