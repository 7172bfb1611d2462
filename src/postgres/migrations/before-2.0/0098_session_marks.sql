-- Moments of a session that somebody marked, while it was live or afterwards, with a few words of
-- their own.
create table session_marks (
  id uuid primary key,
  session_id uuid not null references sessions (id) on delete cascade,
  -- On the session's timeline.
  at_ms integer not null check (at_ms >= 0),
  text text not null check (char_length(text) <= 2000),
  author_id uuid not null references users (id) on delete cascade,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index session_marks_of_session on session_marks (session_id, at_ms, id);
create index session_marks_of_author on session_marks (author_id);
