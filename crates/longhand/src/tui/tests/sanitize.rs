//! What of foreign text reaches the screen.

use crate::tui::sanitize;

#[test]
fn only_what_can_be_drawn_is_left() {
    for (raw, clean) in [
        ("plain\ntext", "plain\ntext"),
        ("\u{1b}[1;31mred\u{1b}[0m", "red"),
        ("\u{1b}]0;title\u{7}after", "after"),
        ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
        ("\u{1b}P1$r\u{1b}\\x", "x"),
        ("\u{1b}(Bx\u{1b}7y", "xy"),
        ("lone \u{1b}", "lone "),
        ("\u{9b}2Jx", "x"),
        ("bell\u{7} nul\u{0} del\u{7f}", "bell nul del"),
        ("10%\r50%\r100%\nnext", "100%\nnext"),
        ("dos\r\nlines\r\n", "dos\nlines\n"),
        ("a\tb\n\tc", "a   b\n    c"),
        ("日\tb", "日  b"),
        ("unended \u{1b}]0;title", "unended "),
        ("right\u{202e}left", "rightleft"),
    ] {
        assert_eq!(sanitize::text(raw), clean, "{raw:?}");
    }
}
