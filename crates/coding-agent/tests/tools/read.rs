use std::io::Cursor;

use base64::Engine as _;
use longhand_coding_agent::tools::Vision;
use longhand_session::Block;
use serde_json::json;
use tokio::sync::watch;

use crate::desk::{Desk, details, text};

/// Lines `1` to `count`.
fn numbers(count: usize) -> String {
    (1..=count).map(|n| n.to_string() + "\n").collect()
}

#[tokio::test]
async fn lines_are_numbered_and_the_footer_names_the_next() {
    let desk = Desk::new();
    desk.put("a", "one\ntwo");
    assert_eq!(desk.ok("read", json!({"path": "a"})).await, "1:one\n2:two");
    desk.put("long", numbers(1234));
    let output = desk.call("read", json!({"path": "long"})).await;
    assert!(
        text(&output).ends_with("300:300\n\n[Showing lines 1-300 of 1,234. Use :301 to continue]")
    );
    assert_eq!(
        details(&output),
        &json!({"path": "long", "totalLines": 1234, "truncated": true, "range": "1-300"})
    );
}

#[tokio::test]
async fn selectors_choose_lines() {
    let desk = Desk::new();
    desk.put("a", numbers(20));
    for (selector, expected) in [
        (":18", "18:18\n19:19\n20:20\n\n[Showing lines 18-20 of 20]"),
        (":-2", "19:19\n20:20\n\n[Showing lines 19-20 of 20]"),
        (":5-6", "4:4\n5:5\n6:6\n7:7\n8:8\n9:9\n\n[Showing lines 4-9 of 20. Use :10 to continue]"),
        (":raw:5-6", "5\n6\n\n[Showing lines 5-6 of 20. Use :7 to continue]"),
        (
            ":2+1,19",
            "1:1\n2:2\n3:3\n4:4\n5:5\n…\n18:18\n19:19\n20:20\n\n[Showing lines 1-5,18-20 of 20]",
        ),
    ] {
        let shown = desk.ok("read", json!({"path": format!("a{selector}")})).await;
        assert_eq!(shown, expected, "{selector}");
    }
    assert_eq!(
        desk.fails("read", json!({"path": "a:21"})).await,
        "a has 20 lines; line 21 is beyond its end"
    );
    assert!(
        desk.fails("read", json!({"path": "a:1-2-3"}))
            .await
            .starts_with("`:1-2-3` does not select lines: use :N")
    );
}

#[tokio::test]
async fn a_file_whose_name_contains_a_colon_is_read_as_named() {
    let desk = Desk::new();
    desk.put("a:2", "named\n");
    desk.put("a", "one\ntwo\n");
    assert_eq!(desk.ok("read", json!({"path": "a:2"})).await, "1:named");
}

#[tokio::test]
async fn a_wide_line_is_never_lost() {
    let desk = Desk::new();
    let wide: String = "é".repeat(10_000);
    desk.put("a", format!("short\n{wide}\nend\n"));
    let shown = desk.ok("read", json!({"path": "a"})).await;
    assert!(shown.contains(&format!("2:{}…\n3:end", "é".repeat(384))));
    assert!(shown.ends_with("[Some lines truncated to 768 bytes. Use :2@0+4000 for line 2]"));
    let window = desk.ok("read", json!({"path": "a:2@9000+4000"})).await;
    assert_eq!(window, format!("{}\n\n[Line 2: characters 9000-9999 of 10000]", "é".repeat(1000)));
    let window = desk.ok("read", json!({"path": "a:2@0+4000"})).await;
    assert!(window.ends_with("[Line 2: characters 0-3999 of 10000. Use :2@4000+4000 to continue]"));
}

#[tokio::test]
async fn a_page_holds_fifty_kibibytes() {
    let desk = Desk::new();
    desk.put("a", ("x".repeat(700) + "\n").repeat(300));
    let output = desk.call("read", json!({"path": "a"})).await;
    assert!(text(&output).len() < 51 * 1024 + 200);
    assert!(text(&output).ends_with("[Showing lines 1-72 of 300. Use :73 to continue]"));
    assert_eq!(details(&output)["truncated"], true);
}

