-- Who lets guests in is settled in three places: a session's own value beats its workspace's, and
-- that beats the installation's. Sessions from before keep what they say.
alter table sessions
  alter column guest_access drop default,
  alter column guest_access drop not null,
  drop constraint sessions_guest_access_check,
  add constraint sessions_guest_access_check
    check (guest_access in ('open', 'invitation', 'closed'));

alter table workspaces
  add column default_guest_access text
    check (default_guest_access in ('open', 'invitation', 'closed'));

-- One row, so that all processes and all statements go by the same value: a process that starts
-- with another GUEST_ACCESS writes it here.
create table installation (
  singleton boolean primary key default true check (singleton),
  guest_access text not null default 'open'
    check (guest_access in ('open', 'invitation', 'closed'))
);
insert into installation default values;

-- How guests get into a session that says `own` itself, in this workspace.
create function guest_access_of(own text, workspace uuid) returns text language sql stable as $$
  select coalesce(
    own,
    (select default_guest_access from workspaces where id = workspace),
    (select guest_access from installation))
$$;

-- Codes that let guests into one session. An ended one stays, for the guests who came by it.
create table guest_codes (
  id uuid primary key,
  session_id uuid not null references sessions (id) on delete cascade,
  -- SHA-256; the code itself is shown once.
  code_hash bytea not null unique,
  max_uses integer check (max_uses > 0),
  uses integer not null default 0,
  expires_at timestamptz,
  created_by_kind text not null check (created_by_kind in ('user', 'service')),
  created_by_id uuid not null,
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);
create index guest_codes_session on guest_codes (session_id, id desc);

alter table guests
  -- Null for guests who came by the session's id.
  add column code_id uuid references guest_codes (id) on delete cascade,
  -- Somebody took this guest out, or the code that they came by: what they claimed is marked.
  add column removed_at timestamptz;
drop index guests_session;
create index guests_session on guests (session_id, id desc);
create index guests_code on guests (code_id) where code_id is not null;

create function is_uninvited(access text, code_id uuid) returns boolean
language sql immutable as $$
  select access = 'closed' or (access = 'invitation' and code_id is null)
$$;

-- Guests whom the new value would not have let in end with it, in the same transaction, and stay
-- ended when it is opened again. Its triggers tell which sessions: one, those of a workspace that
-- say nothing themselves, or those of workspaces that say nothing either.
create function end_uninvited_guests() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'sessions' then
    update guests set revoked_at = now()
    where session_id = new.id and revoked_at is null
      and is_uninvited(guest_access_of(new.guest_access, new.workspace_id), code_id);
  elsif tg_table_name = 'workspaces' then
    update guests set revoked_at = now()
    from sessions
    where sessions.workspace_id = new.id and sessions.guest_access is null
      and guests.session_id = sessions.id and revoked_at is null
      and is_uninvited(guest_access_of(null, new.id), code_id);
  else
    update guests set revoked_at = now()
    from sessions join workspaces on workspaces.id = sessions.workspace_id
    where sessions.guest_access is null and workspaces.default_guest_access is null
      and guests.session_id = sessions.id and revoked_at is null and guests.expires_at > now()
      and is_uninvited(new.guest_access, code_id);
  end if;
  return null;
end
$$;

create trigger guests_uninvited after update of guest_access, workspace_id on sessions
for each row when (
  (old.guest_access, old.workspace_id) is distinct from (new.guest_access, new.workspace_id))
execute function end_uninvited_guests();
create trigger guests_uninvited after update of default_guest_access on workspaces
for each row when (old.default_guest_access is distinct from new.default_guest_access)
execute function end_uninvited_guests();
create trigger guests_uninvited after update of guest_access on installation
for each row when (old.guest_access <> new.guest_access)
execute function end_uninvited_guests();
