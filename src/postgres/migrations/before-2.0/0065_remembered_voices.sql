-- Voices that people consented to have remembered in a workspace. Who leaves the workspace, or whose
-- account or workspace is erased, is forgotten with the membership.
create table remembered_voices (
  workspace_id uuid not null,
  user_id uuid not null,
  -- A new one each time the voice is remembered.
  id uuid not null unique,
  -- Whose sound it was made of. No reference: the voice is the person's and outlives the session.
  session_id uuid not null,
  label text not null,
  -- Prints of different methods cannot be compared.
  method text not null,
  -- The print, encrypted and bound to the workspace and the person.
  sealed bytea not null,
  speech_ms integer not null,
  remembered_at timestamptz not null default now(),
  primary key (workspace_id, user_id),
  foreign key (workspace_id, user_id)
    references workspace_members (workspace_id, user_id) on delete cascade
);
create index remembered_voices_user on remembered_voices (user_id);
create index remembered_voices_source on remembered_voices (session_id, label);

-- Whom a label sounds like; goes with the remembered voice.
create table voice_suggestions (
  session_id uuid not null references sessions (id) on delete cascade,
  label text not null,
  voice_id uuid not null references remembered_voices (id) on delete cascade,
  likelihood real not null,
  primary key (session_id, label, voice_id)
);
create index voice_suggestions_voice on voice_suggestions (voice_id);

-- Which speech of a label was compared with which remembered voices.
create table voice_comparisons (
  session_id uuid not null references sessions (id) on delete cascade,
  label text not null,
  -- Samples at 16 kHz of the label's segments, and a digest of which segments they are.
  heard_samples bigint not null,
  heard bytea not null,
  -- A digest of the remembered voices.
  voices bytea not null,
  primary key (session_id, label)
);
