//! Shapes, bills, and which model gets which, against tables.

use longhand_snapcompact::budget::{ImageBudgets, Room, frame_budget};
use longhand_snapcompact::inline_plan::{self, Candidate, Terms};
use longhand_snapcompact::model_class::ModelClass;
use longhand_snapcompact::resolve::{resolve, resolve_for_text};
use longhand_snapcompact::{Family, Fonts, Shape, ShapeChoice, Variant};
use serde_json::{Value, json};

fn table(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

fn rows<'a>(table: &'a Value, key: &str) -> &'a [Value] {
    table[key].as_array().unwrap_or_else(|| panic!("a list of {key}"))
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_else(|| panic!("{key} of {row}"))
}

fn number(row: &Value, key: &str) -> usize {
    row[key].as_u64().unwrap_or_else(|| panic!("{key} of {row}")) as usize
}

/// The name of an API in tables, where none is `(none)`.
fn api(name: &str) -> &str {
    if name == "(none)" { "" } else { name }
}

fn without(mut shape: Value, keys: &[&str]) -> Value {
    let members = shape.as_object_mut().expect("a shape is an object");
    members.retain(|key, _| !keys.contains(&key.as_str()));
    shape
}

#[test]
fn shapes_have_the_geometry_of_the_table() {
    let table = table(include_str!("data/snapcompact/shapes.json"));
    let variants = table["variants"].as_object().expect("variants");
    let names: Vec<&str> = Variant::ALL.iter().map(|variant| variant.as_str()).collect();
    assert_eq!(names, variants.keys().map(String::as_str).collect::<Vec<_>>());
    for (name, expected) in variants {
        let variant: Variant = name.parse().expect("a name");
        let shape = serde_json::to_value(variant.shape(Family::Unknown)).expect("JSON");
        assert_eq!(without(shape, &["frameTokenEstimate"]), *expected, "{name}");
    }
    for row in rows(&table, "geometry") {
        let variant: Variant = text(row, "variant").parse().expect("a name");
        let grid = variant.sized(Family::Unknown, number(row, "size")).grid().expect("a grid");
        let actual = (grid.cols, grid.rows, grid.capacity());
        assert_eq!(
            actual,
            (number(row, "cols"), number(row, "rows"), number(row, "capacity")),
            "{row}"
        );
    }
}

#[test]
fn pictures_are_billed_as_the_table_says() {
    let table = table(include_str!("data/snapcompact/shapes.json"));
    for row in rows(&table, "billing_rect_beyond") {
        let family: Family = serde_json::from_value(row["family"].clone()).expect("a family");
        let tokens = family.frame_tokens(number(row, "width"), number(row, "height"));
        assert_eq!(tokens as usize, number(row, "tokens"), "{row}");
    }
    let budgets = ImageBudgets::default();
    for (provider, images) in
        table["constants"]["PROVIDER_IMAGE_BUDGETS"].as_object().expect("budgets")
    {
        assert_eq!(Some(budgets.of(provider).images as u64), images.as_u64(), "{provider}");
    }
    assert_eq!(budgets.of("a gateway of one's own").images, 5);
}

#[test]
fn a_model_gets_the_shape_that_it_reads_best() {
    for row in rows(&table(include_str!("data/snapcompact/resolve_auto.json")), "cases") {
        let id = text(row, "id");
        let class = ModelClass::of(id);
        assert_eq!(class.is_anthropic, row["class"] == "anthropic", "{id}");
        if class.is_anthropic {
            assert_eq!(class.line, row["family"].as_str(), "{id}");
            let revision = class.revision.map(|r| format!("{}.{}.{}", r.0, r.1, r.2));
            assert_eq!(revision.as_deref(), row["revision"].as_str(), "{id}");
        }
        for (name, expected) in row["by_api"].as_object().expect("APIs") {
            let shape = resolve(api(name), id, ShapeChoice::Auto);
            let variant: Variant = text(expected, "variant").parse().expect("a name");
            let own = variant.sized(Family::of_api(api(name)), number(expected, "frameSize"));
            assert_eq!(shape, own, "{id} over {name}");
            assert_eq!(
                shape.frame_token_estimate as usize,
                number(expected, "frameTokenEstimate"),
                "{id} over {name}"
            );
        }
    }
}

#[test]
fn a_chosen_shape_is_kept_whatever_the_model() {
    for row in rows(&table(include_str!("data/snapcompact/resolve_forced.json")), "cases") {
        let variant: Variant = text(row, "variant").parse().expect("a name");
        let shape = resolve(
            row["api"].as_str().unwrap_or_default(),
            "claude-opus-4-8",
            ShapeChoice::Fixed(variant),
        );
        assert_eq!(serde_json::to_value(&shape).expect("JSON"), row["shape"], "{row}");
        assert_eq!(Shape::from_json(&row["shape"]).expect("a shape"), shape);
    }
    assert_eq!("wide16-bw".parse::<Variant>().expect("a second name"), Variant::Silver16);
}

