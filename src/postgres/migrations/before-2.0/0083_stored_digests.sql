-- SHA-256 of a chunk's file where it is not that of what was sent: parts of it were silenced, or it was
-- decoded. While the file is being replaced, also that of the new one: a crash leaves one or the other.
alter table chunks add column stored_sha256 bytea, add column next_sha256 bytea;
-- False for chunks of earlier releases, whose files may have been decoded or silenced without a note.
alter table chunks add column digest_known boolean not null default false;
alter table chunks alter column digest_known set default true;

-- Chunks whose stored sound is not what was stored, until it is whole again.
create table damaged_audio (
  session_id uuid not null references sessions (id) on delete cascade,
  sequence integer not null,
  kind text not null check (kind in ('gone', 'unreadable', 'cut', 'changed')),
  found_at timestamptz not null default now(),
  mended_at timestamptz,
  primary key (session_id, sequence)
);
