-- Webhooks of workspaces, and what is to be delivered to them.

create table webhooks (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  url text not null,
  description text not null default '',
  -- Empty means every type.
  event_types text[] not null default '{}',
  enabled boolean not null default true,
  -- Why the service itself switched it off.
  disabled_reason text check (disabled_reason in ('gone', 'failing')),
  -- AES-256-GCM; the one before signs too until its time is over.
  secret bytea not null,
  previous_secret bytea,
  previous_secret_until timestamptz,
  -- Deliveries that failed since the last one that arrived, and since when.
  failures integer not null default 0,
  failing_since timestamptz,
  -- One process at a time sends to an endpoint: nobody else before `free_at`,
  -- which is the end of its lease, or of a pause after failures.
  lease_id uuid,
  free_at timestamptz not null default '-infinity',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index webhooks_workspace on webhooks (workspace_id, id desc);
create index webhooks_turn on webhooks (free_at) where enabled;

create table webhook_deliveries (
  webhook_id uuid not null references webhooks (id) on delete cascade,
  -- The message's id, `webhook-id` on the wire: the same for every webhook that it goes to.
  id uuid not null,
  event_type text not null,
  -- Ids and numbers only.
  data jsonb not null,
  occurred_at timestamptz not null,
  status text not null default 'pending' check (status in ('pending', 'succeeded', 'failed')),
  attempts integer not null default 0,
  -- The latest attempts: time, status code, class of error, duration. Never what was answered.
  history jsonb not null default '[]',
  next_attempt_at timestamptz not null default now(),
  give_up_at timestamptz not null default now() + interval '72 hours',
  created_at timestamptz not null default now(),
  completed_at timestamptz,
  primary key (webhook_id, id)
);
create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_attempt_at, id)
  where status = 'pending';
create index webhook_deliveries_age on webhook_deliveries (created_at);
