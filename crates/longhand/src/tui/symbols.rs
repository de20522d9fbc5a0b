//! The glyphs of the view, in Unicode and in ASCII.

/// The glyphs of the view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Symbols {
    /// Before what the user said.
    pub(crate) user: &'static str,
    /// Before the editor's first row.
    pub(crate) prompt: &'static str,
    /// A call that waits.
    pub(crate) pending: &'static str,
    /// A call that ended.
    pub(crate) done: &'static str,
    /// A result that carries nothing, or was taken out of the context.
    pub(crate) faded: &'static str,
    /// A failure.
    pub(crate) failure: &'static str,
    /// A warning.
    pub(crate) warning: &'static str,
    /// The chosen row of a list.
    pub(crate) chosen: &'static str,
    /// A horizontal rule, one column.
    pub(crate) rule: &'static str,
    /// Edge and corners of a box: left side, then top left, top right, bottom left, bottom right.
    pub(crate) frame: [&'static str; 5],
    /// Left and right ends of a rule inside a box.
    pub(crate) tee: [&'static str; 2],
    /// Crossings of a table's rules: with the left edge, in the middle, with the right edge.
    pub(crate) cross: [&'static str; 3],
    /// Upper and lower edge of a table, in the middle.
    pub(crate) table_edge: [&'static str; 2],
    /// Beside a quote.
    pub(crate) quote: &'static str,
    /// Before a list item, by depth.
    pub(crate) bullets: [&'static str; 3],
    /// A task that is open, and one that is done.
    pub(crate) tasks: [&'static str; 2],
    /// Before a compaction.
    pub(crate) compacted: &'static str,
    /// Before a branch.
    pub(crate) branch: &'static str,
    /// Before a reset.
    pub(crate) cleared: &'static str,
    /// From one number to another.
    pub(crate) arrow: &'static str,
    /// Before the gauge of the context.
    pub(crate) gauge: &'static str,
    /// Compaction happens by itself.
    pub(crate) automatic: &'static str,
    /// Full and empty part of a bar.
    pub(crate) bar: [&'static str; 2],
    /// Between facts on one row.
    pub(crate) dot: &'static str,
    /// The caret of a growing text.
    pub(crate) caret: &'static str,
    /// Down, for news below the screen.
    pub(crate) down: &'static str,
    /// Minus sign.
    pub(crate) minus: &'static str,
    /// Between width and height.
    pub(crate) times: &'static str,
    /// The keys up and down.
    pub(crate) up_down: &'static str,
    /// A gap between the hunks of a diff.
    pub(crate) gap: &'static str,
    /// Frames of the spinner.
    pub(crate) spinner: &'static [&'static str],
}

/// Glyphs of a Unicode terminal.
pub(crate) const UNICODE: Symbols = Symbols {
    user: "›",
    prompt: "❯",
    pending: "◌",
    done: "●",
    faded: "○",
    failure: "✗",
    warning: "⚠",
    chosen: "▸",
    rule: "─",
    frame: ["│", "╭", "╮", "╰", "╯"],
    tee: ["├", "┤"],
    cross: ["├", "┼", "┤"],
    table_edge: ["┬", "┴"],
    quote: "│",
    bullets: ["•", "◦", "▪"],
    tasks: ["☐", "☑"],
    compacted: "📷",
    branch: "⑂",
    cleared: "✂",
    arrow: "→",
    gauge: "◫",
    automatic: "⟲",
    bar: ["▓", "░"],
    dot: "·",
    caret: "▌",
    down: "↓",
    minus: "−",
    times: "×",
    up_down: "↑/↓",
    gap: "⋮",
    spinner: &["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"],
};

/// Glyphs of a terminal that shows only ASCII.
pub(crate) const ASCII: Symbols = Symbols {
    user: ">",
    prompt: ">",
    pending: "o",
    done: "*",
    faded: "-",
    failure: "x",
    warning: "!",
    chosen: ">",
    rule: "-",
    frame: ["|", "+", "+", "+", "+"],
    tee: ["+", "+"],
    cross: ["+", "+", "+"],
    table_edge: ["+", "+"],
    quote: "|",
    bullets: ["-", "-", "-"],
    tasks: ["[ ]", "[x]"],
    compacted: "[=]",
    branch: "[<]",
    cleared: "[8<]",
    arrow: "->",
    gauge: "ctx",
    automatic: "@",
    bar: ["#", "."],
    dot: "|",
    caret: "_",
    down: "v",
    minus: "-",
    times: "x",
    up_down: "up/down",
    gap: ":",
    spinner: &["|", "/", "-", "\\"],
};
