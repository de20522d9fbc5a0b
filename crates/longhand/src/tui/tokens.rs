//! Numbers as the view writes them.

use std::time::Duration;

pub(crate) use longhand_session::digits::grouped;

/// `980`, `43K`, `1.2M`.
pub(crate) fn short(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..999_500 => format!("{}K", (number + 500) / 1_000),
        _ => {
            let tenths = (number + 50_000) / 100_000;
            match tenths % 10 {
                0 => format!("{}M", tenths / 10),
                tenth => format!("{}.{tenth}M", tenths / 10),
            }
        }
    }
}

/// `−135,086` or `+12`: from one number to another.
pub(crate) fn difference(from: u64, to: u64) -> String {
    if to > from {
        format!("+{}", grouped(to - from))
    } else {
        format!("−{}", grouped(from - to))
    }
}

/// `0.4 s`, `14 s`, `3 min 20 s`.
pub(crate) fn seconds(time: Duration) -> String {
    match time.as_secs() {
        0..10 => format!("{:.1} s", time.as_secs_f64()),
        seconds @ 10..60 => format!("{seconds} s"),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

/// `1 line`, `3 lines`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{} {noun}s", grouped(number)) }
}
