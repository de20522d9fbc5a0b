//! What a provider takes of pictures.

use longhand_compaction::outgoing_images::{ImageClamp, UndecodableImages};
use longhand_session::Model;
use serde_json::{Value, json};

use crate::sent::{image, options, png, request, result, said, seeing, sent};

/// A clamp to `images` pictures and `bytes` bytes for the provider of [`seeing`].
fn clamp(images: usize, bytes: u64) -> ImageClamp {
    ImageClamp::new(options(|options| {
        let budgets = &mut options.snapcompact.image_budgets;
        budgets.images.insert("google".into(), images);
        budgets.bytes.insert("google".into(), bytes);
    }))
}

fn screenshots(count: usize) -> Vec<Value> {
    (0..count).map(|at| result(&at.to_string(), &json!([image(&png())]))).collect()
}

fn shown(request: &longhand_agent::Request) -> Vec<bool> {
    request.messages.iter().map(|message| said(message) == ["(image)"]).collect()
}

#[test]
fn the_oldest_pictures_beyond_the_budget_are_left_out() {
    let request = request(&screenshots(5));
    let after = sent(&clamp(3, u64::MAX), &request, &seeing());
    assert_eq!(shown(&after), [false, false, true, true, true]);
    assert_eq!(said(&after.messages[0]), ["[image omitted: provider image limit]"]);
    assert_eq!(sent(&clamp(5, u64::MAX), &request, &seeing()).messages, request.messages);
}

#[test]
fn pictures_are_left_out_by_their_bytes_too() {
    let request = request(&screenshots(4));
    let after = sent(&clamp(4, 2 * png().len() as u64), &request, &seeing());
    assert_eq!(shown(&after), [false, false, true, true]);
}

#[test]
fn the_place_where_pictures_begin_does_not_move_with_every_message() {
    let clamp = clamp(16, u64::MAX);
    let first_shown = |count: usize| {
        let after = sent(&clamp, &request(&screenshots(count)), &seeing());
        shown(&after).iter().position(|shown| *shown)
    };
    assert_eq!([17, 18, 19, 20].map(first_shown), [Some(2), Some(2), Some(4), Some(4)]);
}

#[test]
fn a_gap_in_an_archive_is_told() {
    let archive = json!({"role": "user", "content": [
        {"type": "text", "text": "the guide"}, {"type": "text", "text": "old\n-------------- imaged middle below\n"},
        image(&png()), image(&png()), image(&png()), {"type": "text", "text": "new"}]});
    let after = sent(&clamp(2, u64::MAX), &request(&[archive]), &seeing());
    let said = said(&after.messages[0]);
    assert_eq!(said.iter().filter(|line| *line == "(image)").count(), 2);
    assert!(
        said[2]
            .starts_with("-------------- snapcompact image middle omitted\n1 archived image frame"),
        "{said:?}"
    );
}

#[test]
fn a_model_without_eyes_is_left_alone() {
    let request = request(&screenshots(3));
    let model = Model { input: Vec::new(), ..seeing() };
    assert_eq!(sent(&clamp(1, 1), &request, &model).messages, request.messages);
}

#[test]
fn pictures_that_nobody_can_read_become_a_note() {
    let guard = UndecodableImages::default();
    let png = png();
    let broken = [image("####"), image("aGVsbG8gd29ybGQ="), image(&png[..png.len() / 8 * 4])];
    let mut messages: Vec<Value> =
        broken.iter().map(|image| result("a", &json!([image]))).collect();
    messages.push(result("b", &json!([image(&png)])));
    let request = request(&messages);
    let once = sent(&guard, &request, &seeing());
    assert_eq!(
        said(&once.messages[0]),
        ["[image omitted: undecodable image/png data (not base64)]"]
    );
    assert_eq!(
        said(&once.messages[1]),
        ["[image omitted: undecodable image/png data (no known format)]"]
    );
    assert!(said(&once.messages[2])[0].starts_with("[image omitted: undecodable image/png data ("));
    assert_eq!(said(&once.messages[3]), ["(image)"]);
    assert_eq!(
        sent(&guard, &request, &seeing()).messages,
        once.messages,
        "the verdicts are remembered"
    );
}
