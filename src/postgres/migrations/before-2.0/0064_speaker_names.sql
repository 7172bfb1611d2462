-- Free names of speaker labels, given by a session's owner or a moderator. They stand here and not in
-- events, so that they can be erased.
create table speaker_names (
  id uuid primary key,
  session_id uuid not null references sessions (id) on delete cascade,
  -- Null until the session has decided about the name.
  label text,
  display_name text not null,
  by_user_id uuid not null,
  created_at timestamptz not null default now()
);
create unique index speaker_names_label on speaker_names (session_id, label);
