-- Whole files for a session: what is being received, and what became of it. The bytes of one that is
-- not stored yet are in the audio folder, below uploads/.
create table file_uploads (
  id uuid primary key,
  session_id uuid not null references sessions (id),
  workspace_id uuid not null references workspaces (id),
  -- Who uploads it: a user or a service key. Nobody else may go on with it.
  uploader_id uuid not null,
  -- The user whose share of the installation it takes.
  account_id uuid not null,
  filename text not null,
  media_type text not null,
  size bigint not null check (size > 0),
  -- Bytes that are durable.
  received bigint not null default 0 check (received between 0 and size),
  -- The recording ends with this file.
  is_last boolean not null,
  -- Of a file that came in one request, hex: sent again it is the same.
  sha256 text,
  state text not null default 'receiving'
    check (state in ('receiving', 'received', 'storing', 'stored', 'failed')),
  -- Why it could not be read.
  failure_code text,
  failure text,
  -- Number of its first chunk.
  first_sequence integer,
  -- Of a request that brings bytes, or of a process that stores the file: nobody else does so before
  -- that time.
  holder uuid,
  held_until timestamptz,
  created_at timestamptz not null default now(),
  -- When its newest byte came.
  touched_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index file_uploads_of_session on file_uploads (session_id, id);
-- Files of a session are stored one after the other.
create unique index file_uploads_storing on file_uploads (session_id) where state = 'storing';
create index file_uploads_waiting on file_uploads (created_at) where state in ('received', 'storing');
create index file_uploads_expiring on file_uploads (expires_at);
-- Their bytes count for the workspace.
create index file_uploads_unfinished on file_uploads (workspace_id)
  where state in ('receiving', 'received', 'storing');
