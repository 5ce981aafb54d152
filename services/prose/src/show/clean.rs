//! Text from contracts, events and sessions, made safe to print.

/// What a control character is shown as.
const REPLACEMENT: char = '\u{fffd}';

/// `text` in one line, without anything that could steer a terminal.
pub(crate) fn clean(text: &str) -> String {
    text.chars().map(|c| if steers(c) { REPLACEMENT } else { c }).collect()
}

/// The same, with lines and tabs kept.
pub(crate) fn clean_lines(text: &str) -> String {
    let keep = |c| c == '\n' || c == '\t' || !steers(c);
    text.chars().map(|c| if keep(c) { c } else { REPLACEMENT }).collect()
}

/// Control characters, and those that turn the direction of writing.
fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_that_steers_it() {
        assert_eq!(clean("a\x1b[31m\0\nb\u{202e}ü"), "a\u{fffd}[31m\u{fffd}\u{fffd}b\u{fffd}ü");
        assert_eq!(clean_lines("a\n\tb\r\x07"), "a\n\tb\u{fffd}\u{fffd}");
    }
}