#[tokio::test]
async fn content_that_is_not_plain_text_is_described() {
    let desk = Desk::new();
    desk.put("bin", b"\x7fELF\0\0\x01");
    assert_eq!(
        desk.ok("read", json!({"path": "bin"})).await,
        "bin: application/x-elf, 7B. Binary content is not shown."
    );
    desk.put("latin", b"caf\xe9\n");
    assert_eq!(
        desk.ok("read", json!({"path": "latin"})).await,
        "1:caf\u{fffd}\n\n[Invalid UTF-8 is shown as replacement characters]"
    );
    desk.put("dos", "\u{feff}a\r\nb\r\n");
    assert_eq!(desk.ok("read", json!({"path": "dos"})).await, "1:a\n2:b");
    desk.put("empty", "");
    assert_eq!(desk.ok("read", json!({"path": "empty"})).await, "(empty file)");
}

#[tokio::test]
async fn a_missing_file_names_its_nearest_neighbour() {
    let desk = Desk::new();
    desk.put("src/settings.rs", "");
    assert_eq!(
        desk.fails("read", json!({"path": "src/setting.rs"})).await,
        "`src/setting.rs` does not exist; there is `src/settings.rs`"
    );
}

#[tokio::test]
async fn the_third_identical_read_is_remarked() {
    let desk = Desk::new();
    desk.put("a", "x\n");
    let mut last = String::new();
    for _ in 0..3 {
        last = desk.ok("read", json!({"path": "a"})).await;
    }
    assert_eq!(last, "1:x\n\n[This is the same unchanged content as in the reads before]");
    desk.put("a", "y\n");
    assert_eq!(desk.ok("read", json!({"path": "a"})).await, "1:y");
}

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    image::RgbImage::new(width, height).write_to(&mut out, image::ImageFormat::Png).unwrap();
    out.into_inner()
}

#[tokio::test]
async fn a_picture_is_attached_for_a_model_that_sees() {
    let (sight, vision) = watch::channel(Vision::Sees);
    let desk = Desk::with(|context| context.vision = vision);
    let small = png(3, 2);
    desk.put("small.png", &small);
    let output = desk.call("read", json!({"path": "small.png"})).await;
    assert_eq!(text(&output), "small.png: image/png, 3×2");
    let Block::Image(image) = &output.content[1] else { panic!("no picture") };
    assert_eq!(base64::engine::general_purpose::STANDARD.decode(&image.data).unwrap(), small);

    desk.put("large.png", png(2500, 10));
    let output = desk.call("read", json!({"path": "large.png"})).await;
    assert_eq!(text(&output), "large.png: image/png, 2500×10, shown at 2000×8");

    sight.send(Vision::Blind).unwrap();
    let output = desk.call("read", json!({"path": "small.png"})).await;
    assert_eq!(output.content.len(), 1);
    assert!(text(&output).ends_with("This model cannot see pictures."));
}

#[tokio::test]
async fn a_damaged_picture_is_an_error() {
    let desk = Desk::with(|context| context.vision = watch::channel(Vision::Sees).1);
    desk.put("a.png", &png(3, 2)[..20]);
    assert!(
        desk.fails("read", json!({"path": "a.png"}))
            .await
            .starts_with("a.png cannot be shown as a picture: ")
    );
}

#[tokio::test]
async fn an_unknown_artifact_names_the_known_ones() {
    let desk = Desk::new();
    assert_eq!(
        desk.fails("read", json!({"path": "artifact://3"})).await,
        "Artifact 3 not found. Available: none"
    );
    assert_eq!(
        desk.fails("read", json!({"path": "artifact://x"})).await,
        "artifact:// ID must be numeric, got: x"
    );
}
