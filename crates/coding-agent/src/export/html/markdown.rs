//! Markdown as part of a page: no raw HTML, no pictures from elsewhere, and only links that lead to the web or to a mailbox.

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

/// Longer text is shown as it is: laying it out would take longer than anybody reads.
const MAX_BYTES: usize = 1 << 20;

/// Text as paragraphs, lists and code.
pub(super) fn rendered(text: &str) -> String {
    if text.len() > MAX_BYTES {
        return format!("<pre>{}</pre>\n", super::escape(text));
    }
    // Sequences for terminals have no meaning on a page.
    let text: String =
        text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES;
    let events = Parser::new_ext(&text, options).map(inert);
    let mut rendered = String::with_capacity(text.len() * 2);
    html::push_html(&mut rendered, events);
    rendered
}

fn inert(event: Event<'_>) -> Event<'_> {
    match event {
        Event::Html(html) | Event::InlineHtml(html) => Event::Text(html),
        Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
        Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            let dest_url = if leads_out(&dest_url) { dest_url } else { CowStr::Borrowed("#") };
            Event::Start(Tag::Link { link_type, dest_url, title, id })
        }
        Event::Start(Tag::Image { .. }) => Event::Start(Tag::Emphasis),
        Event::End(TagEnd::Image) => Event::End(TagEnd::Emphasis),
        other => other,
    }
}

fn leads_out(url: &str) -> bool {
    let url = url.trim_start().to_ascii_lowercase();
    ["http://", "https://", "mailto:"].iter().any(|scheme| url.starts_with(scheme))
}
