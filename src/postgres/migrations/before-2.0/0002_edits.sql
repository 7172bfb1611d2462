-- Edits of segments by people, and words taken out for good.

alter table segments add column redacted boolean not null default false;

-- Texts on their way from the route to the append that puts them in place.
create table segment_edits (
  id uuid primary key,
  session_id uuid not null references sessions (id) on delete cascade,
  segment_id uuid not null,
  text text not null,
  words jsonb not null,
  by_user_id uuid not null,
  created_at timestamptz not null default now()
);
create index segment_edits_session on segment_edits (session_id);
