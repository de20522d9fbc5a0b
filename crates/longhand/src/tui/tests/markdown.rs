//! Markdown as rows.

use crate::tui::markdown::{self, Layout};
use crate::tui::theme::{Palette, SymbolSet, Theme};
use crate::tui::wrap::Row;

fn theme() -> Theme {
    Theme::new(Palette::Dark, SymbolSet::Unicode)
}

fn text(rows: &[Row]) -> String {
    let row = |row: &Row| row.spans.iter().map(|span| span.content.as_ref()).collect::<String>();
    rows.iter().map(row).collect::<Vec<_>>().join("\n")
}

pub(super) const EVERYTHING: &str = "\
# Title with *emphasis*

A paragraph with **strong**, ~~struck~~, `code`, a [link](https://example.org) and
<https://example.org/auto>. A second sentence that is long enough to wrap around.

- one
  - nested
    continued
- [x] done
- [ ] open

3. three
4. four

> quoted
> > twice

```rust
fn main() {
\tprintln!(\"a line of code that is longer than the width of the screen\");
}
```

| name | amount | note |
|:-----|-------:|:----:|
| a | 1 | short |
| bb | 22 | a note that has to be wrapped inside of its cell |

---

<b>raw</b> html[^1]

[^1]: the note
";

#[test]
fn every_construct_is_drawn() {
    insta::assert_snapshot!("everything_60", text(&markdown::rows(EVERYTHING, 60, &theme())));
    insta::assert_snapshot!("everything_24", text(&markdown::rows(EVERYTHING, 24, &theme())));
}

#[test]
fn a_text_that_grows_ends_as_the_whole_text() {
    for step in [1, 3, 17] {
        let mut layout = Layout::default();
        let mut end = 0;
        while end < EVERYTHING.len() {
            end = (end + step).min(EVERYTHING.len());
            if EVERYTHING.is_char_boundary(end) {
                layout.update(&EVERYTHING[..end], 60, &theme());
            }
        }
        let whole = markdown::rows(EVERYTHING, 60, &theme());
        assert_eq!(text(layout.rows()), text(&whole), "in steps of {step}");
    }
}

#[test]
fn an_unclosed_fence_is_code_from_its_first_line() {
    let rows = markdown::rows("before\n\n```sh\nls *a* *b*", 40, &theme());
    assert_eq!(text(&rows), "before\n\n  ls *a* *b*");
}

#[test]
fn a_table_too_narrow_for_a_grid_is_a_list_of_records() {
    let source = "| name | value | more |\n|---|---|---|\n| alpha | one | x |\n| beta | two | y |";
    let rows = markdown::rows(source, 20, &theme());
    assert_eq!(text(&rows), "name: alpha\nvalue: one\nmore: x\n\nname: beta\nvalue: two\nmore: y");
}

#[test]
fn control_sequences_of_the_model_are_not_drawn() {
    let rows = markdown::rows("a\u{1b}[31mb\u{7}c `x\u{1b}]0;t\u{7}y`", 40, &theme());
    assert!(!text(&rows).contains(char::is_control));
}
