//! `longhand frames`: history as pictures, and pictures as text again.

use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use longhand_coding_agent::SessionFile;
use longhand_coding_agent::agent::CodingAgent;
use longhand_coding_agent::frames::{self, FrameFiles};
use longhand_session::digits::grouped;
use longhand_session::store::EntryTag;
use longhand_session::{ByteEstimate, Entry, TokenCounter};
use longhand_snapcompact::decode::{self, Decoder, recognize};
use longhand_snapcompact::resolve::{likely_api, resolve_for_text};
use longhand_snapcompact::{Family, LINE_END, ShapeChoice, Variant};
use serde_json::json;

use super::{frame_shapes, named_session};
use crate::arguments::frames::Frames;
use crate::exit::Exit;
use crate::output;

pub(crate) async fn run(agent: &CodingAgent, arguments: &Frames) -> Result<Exit> {
    if arguments.shapes {
        return frame_shapes::run(arguments);
    }
    if !arguments.decode.is_empty() {
        return read_back(agent, arguments);
    }
    let Some(out) = &arguments.out else {
        bail!("name the folder for the pictures with `--out DIR`");
    };
    let files = match &arguments.text {
        Some(source) => of_text(agent, arguments, source)?,
        None => of_session(agent, arguments).await?,
    };
    let folder = agent.directory().join(out);
    files.write(&folder)?;
    if arguments.json {
        return output::write(&(serde_json::to_string_pretty(&files.manifest)? + "\n"));
    }
    let missing = files.manifest.frames.iter().filter(|frame| frame.file.is_empty()).count();
    if missing > 0 {
        eprintln!(
            "{missing} pictures are not kept here; the text that they were drawn from is in `source.txt`"
        );
    }
    let tokens: u64 = files.manifest.frames.iter().map(|frame| frame.tokens).sum();
    output::write(&format!(
        "{}, {} tokens, in {}\n",
        counted(files.manifest.frames.len()),
        grouped(tokens),
        folder.display()
    ))
}

fn counted(frames: usize) -> String {
    if frames == 1 { "1 frame".to_owned() } else { format!("{frames} frames") }
}

/// The model's id, without its provider.
fn model_id(arguments: &Frames) -> &str {
    let name = arguments.common.model.as_deref().unwrap_or_default();
    name.split_once('/').map_or(name, |(_, id)| id)
}

fn of_text(agent: &CodingAgent, arguments: &Frames, source: &str) -> Result<FrameFiles> {
    let text = if source == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
        String::from_utf8_lossy(&bytes).into_owned()
    } else {
        let path = agent.directory().join(source);
        let bytes = fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let name = arguments.common.model.as_deref().unwrap_or_default();
    let api = likely_api(name);
    let choice = match &arguments.shape {
        Some(shape) => shape.parse()?,
        None => ShapeChoice::Auto,
    };
    let renderer = agent.renderer();
    let shape = resolve_for_text(&text, api, model_id(arguments), choice, renderer.fonts());
    let same = |variant: &&Variant| variant.sized(Family::of_api(api), shape.frame_size) == shape;
    let shape_name = Variant::ALL.iter().find(same).map_or("", |variant| variant.as_str());
    Ok(frames::of_text(&text, &shape, shape_name, name, renderer, Family::of_api(api))?)
}

async fn of_session(agent: &CodingAgent, arguments: &Frames) -> Result<FrameFiles> {
    let session = named_session::open(agent, arguments.session.as_deref())?;
    let named = arguments.common.model.as_deref();
    let client = match named_session::model(agent, &session.file, named).await {
        Ok(client) => client,
        // Only bills depend on the model, and its name says whose they are.
        Err(_) if named.is_some() => None,
        Err(error) => return Err(error),
    };
    let entry = match &arguments.entry {
        Some(id) => named_entry(&session.file, id)?,
        None => newest_archive(&session.file)?,
    };
    let model = client.as_ref().map(|client| client.model().reference().to_string());
    let model = model.or_else(|| named.map(str::to_owned)).unwrap_or_default();
    let family = client.as_ref().map_or_else(
        || Family::of_api(likely_api(&model)),
        |client| Family::of_api(client.model().api.as_str()),
    );
    let counter: Arc<dyn TokenCounter> =
        client.map_or_else(|| Arc::new(ByteEstimate) as Arc<_>, |client| client.counter());
    Ok(frames::of_archive(&entry, &model, family, &*counter, &*agent.frames())?)
}

