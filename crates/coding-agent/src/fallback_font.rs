//! The font that the user named for characters that the bundled ones lack.

use std::path::Path;

use longhand_snapcompact::{Fonts, Renderer};

use crate::environment::Environment;
use crate::places;

/// Draws with the font of the settings, or with the bundled ones alone. The second value is what is wrong with the file, for the
/// user: it is then left out.
pub(crate) fn renderer(
    file: Option<&Path>,
    directory: &Path,
    environment: &Environment,
) -> (Renderer, Option<String>) {
    let Some(file) = file else { return (Renderer::default(), None) };
    let below_home = file.strip_prefix("~").ok().zip(places::home(environment));
    let path = match below_home {
        Some((rest, home)) => home.join(rest),
        None => directory.join(file),
    };
    let fonts = std::fs::read(&path)
        .map_err(|error| error.to_string())
        .and_then(|bytes| Fonts::with_fallback(&bytes).map_err(|error| error.to_string()));
    match fonts {
        Ok(fonts) => (Renderer::new(fonts), None),
        Err(why) => {
            let notice =
                format!("`snapcompact.fallbackFont`: `{}` is not used: {why}", path.display());
            (Renderer::default(), Some(notice))
        }
    }
}
