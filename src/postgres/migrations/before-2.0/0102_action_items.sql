-- What people noted at the action items of a session. Each item has an id, by which it is known again
-- when the notes are made anew. Goes with the session's summaries.
create table action_item_edits (
  session_id uuid not null references sessions (id) on delete cascade,
  item_id uuid not null,
  -- The first segment that it cites, and SHA-256 of its text: by these it is known again.
  segment_id uuid not null,
  text_digest bytea not null,
  done boolean not null,
  -- Null: as the notes say. Empty: nobody, or no time.
  owner text,
  due text,
  by_id uuid not null,
  updated_at timestamptz not null default now(),
  primary key (session_id, item_id)
);
