//! The title slot: its width is its promise.

use longhand_session::time::Timestamp;
use longhand_session::title_slot::{SLOT_BYTES, TitleSlot, TitleSource};
use proptest::prelude::*;

use crate::config;
use crate::strategies::{noise, value};

fn slot(title: &str, source: Option<TitleSource>, time: i64) -> TitleSlot {
    TitleSlot { title: title.to_owned(), source, updated_at: Timestamp::from_millis(time) }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_title_fills_the_slot_exactly(
        title in any::<String>(), source in 0..3_usize, time in any::<i64>(), doubled in 0..4_u32,
    ) {
        let title = title.repeat(2_usize.pow(doubled));
        let source = [None, Some(TitleSource::Auto), Some(TitleSource::User)][source];
        let line = slot(&title, source, time).to_line();
        prop_assert_eq!(line.len(), SLOT_BYTES);
        prop_assert_eq!(line.find('\n'), Some(SLOT_BYTES - 1));
        let read = TitleSlot::from_line(line.trim_end().as_bytes()).unwrap();
        prop_assert!(title.starts_with(&read.title));
        prop_assert_eq!(read.source, source);
        if let Some(next) = title[read.title.len()..].chars().next() {
            let longer = slot(&format!("{}{next}", read.title), source, time).to_line();
            prop_assert_eq!(TitleSlot::from_line(longer.as_bytes()).unwrap().title, read.title, "the longest that fits");
        }
    }

    #[test]
    fn any_line_is_a_slot_or_not(bytes in noise(), value in value()) {
        let _ = TitleSlot::from_line(&bytes.0);
        let text = value.to_string();
        if let Some(slot) = TitleSlot::from_line(text.as_bytes()) {
            prop_assert_eq!(&value["type"], "title");
            prop_assert_eq!(value["title"].as_str(), Some(&*slot.title));
        }
    }
}
