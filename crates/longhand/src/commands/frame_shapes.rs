//! `longhand frames --shapes`: what each shape holds and costs.

use anyhow::Result;
use longhand_session::digits::grouped;
use longhand_snapcompact::resolve::{likely_api, resolve};
use longhand_snapcompact::{Family, Shape, ShapeChoice, Variant};
use serde_json::json;

use crate::arguments::frames::Frames;
use crate::exit::Exit;
use crate::output;
use crate::table::{Align, Table};

/// Families whose bills are shown, with the names of their columns.
const FAMILIES: [(Family, &str); 3] =
    [(Family::Anthropic, "anthropic"), (Family::Openai, "openai"), (Family::Google, "google")];

pub(crate) fn run(arguments: &Frames) -> Result<Exit> {
    let model = arguments.common.model.as_deref();
    let family = model.map(|model| Family::of_api(likely_api(model)));
    let rows: Vec<Row> = Variant::ALL.iter().map(|variant| Row::new(*variant, model)).collect();
    if arguments.json {
        let document: Vec<_> = rows.iter().map(|row| row.json(family)).collect();
        return output::write(&(serde_json::to_string_pretty(&document)? + "\n"));
    }
    let mut columns = vec![
        ("shape", Align::Left),
        ("cell", Align::Right),
        ("px", Align::Right),
        ("chars", Align::Right),
    ];
    for (_, name) in shown(family) {
        columns.push((name, Align::Right));
        columns.push(("c/tok", Align::Right));
    }
    let mut table = Table::new(&columns);
    for row in &rows {
        table.row(row.cells(family));
    }
    let lines = table.lines();
    let mut text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    text.push_str(
        "\nchars: characters of a full frame; c/tok: characters for each billed token of it\n",
    );
    if let Some(model) = model {
        text.push_str(&format!(
            "*: what `{model}` gets unless `snapcompact.shape` says otherwise\n"
        ));
    }
    output::write(&text)
}

/// The families whose bills are shown: that of the model, or all that are known.
fn shown(family: Option<Family>) -> Vec<(Family, &'static str)> {
    match family {
        Some(Family::Unknown) => vec![(Family::Unknown, "tokens")],
        Some(family) => FAMILIES.into_iter().filter(|(of, _)| *of == family).collect(),
        None => FAMILIES.to_vec(),
    }
}

struct Row {
    variant: Variant,
    shape: Shape,
    is_model_s: bool,
}

impl Row {
    fn new(variant: Variant, model: Option<&str>) -> Self {
        let own = model.map(|model| resolve(likely_api(model), model, ShapeChoice::Auto));
        let is_same = |own: &Shape| {
            variant.sized(Family::Unknown, own.frame_size).grid().ok() == own.grid().ok()
                && variant.shape(Family::Unknown).font == own.font
                && variant.shape(Family::Unknown).ink == own.ink
        };
        match own.filter(is_same) {
            Some(own) => Self { variant, shape: own, is_model_s: true },
            None => Self { variant, shape: variant.shape(Family::Unknown), is_model_s: false },
        }
    }

    fn capacity(&self) -> usize {
        self.shape.grid().map_or(0, longhand_snapcompact::shape::Grid::capacity)
    }

    fn bill(&self, family: Family) -> (u64, f64) {
        let tokens = family.frame_tokens(self.shape.frame_size, self.shape.frame_size);
        (tokens, self.capacity() as f64 / tokens as f64)
    }

    fn cells(&self, family: Option<Family>) -> Vec<String> {
        let mark = if self.is_model_s { "*" } else { "" };
        let mut cells = vec![
            format!("{}{mark}", self.variant),
            format!("{}x{}", self.shape.cell_width, self.shape.cell_height),
            self.shape.frame_size.to_string(),
            grouped(self.capacity() as u64),
        ];
        for (family, _) in shown(family) {
            let (tokens, per_token) = self.bill(family);
            cells.push(grouped(tokens));
            cells.push(format!("{per_token:.2}"));
        }
        cells
    }

    fn json(&self, family: Option<Family>) -> serde_json::Value {
        let bills: serde_json::Map<String, serde_json::Value> = shown(family)
            .into_iter()
            .map(|(family, name)| {
                let (tokens, per_token) = self.bill(family);
                (name.to_owned(), json!({ "tokens": tokens, "charsPerToken": per_token }))
            })
            .collect();
        json!({
            "shape": self.variant.as_str(), "isDefault": self.is_model_s,
            "cellWidth": self.shape.cell_width, "cellHeight": self.shape.cell_height,
            "frameSize": self.shape.frame_size, "capacity": self.capacity(), "bills": bills,
        })
    }
}
