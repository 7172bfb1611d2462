-- Workshops with their characters, concerns about sessions, and what owners decide of workspaces.

alter table workspaces
  -- Days after which a session's words and audio go; null keeps them.
  add column retention_days integer check (retention_days between 1 and 3650),
  -- Its row stays for the jobs and the audit that name it.
  add column deleted_at timestamptz;

create table workshops (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  name text not null,
  description text not null default '',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index workshops_workspace on workshops (workspace_id, id desc);

create table workshop_characters (
  id uuid primary key,
  workshop_id uuid not null references workshops (id) on delete cascade,
  name text not null,
  description text not null default '',
  is_active boolean not null default true,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index workshop_characters_workshop on workshop_characters (workshop_id, id desc);

alter table sessions add column workshop_id uuid references workshops (id) on delete set null;
create index sessions_workshop on sessions (workshop_id) where workshop_id is not null;

create table concerns (
  id uuid primary key,
  session_id uuid not null references sessions (id) on delete cascade,
  category text not null check (category in ('accuracy', 'privacy', 'safety', 'other')),
  status text not null default 'open'
    check (status in ('open', 'acknowledged', 'resolved', 'dismissed')),
  -- Both may quote the session: emptied with its words.
  description text not null,
  resolution text not null default '',
  segment_id uuid,
  -- What it is about, samples at 16 kHz; of the segment as it was when it was named.
  start_sample bigint,
  end_sample bigint,
  raised_by_kind text not null check (raised_by_kind in ('user', 'guest', 'service')),
  raised_by_id uuid not null,
  -- Who changed it last.
  handled_by_id uuid,
  redaction_id uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Since when it is resolved or dismissed.
  closed_at timestamptz,
  check ((start_sample is null) = (end_sample is null)),
  check (start_sample < end_sample)
);
create index concerns_session on concerns (session_id, id desc);
create index concerns_raised_by on concerns (raised_by_id, id desc);

-- Whichever way a session is deleted, no text about it stays behind.
create function erase_concerns() returns trigger language plpgsql as $$
begin
  update concerns set description = '', resolution = '' where session_id = new.id;
  return null;
end
$$;
create trigger sessions_erase_concerns after update of status on sessions
  for each row when (new.status = 'deleted' and old.status <> 'deleted')
  execute function erase_concerns();
