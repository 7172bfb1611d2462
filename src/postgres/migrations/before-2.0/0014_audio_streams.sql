-- Audio that devices stream. What was acknowledged waits here, piece by piece, until it becomes
-- a chunk like an uploaded one; then its pieces go.

create table audio_streams (
  session_id uuid primary key references sessions (id) on delete cascade,
  -- Rises with every connection that takes the stream over: an older one writes nothing more.
  epoch bigint not null default 0,
  -- As the newest connection configured it.
  settings jsonb not null,
  -- Bytes of the stream that are stored, over all connections.
  offset_bytes bigint not null default 0,
  -- The newest chunk that was begun, and how many pieces it has; null before the first.
  sequence integer,
  pieces integer not null default 0,
  touched_at timestamptz not null default now()
);

create table audio_pieces (
  session_id uuid not null references sessions (id) on delete cascade,
  -- The chunk that it will be a part of.
  sequence integer not null check (sequence >= 0),
  piece integer not null check (piece >= 0),
  media_type text not null,
  frames integer not null,
  sample_rate integer not null,
  data bytea not null,
  created_at timestamptz not null default now(),
  primary key (session_id, sequence, piece)
);
-- Sound does not compress; do not try.
alter table audio_pieces alter column data set storage external;
create index audio_pieces_age on audio_pieces (created_at);
