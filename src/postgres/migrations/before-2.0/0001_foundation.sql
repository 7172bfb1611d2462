-- Accounts, workspaces, devices.

create table users (
  id uuid primary key,
  email text not null,
  name text not null default '',
  password_hash text,
  role text not null check (role in ('admin', 'participant', 'moderator')),
  disabled_at timestamptz,
  -- Tokens issued before this instant are refused (disable, password change).
  tokens_valid_from timestamptz not null default now(),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index users_email on users (lower(email));

-- One row per login: the access and refresh tokens of a login share its id.
create table logins (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz
);
create index logins_user on logins (user_id);
create index logins_expiry on logins (expires_at);

create table workspaces (
  id uuid primary key,
  name text not null,
  workspace_type text not null default 'private' check (workspace_type in ('private', 'team')),
  preferred_language text not null default 'en',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table workspace_members (
  workspace_id uuid not null references workspaces (id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  role text not null check (role in ('owner', 'member')),
  created_at timestamptz not null default now(),
  primary key (workspace_id, user_id)
);
create index workspace_members_user on workspace_members (user_id);

create table devices (
  id uuid primary key,
  serial text not null,
  name text not null default '',
  model text not null default '',
  firmware text not null default '',
  status text not null check (status in ('pairing', 'paired', 'revoked')),
  workspace_id uuid references workspaces (id) on delete set null,
  -- The user who paired it.
  owner_id uuid references users (id) on delete set null,
  -- SHA-256 of the pairing secret: it fetches keys until the device is unpaired.
  pairing_secret_hash bytea not null,
  last_seen_at timestamptz,
  telemetry jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index devices_workspace on devices (workspace_id);
create index devices_owner on devices (owner_id);
create unique index devices_pairing_secret on devices (pairing_secret_hash);
create index devices_waiting on devices (created_at) where status = 'pairing';

create table pairing_codes (
  -- HMAC of the normalised code under the server's key.
  code_hash bytea primary key,
  device_id uuid not null references devices (id) on delete cascade,
  expires_at timestamptz not null,
  used_at timestamptz,
  created_at timestamptz not null default now()
);
create index pairing_codes_device on pairing_codes (device_id);

create table device_keys (
  id uuid primary key,
  device_id uuid not null references devices (id) on delete cascade,
  key_hash bytea not null unique,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  last_used_at timestamptz
);
create index device_keys_device on device_keys (device_id);

-- Sessions. `status` is the row that stop and delete flip and that every chunk
-- insert and journal append checks under its lock; `epoch` and `seq` fence the
-- journal's single writer.

create table sessions (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  owner_id uuid not null references users (id),
  device_id uuid references devices (id) on delete set null,
  job_id uuid not null,
  title text not null default '',
  language text not null default 'en',
  vocabulary jsonb not null default '[]',
  status text not null check (status in ('recording', 'processing', 'completed', 'failed', 'deleted')),
  visibility text not null default 'private' check (visibility in ('private', 'workspace')),
  guest_access text not null default 'open' check (guest_access in ('open', 'closed')),
  -- Hash of the id into the actor partitions.
  partition smallint not null,
  epoch bigint not null default 0,
  seq bigint not null default 0,
  last_chunk_sequence integer,
  started_at timestamptz not null default now(),
  stopped_at timestamptz,
  completed_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index sessions_workspace on sessions (workspace_id, id desc);
create index sessions_owner on sessions (owner_id, id desc);
create unique index sessions_recording_device on sessions (device_id) where status = 'recording';
create index sessions_unfinished on sessions (partition) where status in ('recording', 'processing');

create table session_members (
  session_id uuid not null references sessions (id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  relation text not null check (relation in ('participant', 'shared')),
  created_at timestamptz not null default now(),
  primary key (session_id, user_id)
);
create index session_members_user on session_members (user_id);

create table guests (
  id uuid primary key,
  session_id uuid not null references sessions (id) on delete cascade,
  display_name text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz
);
create index guests_session on guests (session_id);

create table chunks (
  session_id uuid not null references sessions (id) on delete cascade,
  sequence integer not null check (sequence >= 0),
  id uuid not null unique,
  media_type text not null,
  filename text not null default '',
  bytes bigint not null,
  sha256 bytea not null,
  -- As the header says: frames of all channels together count once.
  frames bigint not null,
  sample_rate integer not null,
  duration_seconds double precision not null,
  status text not null default 'pending' check (status in ('pending', 'processing', 'completed', 'failed')),
  error text not null default '',
  -- Place on the session's timeline, samples at 16 kHz; null until placed.
  start_sample bigint,
  length_samples bigint,
  uploaded_at timestamptz not null default now(),
  primary key (session_id, sequence)
);

-- The journal. Payloads hold ids, times and labels, never words.

create table events (
  session_id uuid not null references sessions (id) on delete cascade,
  seq bigint not null,
  epoch bigint not null,
  at timestamptz not null,
  type text not null,
  payload jsonb not null,
  primary key (session_id, seq)
);

create table snapshots (
  session_id uuid primary key references sessions (id) on delete cascade,
  seq bigint not null,
  version integer not null,
  state jsonb not null,
  at timestamptz not null default now()
);

-- Where a reading can be taken up again; the newest, and those that gaps pin.
create table checkpoints (
  session_id uuid not null references sessions (id) on delete cascade,
  attempt integer not null,
  position bigint not null,
  recogniser bytea not null,
  speakers bytea not null,
  at timestamptz not null default now(),
  primary key (session_id, attempt, position)
);

-- The one place that holds words.
create table segments (
  session_id uuid not null references sessions (id) on delete cascade,
  id uuid not null,
  attempt integer not null,
  start_sample bigint not null,
  end_sample bigint not null,
  label text not null,
  text text not null,
  words jsonb not null,
  confidence real not null,
  revision integer not null default 1,
  created_at timestamptz not null default now(),
  primary key (session_id, id)
);
create index segments_order on segments (session_id, start_sample);

create table speaker_claims (
  id bigint generated always as identity primary key,
  session_id uuid not null references sessions (id) on delete cascade,
  label text not null,
  source text not null check (source in ('self_claim', 'moderator_assignment')),
  -- A user's or a guest's id.
  claimed_user_id uuid not null,
  by_user_id uuid not null,
  claimed_at timestamptz not null default now(),
  revoked_at timestamptz
);
create unique index speaker_claims_current on speaker_claims (session_id, label) where revoked_at is null;

create table jobs (
  id uuid primary key,
  kind text not null check (kind in ('transcription', 'summarisation')),
  session_id uuid references sessions (id) on delete set null,
  workspace_id uuid not null references workspaces (id),
  status text not null check (status in ('queued', 'running', 'completed', 'failed', 'cancelled')),
  progress real not null default 0,
  error text not null default '',
  attempt integer not null default 1,
  engine text,
  detected_language text,
  forced_language text,
  diarisation_model_version text,
  segment_count integer not null default 0,
  speaker_count integer,
  duration_ms integer,
  avg_confidence real,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  completed_at timestamptz
);
create index jobs_list on jobs (kind, id desc);
create index jobs_session on jobs (session_id);

-- Commands to actors that nobody has finished yet. The append that finishes a
-- command deletes its row; the sweep publishes again what stays.
create table outbox (
  id uuid primary key,
  session_id uuid not null references sessions (id) on delete cascade,
  partition smallint not null,
  -- Ids and numbers only.
  command jsonb not null,
  created_at timestamptz not null default now(),
  published_at timestamptz
);
create index outbox_due on outbox (created_at);

-- Single-use tickets that open a WebSocket from a browser.
create table live_tickets (
  ticket_hash bytea primary key,
  principal jsonb not null,
  expires_at timestamptz not null
);
create index live_tickets_expiry on live_tickets (expires_at);

-- Budgets against guessing (GCRA): the instant, in Unix milliseconds, at which
-- all that was taken will have been paid back.
create table attempt_budgets (
  key_hash bytea primary key,
  paid_at bigint not null
);
create index attempt_budgets_paid on attempt_budgets (paid_at);
