//! The interactive agent: the first screen where there is no model, then the session.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use longhand_agent::UserInput;
use longhand_agent::start::Asking;
use longhand_coding_agent::agent::{
    CodingAgent, KeyVariable, OpenError, OpenRequest, Opened, SessionChoice,
};
use longhand_coding_agent::{places, stores};
use longhand_session::draft_text::DraftText;
use longhand_session::place::SessionPlace;

use crate::arguments::Launch;
use crate::exit::Exit;
use crate::launch;
use crate::prompt_input::{self, Stdin};
use crate::setup;
use crate::tui::{
    self, Choice, Desk, FirstRunOptions, Hints, Images, KeptDraft, KeyReader, KeyState, Next,
    Outlet, Palette, Picked, Screen, Shelf, Surroundings, SymbolSet, Theme, TuiOptions,
    ViewerOptions,
};

/// How many variables the first screen names that are not set. More would not help to choose one.
const MOST_UNSET_KEYS: usize = 4;

/// Runs until the user leaves.
///
/// # Errors
/// The session cannot be opened, or there is no terminal.
pub(crate) async fn run(agent: &CodingAgent, launch: &Launch) -> Result<Exit> {
    let mut keys = None;
    let mut request = request(launch);
    if launch.resume == Some(None) {
        request.session =
            match picked(agent, launch, keys.get_or_insert_with(KeyReader::default)).await {
                Ok(Some(place)) => SessionChoice::At(place),
                Ok(None) => return Ok(Exit::Success),
                Err(exit) => return Ok(exit),
            };
    }
    let opened = match agent.open(request.clone()).await {
        Ok(opened) => opened,
        Err(OpenError::NoModel(_)) => return without_model(agent, launch, request).await,
        Err(error) => return Err(error.into()),
    };
    session(agent, launch, opened, String::new(), keys.unwrap_or_default()).await
}

/// What the flags ask to be opened, for somebody who sits at a terminal.
fn request(launch: &Launch) -> OpenRequest {
    OpenRequest { terminal: setup::terminal(), ..launch::request(launch, Asking::Interactive) }
}

/// Shows the first screen, and goes on with what was chosen there.
async fn without_model(
    agent: &CodingAgent,
    launch: &Launch,
    mut request: OpenRequest,
) -> Result<Exit> {
    let chosen = tui::first_run(first_run_options(agent, launch).await).await?;
    match chosen.choice {
        Choice::Leave(exit) => Ok(exit),
        Choice::Demo => {
            request.model = Some("demo/offline".into());
            session(agent, launch, agent.open(request).await?, chosen.draft, chosen.keys).await
        }
        Choice::Key => {
            let agent = setup::watched_agent(&launch.common, launch::overrides(launch))?;
            request.model = agent.first_model_with_key().await;
            let opened = agent.open(request).await?;
            session(&agent, launch, opened, chosen.draft, chosen.keys).await
        }
        Choice::Server(url) => {
            let mut overrides = launch::overrides(launch);
            overrides.push(format!("providers.local.baseUrl={url}"));
            let agent = setup::watched_agent(&launch.common, overrides)?;
            let opened = agent.open(request).await?;
            session(&agent, launch, opened, chosen.draft, chosen.keys).await
        }
    }
}

async fn first_run_options(agent: &CodingAgent, launch: &Launch) -> FirstRunOptions {
    let common = launch.common.clone();
    let keys = move || {
        // Variables can only be set before the program starts; a shell that was suspended may have been restarted since.
        let agent = setup::agent(&common, Vec::new()).ok();
        let variables = agent.map(|agent| agent.first_run().variables).unwrap_or_default();
        let shown = |(at, key): &(usize, KeyVariable)| key.is_set || *at < MOST_UNSET_KEYS;
        let variables = variables.into_iter().enumerate().filter(shown);
        variables.map(|(_, key)| KeyState { variable: key.name, is_set: key.is_set }).collect()
    };
    FirstRunOptions {
        palette: palette(agent, launch),
        symbols: symbols(agent, launch),
        version: env!("CARGO_PKG_VERSION").into(),
        place: place(agent.directory()).await,
        draft: launch.prompt.join(" "),
        keys: Box::new(keys),
        sessions: agent.first_run().sessions_here,
    }
}

async fn session(
    agent: &CodingAgent,
    launch: &Launch,
    mut opened: Opened,
    draft: String,
    mut keys: KeyReader,
) -> Result<Exit> {
    let messages = if draft.is_empty() {
        prompt_input::gather(&launch.prompt, Stdin::Terminal, agent.directory())?
    } else {
        Vec::new()
    };
    let mut start = Start { draft, messages, notices: agent.notices().to_vec() };
    let mut screen = Screen::take("longhand").context("the terminal cannot be used")?;
    loop {
        start.notices.append(&mut opened.notices);
        let (place, id) = (opened.place.clone(), opened.header.id.to_string());
        let options = options(agent, launch, &opened, std::mem::take(&mut start)).await;
        let choice = match tui::run(opened.session, options, &mut screen, &mut keys).await? {
            Next::Leave { exit, last_answer } => {
                drop(screen);
                if let Some(answer) = last_answer {
                    let answer = Some(answer).filter(|_| agent.settings().exit.print_last);
                    let id = place.filter(stores::exists).map(|_| id);
                    tui::print_farewell(answer.as_deref(), id.as_deref());
                }
                return Ok(exit);
            }
            Next::Open(place) => SessionChoice::At(place),
            Next::New if place.is_none() => SessionChoice::InMemory,
            Next::New => SessionChoice::NewNow,
            Next::Fork => SessionChoice::Fork(id),
        };
        // The model of the command line is for the session that it started.
        let request = OpenRequest { session: choice, ..request(launch) };
        opened = match agent.open(request.clone()).await {
            Ok(opened) => opened,
            Err(error) => {
                start.notices.push(format!("{:#}", anyhow::Error::from(error)));
                let session = match place.filter(stores::exists) {
                    Some(place) => SessionChoice::At(place),
                    None => SessionChoice::New,
                };
                agent.open(OpenRequest { session, ..request }).await?
            }
        };
    }
}

