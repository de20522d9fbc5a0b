//! Pictures pixel by pixel, against hashes of their colours.

use longhand_snapcompact::{Family, Fonts, Variant, dim, raster};
use serde_json::Value;
use sha2::{Digest, Sha256};

mod generated;

fn text(case: &Value) -> String {
    if let Some(text) = case["text"].as_str() {
        return text.to_owned();
    }
    let number = |key: &str| case["gen"][key].as_u64().expect("a generated text has numbers");
    generated::text(number("n") as usize, number("seed"))
}

/// The page that is drawn: the text, or the text with its function words dimmed.
fn page(case: &Value) -> String {
    let text = text(case);
    let pages = [dim::dim_stopwords(&text).into_owned(), text];
    let is_meant = |page: &String| hex(page.as_bytes()) == case["text_sha256"];
    pages.into_iter().find(is_meant).unwrap_or_else(|| panic!("the text of {}", case["name"]))
}

/// Most cases name a shape; the others name the model whose shape it is, or none, which takes that of most.
fn shape_of(case: &Value) -> (Variant, usize) {
    let size = case["size"].as_u64().expect("a size") as usize;
    let variant = match (case["variant"].as_str(), case["model"]["api"].as_str()) {
        (Some(name), _) => name.parse().expect("the name of a shape"),
        (None, Some("google-generative-ai")) => Variant::Wide8On22,
        (None, Some("anthropic-messages") | None) => Variant::Wide11On16,
        (None, Some(api)) => panic!("no shape is known for `{api}`"),
    };
    (variant, size)
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn pictures_have_the_expected_pixels() {
    let vectors: Value =
        serde_json::from_str(include_str!("data/snapcompact/pixels.json")).expect("JSON");
    let mut tried = 0;
    for case in vectors["cases"].as_array().expect("cases") {
        let (variant, size) = shape_of(case);
        // The wide font is another one than that of the hashes.
        if variant == Variant::Silver16 {
            continue;
        }
        let shape = variant.sized(Family::Unknown, size);
        let drawing = raster::draw(&page(case), &shape, &Fonts::default()).expect("a picture");
        let dimensions = (drawing.width_px() as u64, drawing.height_px() as u64);
        assert_eq!(
            Some(dimensions),
            case["width"].as_u64().zip(case["height"].as_u64()),
            "{}",
            case["name"]
        );
        assert_eq!(
            hex(&drawing.rgb()),
            case["rgb_sha256"].as_str().expect("a hash"),
            "{}",
            case["name"]
        );
        tried += 1;
    }
    assert!(tried >= 40, "{tried} pictures were compared");
}
