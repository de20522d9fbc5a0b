//! Whether frames can be read back: all of it by the decoder, and how much by a general OCR program.
//!
//! The decoder is the proof that nothing is lost in print; a miss is a bug and fails the run. The OCR program is an alarm for a
//! shape that suddenly reads worse than it did. It says nothing of which shape a model reads best.

use std::fmt::Write as _;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use image::ImageFormat;
use image::imageops::FilterType;
use longhand_snapcompact::normalize::normalize;
use longhand_snapcompact::{Decoder, Family, Renderer, Shape, Variant};
use serde::Serialize;

use super::corpus::{self, Kind, Sample};
use super::reader;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Seed of the texts
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Characters of each text that the decoder reads back
    #[arg(long, default_value_t = 20_000)]
    chars: usize,
    /// Characters of each text that the OCR program reads
    #[arg(long, default_value_t = 600)]
    ocr_chars: usize,
    /// Folder for legibility.json and legibility.md; made where it is missing
    #[arg(long)]
    out: PathBuf,
}

/// Longest edge of a picture that Anthropic's smaller models take as it is; larger ones are scaled down to it.
const PROVIDER_EDGE_PX: u32 = 1568;

#[derive(Serialize)]
struct Report {
    seed: u64,
    chars: usize,
    ocr_chars: usize,
    provider_edge_px: u32,
    /// Whether the OCR program was there.
    has_ocr: bool,
    shapes: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    shape: &'static str,
    frame_px: usize,
    /// Characters for each billed token of a full frame: Anthropic, `OpenAI`, Google.
    chars_per_token: [f64; 3],
    /// `None` where letters are resampled.
    decoded: Option<Vec<Decoded>>,
    ocr: Vec<Ocr>,
}

#[derive(Serialize)]
struct Decoded {
    kind: &'static str,
    is_exact: bool,
}

#[derive(Serialize)]
struct Ocr {
    kind: &'static str,
    native: Score,
    /// After the provider's scaling, where it changes anything.
    downscaled: Option<Score>,
}

#[derive(Serialize)]
struct Score {
    character_error_rate: f64,
    identifier_recall: Option<f64>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let has_ocr = reader::is_installed();
    if !has_ocr {
        println!(
            "tesseract is not installed: only the decoder reads (Debian: apt install tesseract-ocr)"
        );
    }
    let long = corpus::samples(arguments.seed, arguments.chars);
    let short = corpus::samples(arguments.seed, arguments.ocr_chars);
    let mut shapes = Vec::new();
    for (variant, frame_px) in sizes() {
        shapes.push(row(variant, frame_px, &long, if has_ocr { &short } else { &[] })?);
        println!("{variant} at {frame_px} px");
    }
    let &Arguments { seed, chars, ocr_chars, .. } = arguments;
    let report =
        Report { seed, chars, ocr_chars, provider_edge_px: PROVIDER_EDGE_PX, has_ocr, shapes };
    write(&report, &arguments.out)?;
    let misses = misses(&report);
    if !misses.is_empty() {
        bail!("not read back in full: {}", misses.join(", "));
    }
    Ok(())
}

/// Every shape at its own size, and the sizes that particular models get.
fn sizes() -> impl Iterator<Item = (Variant, usize)> {
    let own = Variant::ALL.iter().map(|variant| (*variant, variant.frame_size()));
    own.chain([(Variant::Wide11On16, 1932), (Variant::Wide8On22, 2048)])
}

fn row(variant: Variant, frame_px: usize, long: &[Sample], short: &[Sample]) -> Result<Row> {
    let shape = variant.sized(Family::Anthropic, frame_px);
    let capacity = shape.grid()?.capacity() as f64;
    let chars_per_token = [Family::Anthropic, Family::Openai, Family::Google]
        .map(|family| capacity / family.frame_tokens(frame_px, frame_px) as f64);
    let ocr = short.iter().filter(|sample| sample.kind != Kind::Cjk);
    Ok(Row {
        shape: variant.as_str(),
        frame_px,
        chars_per_token,
        decoded: decoded(&shape, long)?,
        ocr: ocr.map(|sample| ocr_of(&shape, sample)).collect::<Result<_>>()?,
    })
}

fn decoded(shape: &Shape, samples: &[Sample]) -> Result<Option<Vec<Decoded>>> {
    if shape.is_stretched() {
        return Ok(None);
    }
    let renderer = Renderer::default();
    let decoder = Decoder::new(shape, renderer.fonts())?;
    let mut all = Vec::new();
    for sample in samples {
        let frames = renderer.render(&sample.text, shape, usize::MAX)?;
        let read = decoder.decode_all(frames.iter().map(|frame| &*frame.png))?;
        let printed = normalize(&sample.text, &renderer.fonts().glyphs(shape.font)).text;
        all.push(Decoded {
            kind: sample.kind.as_str(),
            is_exact: comparable(&read, shape) == comparable(&readable(&printed, &decoder), shape),
        });
    }
    Ok(Some(all))
}

