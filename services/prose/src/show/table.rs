//! Tables without borders.

use std::fmt;

use comfy_table::{CellAlignment, Column};

/// A table whose rows are added one by one.
pub(crate) struct Table(comfy_table::Table);

impl Table {
    /// A table with these headings; those that begin with `>` are of numbers.
    pub fn new(headings: &[&str]) -> Self {
        let mut table = comfy_table::Table::new();
        table.load_style(comfy_table::presets::NOTHING);
        table.set_header(headings.iter().map(|heading| heading.trim_start_matches('>')));
        for (column, heading) in table.column_iter_mut().zip(headings) {
            set_up(column, heading.starts_with('>'));
        }
        Self(table)
    }

    /// Adds a row; its texts are clean already, and without colours, which would count as width.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.0.add_row(cells.into_iter().collect::<Vec<_>>());
    }
}

fn set_up(column: &mut Column, is_number: bool) {
    column.set_padding((0, 2));
    if is_number {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in self.0.lines() {
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}