/// What a session starts with, besides itself.
#[derive(Default)]
struct Start {
    draft: String,
    messages: Vec<UserInput>,
    notices: Vec<String>,
}

async fn options(
    agent: &CodingAgent,
    launch: &Launch,
    opened: &Opened,
    start: Start,
) -> TuiOptions {
    let (draft, kept_draft) = kept_draft(opened, start.draft);
    TuiOptions {
        palette: palette(agent, launch),
        symbols: symbols(agent, launch),
        surroundings: Surroundings {
            thinking: opened.thinking.clone(),
            folder: folder(&opened.directory),
            git: git(&opened.directory).await,
            mode: Some(agent.settings().tools.approval_mode.clone()).filter(|mode| mode != "write"),
            session: opened.header.title.clone(),
            about: about(opened),
            is_compaction_automatic: agent.settings().compaction.enabled,
        },
        draft,
        kept_draft,
        messages: start.messages,
        notices: start.notices,
        desk: desk(agent),
        viewer: viewer(agent, launch, opened),
    }
}

/// What the editor begins with, and who keeps it: what was left in it the last time, unless there is something new.
fn kept_draft(opened: &Opened, draft: String) -> (String, KeptDraft) {
    let place = opened.place.clone();
    let text = place.as_ref().map(|place| DraftText::among(place.artifact_folder()));
    let kept = text.as_ref().and_then(|text| text.read().ok().flatten()).unwrap_or_default();
    let has_session = Box::new(move || place.as_ref().is_some_and(stores::exists));
    let shown = if draft.is_empty() { kept.clone() } else { draft };
    (shown, KeptDraft::new(text, has_session, kept))
}

/// A session in a few words: its id, and where it lies.
fn about(opened: &Opened) -> String {
    let place = match &opened.place {
        Some(SessionPlace::File(path)) => path.display().to_string(),
        Some(SessionPlace::Database { path, .. }) => format!("database {}", path.display()),
        None => "in memory only".to_owned(),
    };
    format!("session {}: {place}", opened.header.id)
}

/// Where sessions are listed for picking.
fn desk(agent: &CodingAgent) -> Desk {
    Desk { sessions: agent.sessions().clone(), directory: agent.directory().to_owned() }
}

/// What the viewer of frames is told.
fn viewer(agent: &CodingAgent, launch: &Launch, opened: &Opened) -> ViewerOptions {
    let environment = setup::environment();
    let named = environment.var("LONGHAND_IMAGE_VIEWER");
    let usual = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let runtime = environment.var("XDG_RUNTIME_DIR").map(PathBuf::from);
    ViewerOptions {
        shelf: Shelf { place: opened.place.clone(), blobs: agent.blobs() },
        outlet: Outlet {
            runtime: runtime.filter(|folder| folder.is_dir()).unwrap_or_else(std::env::temp_dir),
            kept: opened.directory.clone(),
            viewer: named.unwrap_or(usual).split_whitespace().map(str::to_owned).collect(),
        },
        hints: Hints::of(&environment),
        images: if launch.no_images || !agent.settings().terminal.show_images {
            Images::Off
        } else {
            Images::Shown
        },
    }
}

/// `--resume` without a value: a session is picked before any is opened. `None` where the user went back.
async fn picked(
    agent: &CodingAgent,
    launch: &Launch,
    keys: &mut KeyReader,
) -> Result<Option<SessionPlace>, Exit> {
    let theme = Theme::new(palette(agent, launch), symbols(agent, launch));
    let Ok(mut screen) = Screen::take("longhand") else { return Err(Exit::Failure) };
    match tui::pick(&mut screen, keys, &theme, &desk(agent), "").await {
        Picked::Session(place) => Ok(Some(place)),
        Picked::Nothing => Ok(None),
        Picked::Ended(number) => Err(Exit::Signal(number)),
    }
}

fn palette(agent: &CodingAgent, launch: &Launch) -> Palette {
    let is_plain =
        launch.no_color || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    match agent.settings().theme.mode.as_str() {
        _ if is_plain || !std::io::stdout().is_terminal() => Palette::Mono,
        "light" => Palette::Light,
        _ => Palette::Dark,
    }
}

fn symbols(agent: &CodingAgent, launch: &Launch) -> SymbolSet {
    if launch.ascii || agent.settings().symbols == "ascii" {
        SymbolSet::Ascii
    } else {
        SymbolSet::Unicode
    }
}

fn folder(directory: &Path) -> String {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    tui::folder_name(directory, home.as_deref())
}

/// The working folder and branch, as the status line shows them.
async fn place(directory: &Path) -> String {
    match git(directory).await {
        Some(git) => format!("{} · {git}", folder(directory)),
        None => folder(directory),
    }
}

/// The branch of the repository around a folder, read from `.git/HEAD`: no process is started for it.
async fn git(directory: &Path) -> Option<String> {
    let root = places::repository_root(directory)?;
    let head = tokio::fs::read_to_string(root.join(".git/HEAD")).await.ok()?;
    let head = head.trim();
    Some(match head.strip_prefix("ref: refs/heads/") {
        Some(branch) => branch.to_owned(),
        None => head.chars().take(8).collect(),
    })
}