/// A text with each character as its picture is read: of characters that look alike, the lowest code point.
fn readable(text: &str, decoder: &Decoder) -> String {
    text.chars().filter_map(|c| decoder.reading_of(c)).collect()
}

/// Wrapped lines do not tell whether a word that fills one ended there, so blanks do not count in them.
fn comparable(text: &str, shape: &Shape) -> String {
    if shape.columns > 1 { text.replace(' ', "") } else { text.to_owned() }
}

fn ocr_of(shape: &Shape, sample: &Sample) -> Result<Ocr> {
    let renderer = Renderer::default();
    let frames = renderer.render(&sample.text, shape, 1)?;
    let frame = frames.first().context("a sample prints nothing")?;
    let truth = normalize(&sample.text, &renderer.fonts().glyphs(shape.font)).text;
    let downscaled = match downscaled(&frame.png)? {
        Some(png) => Some(score(&png, &truth, sample)?),
        None => None,
    };
    Ok(Ocr { kind: sample.kind.as_str(), native: score(&frame.png, &truth, sample)?, downscaled })
}

fn score(png: &[u8], truth: &str, sample: &Sample) -> Result<Score> {
    let folder = tempfile::tempdir()?;
    let read = reader::read(png, folder.path())?;
    Ok(Score {
        character_error_rate: reader::character_error_rate(truth, &read),
        identifier_recall: reader::recall(&sample.identifiers, &read),
    })
}

/// The picture as a provider scales it; `None` where it is small enough.
fn downscaled(png: &[u8]) -> Result<Option<Vec<u8>>> {
    let picture = image::load_from_memory(png)?;
    if picture.width().max(picture.height()) <= PROVIDER_EDGE_PX {
        return Ok(None);
    }
    let small = picture.to_rgb8().into();
    let small = image::DynamicImage::resize(
        &small,
        PROVIDER_EDGE_PX,
        PROVIDER_EDGE_PX,
        FilterType::Lanczos3,
    );
    let mut file = Cursor::new(Vec::new());
    small.write_to(&mut file, ImageFormat::Png)?;
    Ok(Some(file.into_inner()))
}

/// Shapes and kinds of text that were not read back.
fn misses(report: &Report) -> Vec<String> {
    let missed = |row: &Row| -> Vec<String> {
        let all = row.decoded.iter().flatten().filter(|decoded| !decoded.is_exact);
        all.map(|decoded| format!("{} at {} px ({})", row.shape, row.frame_px, decoded.kind))
            .collect()
    };
    report.shapes.iter().flat_map(missed).collect()
}

fn write(report: &Report, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let json = serde_json::to_string_pretty(report)? + "\n";
    for (name, content) in [("legibility.json", json), ("legibility.md", table(report))] {
        let path = folder.join(name);
        fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn table(report: &Report) -> String {
    let mut out = String::from(
        "| shape | frame, px | characters a token: Anthropic / OpenAI / Google | decoder | OCR errors: prose | code | search output | hex ids | identifiers |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for row in &report.shapes {
        let decoder = match &row.decoded {
            None => "not readable",
            Some(all) if all.iter().all(|decoded| decoded.is_exact) => "100 %",
            Some(_) => "misses",
        };
        let [anthropic, openai, google] = row.chars_per_token;
        let bill = format!("{anthropic:.1} / {openai:.1} / {google:.1}");
        line(&mut out, row, &bill, decoder, |ocr| Some(&ocr.native));
        if row.ocr.iter().any(|ocr| ocr.downscaled.is_some()) {
            line(&mut out, row, "scaled down", "", |ocr| ocr.downscaled.as_ref());
        }
    }
    out
}

fn line(
    out: &mut String,
    row: &Row,
    bill: &str,
    decoder: &str,
    score: impl Fn(&Ocr) -> Option<&Score>,
) {
    let scores: Vec<&Score> = row.ocr.iter().filter_map(&score).collect();
    let errors = scores.iter().map(|score| format!("{:.3}", score.character_error_rate));
    let recalls: Vec<f64> = scores.iter().filter_map(|score| score.identifier_recall).collect();
    let recall = if recalls.is_empty() {
        "–".to_owned()
    } else {
        format!("{:.2}", recalls.iter().sum::<f64>() / recalls.len() as f64)
    };
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "| `{}` | {} | {bill} | {decoder} | {} | {recall} |",
        row.shape,
        row.frame_px,
        errors.collect::<Vec<_>>().join(" | "),
    );
}
