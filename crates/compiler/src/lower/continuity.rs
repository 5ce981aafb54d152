//! Wake modes and cadences.

use prose_contract::{Code, Diagnostic, Kind, Prose, SectionKind};
use prose_ir::{Cadence, WakeMode, WakeSource};

use super::Unit;
use crate::words;

/// What may wake a node, and when its clock ticks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Continuity {
    pub(crate) modes: Vec<WakeMode>,
    pub(crate) cadences: Vec<Cadence>,
}

impl Continuity {
    /// A node that declares input and a cadence is an input node that also ticks.
    pub(crate) fn wake_source(&self) -> WakeSource {
        if self.modes.contains(&WakeMode::External) {
            WakeSource::External
        } else if self.modes.contains(&WakeMode::Own) && !self.modes.contains(&WakeMode::Input) {
            WakeSource::Own
        } else {
            WakeSource::Input
        }
    }
}

pub(crate) fn lower(unit: Unit, diagnostics: &mut Vec<Diagnostic>) -> Continuity {
    let mut continuity = Continuity::default();
    if unit.entry.kind == Some(Kind::Gateway) {
        continuity.modes.push(WakeMode::External);
    }
    let mut vague = None;
    for prose in unit.entry.sections(SectionKind::Continuity).flat_map(|s| s.prose()) {
        let declared = modes(&prose.text);
        let found = cadences(prose);
        if declared.contains(&WakeMode::Own) && found.is_empty() {
            vague.get_or_insert(prose);
        }
        for mode in declared {
            push_new(&mut continuity.modes, mode);
        }
        for cadence in found {
            push_new(&mut continuity.cadences, cadence);
        }
    }
    if continuity.modes.is_empty() && !continuity.cadences.is_empty() {
        // A cadence without the word still declares a clock.
        continuity.modes.push(WakeMode::Own);
    }
    if !continuity.modes.contains(&WakeMode::Own) {
        // "The daily budget" of an input-driven node is no clock.
        continuity.cadences.clear();
    }
    if continuity.cadences.is_empty()
        && let Some(prose) = vague
    {
        diagnostics.push(ambiguous(unit, prose));
        continuity.cadences.push(Cadence::ValidUntil);
    }
    schedule(unit, &mut continuity, diagnostics);
    if continuity.modes.is_empty() {
        continuity.modes.push(WakeMode::Input);
    }
    continuity
}

fn schedule(unit: Unit, continuity: &mut Continuity, diagnostics: &mut Vec<Diagnostic>) {
    for prose in unit.entry.sections(SectionKind::Schedule).flat_map(|s| s.prose()) {
        let found = cadences(prose);
        if found.is_empty() && !Unit::is_none(&prose.text) {
            diagnostics.push(ambiguous(unit, prose));
        }
        for cadence in found {
            push_new(&mut continuity.cadences, cadence);
        }
    }
}

fn ambiguous(unit: Unit, prose: &Prose) -> Diagnostic {
    unit.diagnostic(
        Code::ContinuityAmbiguous,
        prose.span.clone(),
        "no cadence can be read here; the clock follows `valid_until` alone",
    )
    .help("name an interval, such as `every 6h` or `daily at 09:00 Europe/Berlin`")
}

fn push_new<T: PartialEq>(list: &mut Vec<T>, value: T) {
    if !list.contains(&value) {
        list.push(value);
    }
}

/// The modes that a text names, in order.
fn modes(text: &str) -> Vec<WakeMode> {
    let mut found = Vec::new();
    for (word, mode) in [
        ("input-driven", WakeMode::Input),
        ("self-driven", WakeMode::Own),
        ("external-driven", WakeMode::External),
    ] {
        if let Some(at) = words::find_phrase(text, word, 0)
            && !is_negated(&text[..at])
        {
            found.push((at, mode));
        }
    }
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, mode)| mode).collect()
}

fn is_negated(before: &str) -> bool {
    let last = words::tokens(before).last().map(|(_, w)| w).unwrap_or_default();
    ["not", "never", "no"].iter().any(|n| last.eq_ignore_ascii_case(n))
}

/// The cadences that a text names.
pub(crate) fn cadences(prose: &Prose) -> Vec<Cadence> {
    let text = prose.text.as_str();
    let mut found = Vec::new();
    let crons: Vec<&str> = prose.codes().map(|(_, code)| code).filter(|c| is_cron(c)).collect();
    if !crons.is_empty() {
        let zone = zone(text);
        found.extend(crons.into_iter().map(|code| Cadence::Cron {
            expression: code.split_whitespace().collect::<Vec<_>>().join(" "),
            zone: zone.clone(),
        }));
    }
    if found.is_empty()
        && let Some(cadence) = at_time(text).or_else(|| interval(text))
    {
        found.push(cadence);
    }
    let stale = ["when stale", "if stale", "goes stale", "becomes stale"];
    if words::contains_phrase(text, "valid_until")
        || stale.iter().any(|s| words::contains_phrase(text, s))
    {
        found.push(Cadence::ValidUntil);
    }
    found
}

fn is_cron(text: &str) -> bool {
    let fields: Vec<&str> = text.split_whitespace().collect();
    fields.len() == 5
        && fields
            .iter()
            .all(|f| f.bytes().all(|b| b.is_ascii_alphanumeric() || b"*/,-?#".contains(&b)))
        && fields
            .iter()
            .all(|f| f.starts_with(|c: char| c.is_ascii_digit() || c == '*') || f.len() <= 15)
        && fields[0].starts_with(|c: char| c.is_ascii_digit() || c == '*')
}

