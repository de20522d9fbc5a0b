-- Numbers of sessions and of lines are never given twice: a process that holds the number of a deleted session finds nothing, and
-- a higher number is a later line.
CREATE TABLE sessions (
    session INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    -- The header as written, members that nobody knows included. The columns up to `created` say again what lists ask for.
    header TEXT NOT NULL,
    version INTEGER NOT NULL,
    cwd TEXT,
    title TEXT,
    parent TEXT,
    created TEXT NOT NULL,
    -- Milliseconds after 1970.
    modified INTEGER NOT NULL,
    -- How often lines were replaced or removed.
    rewrites INTEGER NOT NULL DEFAULT 0,
    -- What lists show, kept up with every write.
    bytes INTEGER NOT NULL DEFAULT 0,
    messages INTEGER NOT NULL DEFAULT 0,
    assistant_turns INTEGER NOT NULL DEFAULT 0,
    name TEXT,
    short_summary TEXT,
    first_of_user TEXT,
    first_of_anybody TEXT,
    opening TEXT NOT NULL DEFAULT '',
    status TEXT NOT NULL DEFAULT 'unknown'
) STRICT;

CREATE TABLE lines (
    line INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    -- NULL for an object without an id, which is no entry and keeps its place.
    id TEXT,
    parent_id TEXT,
    type TEXT NOT NULL,
    -- Role of a message, `customType` of a custom entry, otherwise empty.
    detail TEXT NOT NULL,
    -- The rewrite of the session that last replaced the line; 0 for a line that lies as it was appended.
    rewrite INTEGER NOT NULL DEFAULT 0,
    text TEXT NOT NULL,
    is_whole INTEGER AS (CASE WHEN json_valid(text) THEN json_type(text) = 'object' ELSE 0 END) VIRTUAL
) STRICT;

CREATE UNIQUE INDEX line_of_entry ON lines (session, id) WHERE id IS NOT NULL;

-- All that opening a session reads, so that it never touches the texts.
CREATE INDEX lines_in_order ON lines (session, line, id, parent_id, type, detail, rewrite, is_whole);

-- Entries that a rewrite took out, for other processes that still know them.
CREATE TABLE removed (
    session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    rewrite INTEGER NOT NULL,
    line INTEGER NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (session, rewrite, line)
) STRICT, WITHOUT ROWID;

-- What can be searched: words of user and model, and summaries. The search indexes keep no second copy of them.
CREATE VIEW passages (line, body) AS
SELECT line, body FROM (
    SELECT line, CASE
        WHEN NOT is_whole THEN NULL
        WHEN type = 'message' AND detail IN ('user', 'assistant') THEN
            CASE json_type(text, '$.message.content')
                WHEN 'text' THEN text ->> '$.message.content'
                WHEN 'array' THEN (
                    SELECT group_concat(block.value ->> '$.text', char(10))
                    FROM json_each(lines.text, '$.message.content') AS block
                    WHERE block.type = 'object' AND block.value ->> '$.type' = 'text'
                )
            END
        WHEN type IN ('compaction', 'branch_summary') AND json_type(text, '$.summary') = 'text'
            THEN text ->> '$.summary'
    END AS body
    FROM lines
)
WHERE body IS NOT NULL;

CREATE VIRTUAL TABLE passage_search USING fts5(
    body, content = 'passages', content_rowid = 'line', tokenize = 'unicode61 remove_diacritics 2'
);

CREATE TRIGGER line_is_added AFTER INSERT ON lines BEGIN
    INSERT INTO passage_search (rowid, body) SELECT line, body FROM passages WHERE line = new.line;
END;
CREATE TRIGGER line_goes BEFORE DELETE ON lines BEGIN
    INSERT INTO passage_search (passage_search, rowid, body)
        SELECT 'delete', line, body FROM passages WHERE line = old.line;
END;
CREATE TRIGGER line_changes BEFORE UPDATE OF text, type, detail ON lines BEGIN
    INSERT INTO passage_search (passage_search, rowid, body)
        SELECT 'delete', line, body FROM passages WHERE line = old.line;
END;
CREATE TRIGGER line_has_changed AFTER UPDATE OF text, type, detail ON lines BEGIN
    INSERT INTO passage_search (rowid, body) SELECT line, body FROM passages WHERE line = new.line;
END;

CREATE VIEW titles (session, title) AS SELECT session, title FROM sessions WHERE title IS NOT NULL;

CREATE VIRTUAL TABLE title_search USING fts5(
    title, content = 'titles', content_rowid = 'session', tokenize = 'unicode61 remove_diacritics 2'
);

CREATE TRIGGER title_is_added AFTER INSERT ON sessions BEGIN
    INSERT INTO title_search (rowid, title) SELECT session, title FROM titles WHERE session = new.session;
END;
CREATE TRIGGER title_goes BEFORE DELETE ON sessions BEGIN
    INSERT INTO title_search (title_search, rowid, title)
        SELECT 'delete', session, title FROM titles WHERE session = old.session;
END;
CREATE TRIGGER title_changes BEFORE UPDATE OF title ON sessions BEGIN
    INSERT INTO title_search (title_search, rowid, title)
        SELECT 'delete', session, title FROM titles WHERE session = old.session;
END;
CREATE TRIGGER title_has_changed AFTER UPDATE OF title ON sessions BEGIN
    INSERT INTO title_search (rowid, title) SELECT session, title FROM titles WHERE session = new.session;
END;
