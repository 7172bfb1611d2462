-- What sessions are about, derived from their words and as erasable: every
-- table has session_id, and one delete on graph_builds takes the rest with it.

create table graph_builds (
  session_id uuid primary key references sessions (id) on delete cascade,
  -- Where the session's journal stood when its words were read.
  seq bigint not null,
  -- Of what went in, so that nothing is made again from the same words.
  input_hash bytea not null,
  built_at timestamptz not null default now()
);

create table graph_entities (
  session_id uuid not null references graph_builds (session_id) on delete cascade,
  -- Derived from the workspace and the normalised name: equal across its sessions.
  id uuid not null,
  type text not null check
    (type in ('speaker', 'person', 'organisation', 'place', 'date', 'money', 'number', 'topic')),
  name text not null,
  aliases jsonb not null,
  labels jsonb not null,
  primary key (session_id, id)
);

create table graph_mentions (
  session_id uuid not null references graph_builds (session_id) on delete cascade,
  entity_id uuid not null,
  segment_id uuid not null,
  start_sample bigint not null,
  end_sample bigint not null,
  -- True where the entity speaks, false where it is spoken of.
  spoke boolean not null,
  primary key (session_id, entity_id, start_sample, segment_id, spoke)
);

create table graph_links (
  session_id uuid not null references graph_builds (session_id) on delete cascade,
  source_id uuid not null,
  target_id uuid not null,
  kind text not null check (kind in ('co_occurrence', 'action', 'talks_about')),
  -- The verb of an action.
  label text not null,
  weight real not null,
  segment_id uuid not null
);
create index graph_links_session on graph_links (session_id, source_id);
create index graph_links_target on graph_links (session_id, target_id);
