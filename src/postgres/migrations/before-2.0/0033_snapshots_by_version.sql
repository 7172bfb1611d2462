-- Snapshots of the last two versions: while releases change, the older one still finds its own, in
-- the table that it knows.
create table versioned_snapshots (
  session_id uuid not null references sessions (id) on delete cascade,
  version integer not null,
  seq bigint not null,
  state jsonb not null,
  at timestamptz not null default now(),
  primary key (session_id, version)
);
