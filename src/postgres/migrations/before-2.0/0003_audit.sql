-- The audit log: append-only, each entry bound to the one before it by a hash.
-- Numbers, the time and the hashes are set here, so that an entry is a plain
-- insert inside the transaction of what it records.

create table audit_log (
  seq bigint primary key,
  id uuid not null unique,
  at timestamptz not null,
  kind text not null,
  actor_kind text not null check (actor_kind in ('user', 'guest', 'device', 'service', 'system')),
  actor_id uuid,
  workspace_id uuid,
  session_id uuid,
  -- What it was done to: a user, a key, a device, an elevation.
  subject_id uuid,
  -- Ids, names of settings, numbers, reasons given; never words of a session.
  detail jsonb not null default '{}',
  previous_hash bytea not null,
  hash bytea not null
);
create index audit_log_kind on audit_log (kind, seq desc);
create index audit_log_session on audit_log (session_id, seq desc) where session_id is not null;
create index audit_log_actor on audit_log (actor_id, seq desc) where actor_id is not null;

-- What is hashed: one member a line, absent ones empty, the previous hash last.
create function audit_text(entry audit_log) returns text language sql stable as $$
  select entry.seq::text
    || E'\n' || entry.id::text
    || E'\n' || to_char(entry.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    || E'\n' || entry.kind
    || E'\n' || entry.actor_kind
    || E'\n' || coalesce(entry.actor_id::text, '')
    || E'\n' || coalesce(entry.workspace_id::text, '')
    || E'\n' || coalesce(entry.session_id::text, '')
    || E'\n' || coalesce(entry.subject_id::text, '')
    || E'\n' || entry.detail::text
    || E'\n' || encode(entry.previous_hash, 'hex')
$$;

create function audit_link() returns trigger language plpgsql as $$
declare
  newest record;
begin
  -- One writer at a time, until its transaction ends: the chain has no forks.
  perform pg_advisory_xact_lock(7203114956);
  select seq, hash into newest from audit_log order by seq desc limit 1;
  new.seq := coalesce(newest.seq, 0) + 1;
  new.at := date_trunc('milliseconds', clock_timestamp());
  new.previous_hash := coalesce(newest.hash, decode(repeat('00', 32), 'hex'));
  new.hash := sha256(convert_to(audit_text(new), 'UTF8'));
  return new;
end
$$;
create trigger audit_log_link before insert on audit_log
  for each row execute function audit_link();

create function audit_refuse() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is append-only';
end
$$;
create trigger audit_log_keep before update or delete on audit_log
  for each row execute function audit_refuse();
create trigger audit_log_keep_all before truncate on audit_log
  for each statement execute function audit_refuse();