fn named_entry(session: &SessionFile, id: &str) -> Result<Arc<Entry>> {
    let path = session.path(None)?;
    let row = path.iter().find(|row| row.id == *id);
    let row = row.with_context(|| format!("there is no entry `{id}` on the active branch"))?;
    session
        .read(std::slice::from_ref(row))?
        .pop()
        .with_context(|| format!("entry `{id}` cannot be read"))
}

/// The newest entry of the active branch with an archive. Reads compactions alone, newest first.
fn newest_archive(session: &SessionFile) -> Result<Arc<Entry>> {
    let path = session.path(None)?;
    for row in path.iter().rev().filter(|row| row.tag == EntryTag::Compaction) {
        let entry = session.read(std::slice::from_ref(row))?.pop();
        if let Some(entry) = entry.filter(|entry| has_archive(entry)) {
            return Ok(entry);
        }
    }
    bail!("the session has no archive; `longhand compact --method snapcompact` makes one")
}

fn has_archive(entry: &Entry) -> bool {
    let data = entry.compaction().and_then(|made| made.preserve_data.as_ref());
    data.and_then(longhand_session::archive::Archive::read).is_some()
}

/// Prints what frames say. Frames are read as pages of one text, in the order in which they are named.
fn read_back(agent: &CodingAgent, arguments: &Frames) -> Result<Exit> {
    let read = |path: &PathBuf| {
        let path = agent.directory().join(path);
        fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))
    };
    let files = arguments.decode.iter().map(read).collect::<Result<Vec<_>>>()?;
    let fonts = agent.renderer().fonts();
    let named = match &arguments.shape {
        Some(name) => Some(name.parse::<Variant>()?),
        None => None,
    };
    let mut known: Vec<Decoder> = Vec::new();
    let mut pages = Vec::new();
    for (path, png) in arguments.decode.iter().zip(&files) {
        let page = if let Some(page) = known.iter().find_map(|decoder| clean(decoder, png)) {
            page
        } else {
            let (decoder, page) = match named {
                Some(variant) => {
                    let decoder = Decoder::new(&sized(variant, png)?, fonts)?;
                    let page = decoder.decode(png);
                    (decoder, page)
                }
                None => match recognize(png, fonts) {
                    Ok((decoder, page)) => (decoder, Ok(page)),
                    Err(error) => bail!("`{}`: {error}", path.display()),
                },
            };
            known.push(decoder);
            page.with_context(|| format!("`{}`", path.display()))?
        };
        if page.unread_cells > 0 {
            eprintln!("`{}`: {} cells show no known character", path.display(), page.unread_cells);
        }
        pages.push(page);
    }
    let text = decode::join(&pages).replace(LINE_END, "\n");
    if arguments.json {
        let unread: usize = pages.iter().map(|page| page.unread_cells).sum();
        let document = json!({ "frames": pages.len(), "unreadCells": unread, "text": text });
        return output::write(&(serde_json::to_string_pretty(&document)? + "\n"));
    }
    output::write(&(text + "\n"))
}

fn clean(decoder: &Decoder, png: &[u8]) -> Option<decode::DecodedPage> {
    decoder.decode(png).ok().filter(|page| page.unread_cells == 0)
}

/// A shape with frames as wide as a picture.
fn sized(variant: Variant, png: &[u8]) -> Result<longhand_snapcompact::Shape> {
    use base64::Engine;
    let head = base64::engine::general_purpose::STANDARD.encode(&png[..png.len().min(24)]);
    let size =
        longhand_session::image_bill::PictureSize::of_png(&head).context("it is no PNG file")?;
    Ok(variant.sized(Family::Unknown, size.width_px))
}