#[test]
fn a_shape_from_a_file_is_refused_with_the_reason() {
    let valid = serde_json::to_value(Variant::Fixed8x13Black.shape(Family::Openai)).expect("JSON");
    for (member, value, reason) in [
        ("font", json!("comic"), "unknown variant `comic`"),
        ("font", json!(null), "invalid type"),
        ("variant", json!("red"), "unknown variant `red`"),
        ("cellWidth", json!("8"), "invalid type: string"),
        ("cellWidth", json!(-8), "invalid value"),
        ("cellHeight", json!(0), "`cellHeight` is 0"),
        ("columns", json!(3), "3 text columns cannot be drawn"),
        ("lineRepeat", json!(0), "`lineRepeat` is 0"),
        ("frameSize", json!(7), "no cell of 8x13 px"),
        ("frameSize", json!(20_000), "a frame of 20000 px cannot be drawn"),
        ("frameTokenEstimate", json!(0), "`frameTokenEstimate` is 0"),
        ("imageDetail", json!("huge"), "unknown variant `huge`"),
    ] {
        let mut shape = valid.clone();
        shape[member] = value;
        let refused = Shape::from_json(&shape).expect_err(member).to_string();
        assert!(refused.contains(reason), "{member}: {refused}");
    }
    let refused = Shape::from_json(&json!("8x13-bw")).expect_err("a name is no shape");
    assert!(refused.to_string().contains("is not valid"), "{refused}");
}

#[test]
fn text_decides_where_nothing_is_chosen() {
    for row in rows(&table(include_str!("data/snapcompact/shape_for_text.json")), "cases") {
        let choice: ShapeChoice = text(row, "variant").parse().expect("a choice");
        let (api, id) = (text(&row["model"], "api"), text(&row["model"], "id"));
        let shape = resolve_for_text(text(row, "text"), api, id, choice, &Fonts::default());
        // Two cells of these models' own shapes hold a wide glyph in full, so that square cells would gain nothing.
        let expected = if row["picked_font"] == "silver" && choice == ShapeChoice::Auto {
            let own = resolve(api, id, choice);
            json!([own.font.as_str(), [own.cell_width, own.cell_height]])
        } else {
            json!([row["picked_font"], row["picked_cell"]])
        };
        assert_eq!(
            json!([shape.font.as_str(), [shape.cell_width, shape.cell_height]]),
            expected,
            "{row}"
        );
    }
}

#[test]
fn frames_are_budgeted_by_what_they_cost() {
    let provider = ImageBudgets::default().of("anthropic");
    let shape = resolve("anthropic-messages", "claude-opus-4-8", ShapeChoice::Auto);
    let room = |window, kept| Room { window, reserve: 30_000, kept, provider };
    for (window, kept, frames) in [
        (None, 0, 18),
        (Some(200_000), 30_000, 18),
        (Some(120_000), 30_000, 9),
        (Some(60_000), 10_000, 1),
        (Some(60_000), 30_000, 0),
    ] {
        assert_eq!(frame_budget(&shape, &room(window, kept)), frames, "{window:?} {kept}");
    }
    let mut budgets = ImageBudgets::default();
    budgets.images.insert("gateway".into(), 12);
    assert_eq!(
        frame_budget(&shape, &Room { provider: budgets.of("gateway"), ..room(None, 0) }),
        12
    );
}

#[test]
fn results_are_swapped_as_the_table_says() {
    for row in rows(&table(include_str!("data/snapcompact/inline_plan.json")), "cases") {
        let candidate = |result: &Value| Candidate {
            id: result["id"].as_str().unwrap_or_default().into(),
            text_tokens: number(result, "textTokens") as u64,
            frames: number(result, "frames"),
            is_error: result["isError"] == true,
        };
        let results: Vec<Candidate> = rows(row, "toolResults").iter().map(candidate).collect();
        let system = row["systemPrompt"].is_object().then(|| candidate(&row["systemPrompt"]));
        let terms = Terms {
            tool_results: row["options"]["renderToolResults"] == true,
            system_prompt: row["options"]["renderSystemPrompt"] != "none",
            frame_tokens: number(row, "frameTokenEstimate") as u64,
            budget: row["budget"].as_i64().expect("a budget").max(0) as usize,
            has_user_message: row["hasUserMessage"] == true,
        };
        let swaps = inline_plan::plan(&results, system.as_ref(), &terms);
        let of_results: Vec<Value> = swaps
            .iter()
            .filter_map(|swap| Some(json!({"id": swap.id.as_ref()?, "textTokens": swap.text_tokens, "frames": swap.frames})))
            .collect();
        assert_eq!(json!(of_results), row["result"]["toolResults"], "{row}");
        let of_system = swaps.iter().find(|swap| swap.id.is_none());
        assert_eq!(of_system.is_some(), row["result"]["systemPrompt"].is_object(), "{row}");
    }
}
