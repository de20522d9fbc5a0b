//! How long a provider asks to wait: read from the headers and the text of a refusal.
//!
//! Pure: the present time is a parameter.

use std::sync::LazyLock;
use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::DateTime;
use regex::Regex;
use reqwest::header::HeaderMap;

/// The longest wait that headers and text state. Zero means now; `None` means that nothing was stated.
pub fn wait(headers: &HeaderMap, text: &str, now: Timestamp) -> Option<Duration> {
    from_headers(headers, now).max(from_text(text, now))
}

/// The wait that the headers state: the first header that says anything decides.
fn from_headers(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let number = |name: &str| value(name).and_then(|text| text.parse::<f64>().ok());
    let seconds_or_epoch = |number: f64| {
        if number > 1e9 { until_epoch_seconds(number, now) } else { seconds(number) }
    };
    number("retry-after-ms")
        .map(|millis| seconds(millis / 1e3))
        .or_else(|| {
            let text = value("retry-after")?;
            match text.parse::<f64>() {
                Ok(number) => Some(seconds(number)),
                Err(_) => until_http_date(text, now),
            }
        })
        .or_else(|| {
            number("x-ratelimit-reset-ms").map(|number| {
                if number > 1e12 {
                    until_epoch_seconds(number / 1e3, now)
                } else if number > 1e9 {
                    until_epoch_seconds(number, now)
                } else {
                    seconds(number / 1e3)
                }
            })
        })
        .or_else(|| number("x-ratelimit-reset").map(seconds_or_epoch))
        .or_else(|| number("x-ratelimit-reset-after").map(seconds))
}

/// The longest wait that a text states. A time without a zone counts only where nothing else is stated.
pub fn from_text(text: &str, now: Timestamp) -> Option<Duration> {
    /// Phrases whose wait is a run of `<number> <unit>`, or one number of the unit in the second column.
    static PHRASES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
        const SPAN: &str = r"~?\s*((?:\d+(?:\.\d+)?\s*[a-z]+[\s,]*)+)";
        [
            (format!(r"reset(?:s)? (?:after|in) {SPAN}"), ""),
            (format!(r"(?:please )?(?:retry|try again) (?:in|after) {SPAN}"), ""),
            (format!(r#""?retrydelay"?\s*[:=]\s*"?{SPAN}"#), ""),
            (r"retry-after-ms\s*[:=]\s*(\d+(?:\.\d+)?)".into(), "ms"),
            (r"retry-after\s*[:=]\s*(\d+(?:\.\d+)?)".into(), "s"),
            (r"x-ratelimit-reset-ms\s*[:=]\s*(\d+(?:\.\d+)?)".into(), "ms"),
            (r"x-ratelimit-reset\s*[:=]\s*(\d{1,9}(?:\.\d+)?)\b".into(), "s"),
        ]
        .into_iter()
        .map(|(pattern, unit)| {
            (Regex::new(&format!("(?i){pattern}")).expect("a constant pattern"), unit)
        })
        .collect()
    });
    let stated = PHRASES
        .iter()
        .flat_map(|(phrase, unit)| {
            phrase
                .captures_iter(text)
                .filter_map(move |found| span(&format!("{}{unit}", &found[1])))
        })
        .max();
    stated.or_else(|| until_reset_time(text, now))
}

/// A run of numbers with units, such as `1h2m3s` or `2hr 15min`. Stops at the first word that is no unit.
fn span(text: &str) -> Option<Duration> {
    static PART: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)").expect("a constant pattern"));
    let mut total = None;
    for part in PART.captures_iter(text) {
        let unit_seconds = match part[2].to_ascii_lowercase().as_str() {
            "ms" | "millisecond" | "milliseconds" => 1e-3,
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3_600.0,
            "d" | "day" | "days" => 86_400.0,
            _ => break,
        };
        let number: f64 = part[1].parse().ok()?;
        total =
            Some(total.unwrap_or(Duration::ZERO).saturating_add(seconds(number * unit_seconds)));
    }
    total
}

/// `will reset at <ISO time>`, and the wording of Chinese providers, whose times are in their own zone.
fn until_reset_time(text: &str, now: Timestamp) -> Option<Duration> {
    static RESET: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)(?:reset at|将在)\s*(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?)(Z|[+-]\d\d:?\d\d)?")
            .expect("a constant pattern")
    });
    let found = RESET.captures(text)?;
    let local = found[1].replace(' ', "T");
    let at = if let Some(zone) = found.get(2) {
        format!("{local}{}", zone.as_str()).parse::<Timestamp>().ok()?
    } else {
        let offset_hours = if found[0].starts_with("将在") { 8 } else { 0 };
        let time: DateTime = local.parse().ok()?;
        jiff::tz::offset(offset_hours).to_timestamp(time).ok()?
    };
    Some(seconds(at.duration_since(now).as_secs_f64()))
}

fn until_http_date(text: &str, now: Timestamp) -> Option<Duration> {
    let at = Timestamp::try_from(httpdate::parse_http_date(text).ok()?).ok()?;
    Some(seconds(at.duration_since(now).as_secs_f64()))
}

fn until_epoch_seconds(epoch: f64, now: Timestamp) -> Duration {
    seconds(epoch - now.as_duration().as_secs_f64())
}

/// Seconds as a duration: what is past is zero, what no calendar holds is the longest.
fn seconds(number: f64) -> Duration {
    Duration::try_from_secs_f64(number.max(0.0)).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        Timestamp::from_second(1_760_000_000).unwrap()
    }

    #[test]
    fn headers_state_a_wait_in_many_forms() {
        for (name, value, expected_ms) in [
            ("retry-after-ms", "1500", Some(1_500)),
            ("retry-after", "12", Some(12_000)),
            ("retry-after", "Thu, 09 Oct 2025 08:54:20 GMT", Some(60_000)),
            ("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT", Some(0)),
            ("retry-after", "soon", None),
            ("x-ratelimit-reset-ms", "2500", Some(2_500)),
            ("x-ratelimit-reset-ms", "1760000003000", Some(3_000)),
            ("x-ratelimit-reset-ms", "1760000003", Some(3_000)),
            ("x-ratelimit-reset", "1760000007", Some(7_000)),
            ("x-ratelimit-reset-after", "9", Some(9_000)),
            ("retry-after", "-5", Some(0)),
            ("retry-after", "1e300", Some(u64::MAX)),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            let expected = expected_ms
                .map(|ms| if ms == u64::MAX { Duration::MAX } else { Duration::from_millis(ms) });
            assert_eq!(wait(&headers, "", now()), expected, "{name}: {value}");
        }
    }

    #[test]
    fn a_reset_time_counts_from_now_in_its_zone() {
        for (text, expected_s) in [
            ("will reset at 2025-10-09T08:55:20Z", 120),
            ("will reset at 2025-10-09T10:55:20+02:00", 120),
            ("您的限额将在 2025-10-09 16:54:20 重置。", 60),
            ("will reset at 2020-01-01T00:00:00Z", 0),
        ] {
            assert_eq!(from_text(text, now()), Some(Duration::from_secs(expected_s)), "{text}");
        }
    }
}
