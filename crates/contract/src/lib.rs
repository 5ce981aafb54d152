//! Contract Markdown: text to model, with diagnostics.