/// An IANA zone such as `Europe/Berlin`, or UTC.
fn zone(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || "()`,;".contains(c))
        .map(|word| word.trim_end_matches('.'))
        .find(|word| {
            word.split_once('/').is_some_and(|(area, place)| {
                let is_place =
                    |s: &str| s.len() > 2 && s.starts_with(|c: char| c.is_ascii_uppercase());
                is_place(area)
                    && is_place(place)
                    && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"/_-+".contains(&b))
            })
        })
        .unwrap_or("UTC")
        .to_owned()
}

const DAYS: [&str; 7] =
    ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/// `daily at 09:00`, `every weekday at 08:00`, `every Monday at 9:30`.
fn at_time(text: &str) -> Option<Cadence> {
    let (hour, minute) = clock_time(text)?;
    let lower = text.to_ascii_lowercase();
    let has = |word: &str| words::contains_phrase(&lower, word);
    let day = DAYS.iter().position(|day| has(day) || has(&format!("{day}s")));
    let days = if has("weekday") || has("weekdays") {
        "1-5".to_owned()
    } else if let Some(day) = day {
        day.to_string()
    } else if has("daily") || has("every day") || has("each day") || has("every") {
        "*".to_owned()
    } else {
        return None;
    };
    Some(Cadence::Cron { expression: format!("{minute} {hour} * * {days}"), zone: zone(text) })
}

/// The first `HH:MM` of a text.
fn clock_time(text: &str) -> Option<(u8, u8)> {
    text.split(|c: char| !(c.is_ascii_digit() || c == ':')).find_map(|word| {
        let (hour, minute) = word.split_once(':')?;
        let (hour, minute): (u8, u8) = (hour.parse().ok()?, minute.get(..2)?.parse().ok()?);
        (minute < 60 && hour < 24).then_some((hour, minute))
    })
}

/// `every 6h`, `every 15 minutes`, `hourly`, `at least weekly`, `on a daily cadence`.
fn interval(text: &str) -> Option<Cadence> {
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
    while let Some(word) = words.next() {
        let is = |sign: &str| word.eq_ignore_ascii_case(sign);
        let seconds = if is("every") || is("each") {
            let mut ahead = words.clone().map(str::to_ascii_lowercase);
            ahead.next().and_then(|next| every(&next, ahead.next().as_deref()))
        } else if is("hourly") {
            Some(HOUR)
        } else if is("daily") || is("nightly") {
            Some(DAY)
        } else if is("weekly") {
            Some(7 * DAY)
        } else if is("monthly") {
            Some(30 * DAY)
        } else {
            None
        };
        if let Some(seconds) = seconds.filter(|s| *s > 0) {
            return Some(Cadence::EverySeconds(seconds));
        }
    }
    None
}

const HOUR: u64 = 3600;
const DAY: u64 = 24 * HOUR;

fn every(next: &str, after: Option<&str>) -> Option<u64> {
    let digits = next.len() - next.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if digits == 0 {
        let count = match next {
            "other" | "two" | "second" => 2,
            "three" => 3,
            "few" => return None,
            _ => return unit(next),
        };
        return after.and_then(unit).map(|u| u * count);
    }
    let count: u64 = next[..digits].parse().ok()?;
    let seconds = if digits < next.len() { unit(&next[digits..])? } else { unit(after?)? };
    // A hundred years is as good as never, and keeps every later sum in range.
    count.checked_mul(seconds).filter(|s| *s <= 36_500 * DAY)
}

fn unit(word: &str) -> Option<u64> {
    Some(match word {
        "s" | "sec" | "secs" | "second" | "seconds" => 1,
        "m" | "min" | "mins" | "minute" | "minutes" => 60,
        "h" | "hr" | "hrs" | "hour" | "hours" => HOUR,
        "d" | "day" | "days" | "night" | "morning" | "evening" => DAY,
        "w" | "week" | "weeks" => 7 * DAY,
        "month" | "months" => 30 * DAY,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Cadence> {
        cadences(&Prose { text: text.to_owned(), ..Prose::default() })
    }

    #[test]
    fn intervals() {
        for (text, seconds) in [
            ("self-driven: re-check every 6h", 6 * HOUR),
            ("every 15 minutes", 900),
            ("polled on a daily cadence", DAY),
            ("re-review each entry at least weekly", 7 * DAY),
            ("every other day", 2 * DAY),
        ] {
            assert_eq!(read(text), [Cadence::EverySeconds(seconds)], "{text}");
        }
    }

    #[test]
    fn times_of_day() {
        let cron = |expression: &str, zone: &str| Cadence::Cron {
            expression: expression.into(),
            zone: zone.into(),
        };
        assert_eq!(read("daily at 09:00 Europe/Berlin"), [cron("0 9 * * *", "Europe/Berlin")]);
        assert_eq!(read("Every weekday at 08:30."), [cron("30 8 * * 1-5", "UTC")]);
        assert_eq!(read("Mondays at 7:15"), [cron("15 7 * * 1", "UTC")]);
    }

    #[test]
    fn freshness_and_nothing() {
        assert_eq!(read("when `valid_until` lapses"), [Cadence::ValidUntil]);
        assert_eq!(read("re-validate when stale"), [Cadence::ValidUntil]);
        assert_eq!(read("re-check regularly"), []);
        assert_eq!(read("every 99999999999999999999 hours"), []);
        assert_eq!(read("every 9223372036854775807 weeks"), []);
    }
}
