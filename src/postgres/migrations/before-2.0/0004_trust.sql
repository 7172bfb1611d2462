-- Elevations, deletions, redactions.

create table content_elevations (
  id uuid primary key,
  admin_id uuid not null references users (id) on delete cascade,
  -- Null covers all sessions.
  session_id uuid references sessions (id) on delete cascade,
  reason text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  ended_at timestamptz
);
create index content_elevations_admin on content_elevations (admin_id, expires_at desc);

-- Spans whose sound is to be taken out of the stored audio, besides the words.
create table if not exists redactions (
  id uuid primary key,
  session_id uuid not null references sessions (id) on delete cascade,
  start_sample bigint not null,
  end_sample bigint not null,
  label text,
  created_at timestamptz not null default now()
);
create index redactions_session on redactions (session_id);

-- What a session's deletion removed; `audio_erased_at` is null until its files are gone too.
create table deletion_receipts (
  id uuid primary key,
  session_id uuid not null unique,
  workspace_id uuid not null,
  kind text not null,
  deleted_at timestamptz not null default now(),
  removed jsonb not null,
  audio_erased_at timestamptz
);
create index deletion_receipts_pending on deletion_receipts (deleted_at) where audio_erased_at is null;

alter table redactions add column audio_erased_at timestamptz;
create index redactions_pending on redactions (created_at) where audio_erased_at is null;

-- The account's person is gone; the row stays for what refers to it.
alter table users add column erased_at timestamptz;
create index users_erased on users (erased_at) where erased_at is not null;
