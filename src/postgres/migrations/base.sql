-- The tables of a new installation: what the migrations in before-2.0/ come to. A database that begins with
-- this file has all of them noted as applied, and then gets the migrations beside it, as any other does:
-- what changes goes there. test/integration/base-file.test.ts holds the two ways alike.

-- Text as it is compared: without accents, in lower case. ICU and the server's locale are not asked for
-- Latin letters, so that an index means the same everywhere.
create function folded_text(value text) returns text
  language sql immutable strict parallel safe
  return replace(replace(replace(
    translate(
      lower(regexp_replace(normalize(value, nfkd), '[\u0300-\u036f]+', '', 'g')),
      'øØłŁđĐıÆŒ', 'oollddiæœ'),
    'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe');

-- The words of a title or name; what is neither space nor ASCII punctuation or a common mark is part of one.
create function folded_words(value text) returns text[]
  language sql immutable strict parallel safe
  return (
    select array_agg(distinct left(word, 60))
    from regexp_split_to_table(folded_text(value), '[\s!-/:-@[-`{-~·–—…“”„«»‘’]+') as word
    where word <> '');

create function title_words(value text) returns tsvector
  language sql immutable strict parallel safe
  return array_to_tsvector(coalesce(folded_words(value), '{}'));

-- Every word must begin one of the other's words. Null when there is none.
create function title_query(value text) returns tsquery
  language sql immutable strict parallel safe
  return (
    select string_agg('''' || word || ''':*', ' & ')::tsquery from unnest(folded_words(value)) as word);

-- The dictionary of the full-text search for a BCP 47 tag: by its language, `simple` where there is none.
create function search_dictionary(language text) returns regconfig language sql immutable as $$
  select case split_part(lower(language), '-', 1)
    when 'ar' then 'pg_catalog.arabic'::regconfig
    when 'ca' then 'pg_catalog.catalan'::regconfig
    when 'da' then 'pg_catalog.danish'::regconfig
    when 'de' then 'pg_catalog.german'::regconfig
    when 'el' then 'pg_catalog.greek'::regconfig
    when 'en' then 'pg_catalog.english'::regconfig
    when 'es' then 'pg_catalog.spanish'::regconfig
    when 'eu' then 'pg_catalog.basque'::regconfig
    when 'fi' then 'pg_catalog.finnish'::regconfig
    when 'fr' then 'pg_catalog.french'::regconfig
    when 'ga' then 'pg_catalog.irish'::regconfig
    when 'hi' then 'pg_catalog.hindi'::regconfig
    when 'hu' then 'pg_catalog.hungarian'::regconfig
    when 'hy' then 'pg_catalog.armenian'::regconfig
    when 'id' then 'pg_catalog.indonesian'::regconfig
    when 'it' then 'pg_catalog.italian'::regconfig
    when 'lt' then 'pg_catalog.lithuanian'::regconfig
    when 'ne' then 'pg_catalog.nepali'::regconfig
    when 'nl' then 'pg_catalog.dutch'::regconfig
    when 'no' then 'pg_catalog.norwegian'::regconfig
    when 'nb' then 'pg_catalog.norwegian'::regconfig
    when 'pt' then 'pg_catalog.portuguese'::regconfig
    when 'ro' then 'pg_catalog.romanian'::regconfig
    when 'ru' then 'pg_catalog.russian'::regconfig
    when 'sr' then 'pg_catalog.serbian'::regconfig
    when 'sv' then 'pg_catalog.swedish'::regconfig
    when 'ta' then 'pg_catalog.tamil'::regconfig
    when 'tr' then 'pg_catalog.turkish'::regconfig
    when 'yi' then 'pg_catalog.yiddish'::regconfig
    else 'pg_catalog.simple'::regconfig
  end
$$;

-- Which of the 1,024 partitions a session is in follows from its id, so that no row has to say it: ids
-- end in random bits.
create function partition_of(session uuid) returns smallint
language sql immutable strict parallel safe
return (((get_byte(uuid_send(session), 14) & 3) << 8) | get_byte(uuid_send(session), 15))::smallint;

-- ==== Rights that ended ====

-- What may have ended somebody's right to follow a session or to stream into one. Every process
-- reads every two seconds what is new here, with one statement for all who are connected to it, and
-- checks anew those whom it concerns: a row more does no harm, a row too few would leave one in.
-- By triggers, rather than beside each statement that ends a right: the row comes with the change
-- or not at all, and nobody who writes forgets it, be it a cascade, an earlier release during a
-- rolling update, or a person at a prompt.
-- A right that ends with time leaves no row, nor does what happens to it afterwards: that time is
-- known when the right is checked.
create table ended_rights (
  -- The number of the transaction. It rises and never wraps, but transactions do not end in its
  -- order: readers ask for what their last snapshot did not see, and not for higher numbers.
  xid xid8 not null default pg_current_xact_id(),
  kind text not null
    check (kind in ('user', 'guest', 'device', 'service_key', 'session', 'workspace')),
  -- The id of the one whose rights are in doubt, or of what they are rights to.
  subject uuid not null,
  primary key (xid, kind, subject)
);

-- ==== Accounts ====

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
  updated_at timestamptz not null default now(),
  -- The account's person is gone; the row stays for what refers to it.
  erased_at timestamptz,
  -- The hash that the set-up itself gave the account last: while ADMIN_PASSWORD is
  -- what it was then, a password that the user has chosen since is left alone.
  setup_password_hash text,
  -- Passwords that the set-up gave to an account and replaced since; it gives none of them again.
  former_setup_hashes text[] not null default '{}',
  -- The address that somebody has shown to be theirs, by a mailed link or by a provider that vouches
  -- for it. It counts as long as it is the account's address. An address that an administrator typed
  -- shows nothing: he could accept in its owner's name.
  verified_email text
);
create index users_erased on users (erased_at) where erased_at is not null;
create unique index users_email on users (email);
create index users_words on users using gin (title_words(name));

-- Its arguments: the kind, and the column that has the subject.
create function note_ended_right() returns trigger language plpgsql as $$
begin
  insert into ended_rights (kind, subject)
  values (tg_argv[0], (to_jsonb(old) ->> tg_argv[1])::uuid)
  on conflict do nothing;
  return null;
end
$$;
create trigger right_changed after update of role, disabled_at, tokens_valid_from on users
for each row when (
  (old.role, old.disabled_at, old.tokens_valid_from)
    is distinct from (new.role, new.disabled_at, new.tokens_valid_from))
execute function note_ended_right('user', 'id');
create trigger right_gone after delete on users
for each row execute function note_ended_right('user', 'id');

-- An administrator may have devices in workspaces without being a member, as long as they are one.
create function note_admin_departure() returns trigger language plpgsql as $$
begin
  insert into workspace_departures (workspace_id, user_id)
  select distinct d.workspace_id, old.id from devices d
  where d.owner_id = old.id and d.workspace_id is not null and not exists (
    select from workspace_members m
    where m.workspace_id = d.workspace_id and m.user_id = old.id)
  on conflict (workspace_id, user_id) do update set left_at = now();
  return null;
end
$$;
create trigger departure after update of role on users
for each row when (old.role = 'admin' and new.role <> 'admin')
execute function note_admin_departure();

-- By triggers, as for the guest access: whoever ends an elevation or a role ends its guests with it
-- in the same transaction.
create function end_elevated_guests() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'users' then
    update guests set revoked_at = now()
    from content_elevations e
    where e.admin_id = old.id and guests.elevation_id = e.id and guests.revoked_at is null;
  else
    update guests set revoked_at = now() where elevation_id = old.id and revoked_at is null;
  end if;
  return old;
end
$$;
create trigger guests_elevated after update of role, disabled_at on users
for each row when (
  old.role = 'admin' and old.disabled_at is null
  and (new.role <> 'admin' or new.disabled_at is not null))
execute function end_elevated_guests();

-- Who a provider's user is here.
create table user_identities (
  provider text not null,
  subject text not null,
  user_id uuid not null references users (id) on delete cascade,
  created_at timestamptz not null default now(),
  primary key (provider, subject)
);
create index user_identities_user on user_identities (user_id);

-- One row per login: the access and refresh tokens of a login share its id.
create table logins (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  -- After a change of the password the login goes on from which it was changed, but its refresh
  -- token does not.
  refreshable boolean not null default true
);
create index logins_user on logins (user_id);
create index logins_expiry on logins (expires_at);
create trigger right_changed after update of revoked_at, expires_at on logins
for each row when (
  old.revoked_at is null and old.expires_at > now()
  and (new.revoked_at is not null or new.expires_at < old.expires_at))
execute function note_ended_right('user', 'user_id');
create trigger right_gone after delete on logins
for each row when (old.revoked_at is null and old.expires_at > now())
execute function note_ended_right('user', 'user_id');

-- Keys and sign-ins that ended for good stand with the erasures, and so in the ledger: a restored
-- database would give them back. `at` is when the right ends; of two ends the earlier one counts, and
-- is written to the ledger anew.
create function ledger_ended_right() returns trigger language plpgsql as $$
declare
  ending timestamptz := least(new.revoked_at, new.expires_at);
begin
  insert into erasures (subject_id, kind, at) values (new.id, tg_argv[0], ending)
  on conflict (subject_id) do update set at = excluded.at, chain = null, number = null
  where erasures.at > excluded.at;
  return null;
end $$;
create trigger ended_into_ledger after update of revoked_at, expires_at on logins
for each row when (
  (old.revoked_at is null and new.revoked_at is not null) or new.expires_at < old.expires_at)
execute function ledger_ended_right('sign_in_ended');

-- Links sent by mail; each opens one sign-in.
create table magic_links (
  token_hash bytea primary key,
  user_id uuid not null references users (id) on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index magic_links_expiry on magic_links (expires_at);
create index magic_links_user on magic_links (user_id);

-- Authorisation requests on their way to a provider and back.
create table oauth_requests (
  state_hash bytea primary key,
  -- SHA-256 of the cookie that binds the request to its browser.
  browser_hash bytea not null,
  provider text not null,
  redirect text,
  expires_at timestamptz not null
);
create index oauth_requests_expiry on oauth_requests (expires_at);

-- From where an account was signed in to of late, as keyed digests of network addresses: guesses from
-- elsewhere share one budget for each account, these places do not.
create table sign_in_places (
  user_id uuid not null references users (id) on delete cascade,
  place bytea not null,
  seen_at timestamptz not null default now(),
  primary key (user_id, place)
);

-- Budgets against guessing (GCRA): the instant, in Unix milliseconds, at which
-- all that was taken will have been paid back.
create table attempt_budgets (
  key_hash bytea primary key,
  paid_at bigint not null
);
create index attempt_budgets_paid on attempt_budgets (paid_at);

-- Single-use tickets that open a WebSocket from a browser.
create table live_tickets (
  ticket_hash bytea primary key,
  principal jsonb not null,
  expires_at timestamptz not null,
  -- A ticket with a session lets one telephone call stream into that session, and opens nothing else.
  session_id uuid
);
create index live_tickets_expiry on live_tickets (expires_at);

-- ==== Workspaces ====

create table workspaces (
  id uuid primary key,
  name text not null,
  workspace_type text not null default 'private' check (workspace_type in ('private', 'team')),
  preferred_language text not null default 'en',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Days after which a session's words and audio go; null keeps them.
  retention_days integer check (retention_days between 1 and 3650),
  -- Its row stays for the jobs and the audit that name it.
  deleted_at timestamptz,
  -- Beats the installation's, and a session's own beats it.
  default_guest_access text
    check (default_guest_access in ('open', 'invitation', 'closed')),
  -- Whose ceiling a workspace counts for. Not its owners': they change, and nobody may fill another's
  -- ceiling by making them one.
  created_by uuid references users (id) on delete set null,
  -- The workspace's own choice, and whether its owner allows engines to which the sound leaves.
  speech_engine text,
  remote_engines boolean not null default false,
  -- Words and phrases that the recogniser expects in all sessions of a workspace, as a list of texts.
  vocabulary jsonb not null default '[]',
  -- Notes that are made without being asked for: at the end of a session, while it is live, and again
  -- when its words or the names of its voices have changed.
  automatic_notes boolean not null default true,
  -- Whether the workspace's owner allows a language model to which the text leaves the installation.
  remote_text boolean not null default false,
  -- By which template the notes of a session are arranged, unless it has its own.
  notes_template text not null default 'general'
);
create index workspaces_made_by on workspaces (created_by) where deleted_at is null;
-- Its service keys end with it; its members and devices are told of above.
create trigger right_changed after update of deleted_at on workspaces
for each row when (old.deleted_at is distinct from new.deleted_at)
execute function note_ended_right('workspace', 'id');

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
create trigger guests_uninvited after update of default_guest_access on workspaces
for each row when (old.default_guest_access is distinct from new.default_guest_access)
execute function end_uninvited_guests();

create table workspace_members (
  workspace_id uuid not null references workspaces (id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  role text not null check (role in ('owner', 'member')),
  created_at timestamptz not null default now(),
  primary key (workspace_id, user_id)
);
create index workspace_members_user on workspace_members (user_id);
create trigger right_changed after update of role on workspace_members
for each row when (old.role <> new.role)
execute function note_ended_right('user', 'user_id');
create trigger right_gone after delete on workspace_members
for each row execute function note_ended_right('user', 'user_id');

create function note_departure() returns trigger language plpgsql as $$
begin
  -- With the user or the workspace themselves there is nothing to note.
  insert into workspace_departures (workspace_id, user_id)
  select w.id, u.id from workspaces w, users u
  where w.id = old.workspace_id and u.id = old.user_id
  on conflict (workspace_id, user_id) do update set left_at = now();
  return null;
end
$$;
create trigger departure after delete on workspace_members
for each row execute function note_departure();

-- A device begins nothing in a workspace that its owner left, but what it had begun before may still
-- be brought for a while: from when that while counts stands here. The right itself is not written,
-- it is joined: whoever returns has it again.
create table workspace_departures (
  workspace_id uuid not null references workspaces (id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  left_at timestamptz not null default now(),
  primary key (workspace_id, user_id)
);
create index workspace_departures_user on workspace_departures (user_id);

-- A key of an integration, within one workspace. Its secrets come and go.
create table service_keys (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  name text not null,
  scopes text[] not null check (cardinality(scopes) > 0),
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  last_used_at timestamptz
);
create index service_keys_workspace on service_keys (workspace_id, id desc);
create trigger right_changed after update of revoked_at, scopes, workspace_id on service_keys
for each row when (
  (old.revoked_at, old.scopes, old.workspace_id)
    is distinct from (new.revoked_at, new.scopes, new.workspace_id))
execute function note_ended_right('service_key', 'id');
create trigger right_gone after delete on service_keys
for each row execute function note_ended_right('service_key', 'id');

create function ledger_ended_service_key() returns trigger language plpgsql as $$
begin
  insert into erasures (subject_id, kind, at) values (new.id, 'service_key_ended', new.revoked_at)
  on conflict (subject_id) do nothing;
  return null;
end $$;
create trigger ended_into_ledger after update of revoked_at on service_keys
for each row when (old.revoked_at is null and new.revoked_at is not null)
execute function ledger_ended_service_key();

-- The newest secret is the key's; one before it may still be valid for a while.
create table service_key_secrets (
  id uuid primary key,
  -- In the order in which they were made.
  number bigint generated always as identity,
  key_id uuid not null references service_keys (id) on delete cascade,
  -- SHA-256 of the whole secret.
  secret_hash bytea not null unique,
  -- Its first characters, so that people recognise it.
  prefix text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- A key is worth what the right of whoever made it is worth: it is joined where keys are read, so
  -- that nothing has to be done when somebody leaves, and all works again when they come back.
  -- Who has seen a secret: who made the key, rotated it, or took it over since.
  made_by uuid references users (id) on delete set null,
  -- The role that let them: an owner of the workspace, or an administrator.
  made_as text not null default 'owner' check (made_as in ('owner', 'admin'))
);
create index service_key_secrets_key on service_key_secrets (key_id, number desc);
create index service_key_secrets_maker on service_key_secrets (made_by);
create trigger right_changed after update of expires_at on service_key_secrets
for each row when (old.expires_at > now() and new.expires_at < old.expires_at)
execute function note_ended_right('service_key', 'key_id');
create trigger right_gone after delete on service_key_secrets
for each row when (old.expires_at > now())
execute function note_ended_right('service_key', 'key_id');

create function ledger_ended_secret() returns trigger language plpgsql as $$
begin
  insert into erasures (subject_id, kind, at) values (new.id, 'service_secret_ended', new.expires_at)
  on conflict (subject_id) do update set at = excluded.at, chain = null, number = null
  where erasures.at > excluded.at;
  return null;
end $$;
create trigger ended_into_ledger after update of expires_at on service_key_secrets
for each row when (new.expires_at < old.expires_at)
execute function ledger_ended_secret();

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

-- ==== Devices ====

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
  updated_at timestamptz not null default now(),
  -- Whether a device's stream may have the words of the session that it records. Its owner says so, and
  -- for nobody who owns it after them.
  may_read boolean not null default false
  -- Every heartbeat rewrites its device's row: room to do so in place.
) with (fillfactor = 50);
create index devices_workspace on devices (workspace_id);
create index devices_owner on devices (owner_id);
create unique index devices_pairing_secret on devices (pairing_secret_hash);
create index devices_waiting on devices (created_at) where status = 'pairing';
-- Columns of signs of life are written all the time, and are none of these.
create trigger right_changed after update of status, workspace_id, owner_id on devices
for each row when (
  old.status = 'paired'
  and (old.status, old.workspace_id, old.owner_id)
    is distinct from (new.status, new.workspace_id, new.owner_id))
execute function note_ended_right('device', 'id');
create trigger right_gone after delete on devices
for each row when (old.status = 'paired')
execute function note_ended_right('device', 'id');

create function forget_reading() returns trigger language plpgsql as $$
begin
  new.may_read := false;
  return new;
end
$$;
create trigger reading_of_owner before update of owner_id on devices
for each row when (old.owner_id is distinct from new.owner_id)
execute function forget_reading();
create trigger reading_ended after update on devices
for each row when (old.may_read and not new.may_read)
execute function note_ended_right('device', 'id');

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
create trigger right_changed after update of revoked_at, expires_at on device_keys
for each row when (
  old.revoked_at is null and old.expires_at > now()
  and (new.revoked_at is not null or new.expires_at < old.expires_at))
execute function note_ended_right('device', 'device_id');
create trigger right_gone after delete on device_keys
for each row when (old.revoked_at is null and old.expires_at > now())
execute function note_ended_right('device', 'device_id');
create trigger ended_into_ledger after update of revoked_at, expires_at on device_keys
for each row when (
  (old.revoked_at is null and new.revoked_at is not null) or new.expires_at < old.expires_at)
execute function ledger_ended_right('device_key_ended');

-- ==== Sessions ====

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
  -- Who lets guests in is settled in three places: this beats the workspace's, and that the
  -- installation's.
  guest_access text check (guest_access in ('open', 'invitation', 'closed')),
  epoch bigint not null default 0,
  seq bigint not null default 0,
  last_chunk_sequence integer,
  started_at timestamptz not null default now(),
  stopped_at timestamptz,
  completed_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  workshop_id uuid references workshops (id) on delete set null,
  -- Why the session stopped when nobody asked for it: `device_silent`.
  stop_reason text,
  -- Whether a session has something left to do, as its actor said it with the newest append: it
  -- records or is processed, late audio is still to be read, a redo is under way. A host that takes
  -- sessions over looks for nothing else.
  has_work boolean not null default true,
  -- The seq at which that was said.
  work_seq bigint not null default 0,
  -- Which engine reads, as its start named it.
  engine text,
  -- Sessions that programs with another service's client make: of whose interface, and whether they are
  -- deleted at their end.
  compat text check (compat in ('openai', 'deepgram')),
  delete_at_end boolean not null default false,
  -- Why no engine could read the language that a session inherited, told until one begins to.
  language_warning text,
  -- Why a session ended without a text; absent of those that an earlier release ended.
  failure_reason text,
  -- Each of this many channels of a session's sound is one speaker, read by itself.
  speaker_channels smallint check (speaker_channels between 2 and 8),
  -- What programs keep with a session to find it again: their own id, up to 16 texts by key, and tags.
  external_id text,
  metadata jsonb not null default '{}',
  tags text[] not null default '{}',
  notes_template text
  -- Every append moves `seq` and `updated_at`: with room in the page, and neither in an index, no index
  -- is written with it.
) with (fillfactor = 75);
create index sessions_workspace on sessions (workspace_id, id desc);
create index sessions_owner on sessions (owner_id, id desc);
create unique index sessions_recording_device on sessions (device_id) where status = 'recording';
create index sessions_workshop on sessions (workshop_id) where workshop_id is not null;
-- What stops sessions of silent devices looks for.
create index sessions_recording on sessions (started_at) where status = 'recording';
create index sessions_device on sessions (device_id, id) where device_id is not null;
create index sessions_unfinished on sessions (partition_of(id), id)
  where status in ('recording', 'processing');
create index sessions_with_work on sessions (partition_of(id), id) where has_work;
create index sessions_shared on sessions (workspace_id, id desc) where visibility = 'workspace';
create index sessions_open_in_workspace on sessions (workspace_id, status)
  where status in ('recording', 'processing');
create index sessions_recording_owner on sessions (owner_id) where status = 'recording';
-- Sessions whose retention time is over are looked for in each workspace by the time of their end.
create index sessions_by_end on sessions (workspace_id, (coalesce(stopped_at, started_at)))
  where status in ('processing', 'completed', 'failed');
-- One session of a workspace has an id; a deleted one has none.
create unique index sessions_external_id on sessions (workspace_id, external_id)
  where external_id is not null;
create index sessions_to_delete on sessions (id)
  where delete_at_end and status in ('completed', 'failed');

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

-- A deletion takes the answers of its session along, whoever writes it.
create function idempotency_forget() returns trigger language plpgsql as $$
begin
  delete from idempotency_keys where session_id = new.id;
  return null;
end
$$;
create trigger sessions_forget_answers after update of status on sessions
  for each row when (new.status = 'deleted' and old.status <> 'deleted')
  execute function idempotency_forget();

-- A host of the release before goes on for a while in a rolling update, and its appends say
-- nothing about it: rather once too often than never.
create function session_work_unsaid() returns trigger language plpgsql as $$
begin
  new.has_work := true;
  return new;
end
$$;
create trigger sessions_work_unsaid before update of seq on sessions
  for each row when (
    new.seq <> old.seq and new.work_seq = old.work_seq
    and not new.has_work and new.status <> 'deleted')
  execute function session_work_unsaid();
-- None of these columns is set by what is written with every turn of a session.
create trigger right_changed
after update of status, visibility, guest_access, owner_id, workspace_id, device_id on sessions
for each row when (
  (new.status = 'deleted' and old.status <> 'deleted')
  or (old.visibility, old.guest_access, old.owner_id, old.workspace_id, old.device_id)
    is distinct from
    (new.visibility, new.guest_access, new.owner_id, new.workspace_id, new.device_id))
execute function note_ended_right('session', 'id');
create trigger right_gone after delete on sessions
for each row execute function note_ended_right('session', 'id');
create trigger guests_uninvited after update of guest_access, workspace_id on sessions
for each row when (
  (old.guest_access, old.workspace_id) is distinct from (new.guest_access, new.workspace_id))
execute function end_uninvited_guests();

-- Exactly what a list may ask for, said of those whom it is asked of: a workspace, an owner, or '' for
-- all. So one look into one index finds it, and sessions of others are never passed over. U+001F
-- stands in neither keys nor values. Null when there is nothing.
create function listing_keys(of_whom text, external_id text, metadata jsonb, tags text[])
returns text[] language sql immutable parallel safe
return (
  select array_agg(of_whom || ' ' || found_by) from (
    select 'external_id ' || external_id as found_by where external_id is not null
    union all
    select 'metadata ' || key || e'\u001f' || value from jsonb_each_text(metadata)
    union all
    select 'tag ' || tag from unnest(tags) tag) as keys);

create function listing_keys_of(session sessions) returns text[]
language sql immutable parallel safe
return array_cat(
  array_cat(
    coalesce(listing_keys('', session.external_id, session.metadata, session.tags), '{}'),
    listing_keys(session.workspace_id::text, session.external_id, session.metadata, session.tags)),
  listing_keys(session.owner_id::text, session.external_id, session.metadata, session.tags));

create function list_session() returns trigger language plpgsql as $$
begin
  insert into session_listings (session_id, workspace_id, owner_id, visibility, deleted, started_at,
    title_key, title_words, external_key, keys)
  values (
    new.id, new.workspace_id, new.owner_id, new.visibility, new.status = 'deleted', new.started_at,
    left(folded_text(new.title), 100), title_words(new.title),
    coalesce(new.external_id, ''), listing_keys_of(new))
  on conflict (session_id) do update set
    workspace_id = excluded.workspace_id, owner_id = excluded.owner_id,
    visibility = excluded.visibility, deleted = excluded.deleted, started_at = excluded.started_at,
    title_key = excluded.title_key, title_words = excluded.title_words,
    external_key = excluded.external_key, keys = excluded.keys;
  return null;
end
$$;
create trigger sessions_list after insert on sessions
  for each row execute function list_session();
create trigger sessions_list_again
  after update of workspace_id, owner_id, visibility, status, started_at, title, external_id,
    metadata, tags on sessions
  for each row when (
    (old.workspace_id, old.owner_id, old.visibility, old.status = 'deleted', old.started_at,
      old.title, old.external_id, old.metadata, old.tags)
    is distinct from
    (new.workspace_id, new.owner_id, new.visibility, new.status = 'deleted', new.started_at,
      new.title, new.external_id, new.metadata, new.tags))
  execute function list_session();

create table session_members (
  session_id uuid not null references sessions (id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  relation text not null check (relation in ('participant', 'shared')),
  created_at timestamptz not null default now(),
  primary key (session_id, user_id)
);
create index session_members_user on session_members (user_id, session_id desc);
create trigger right_changed after update of relation on session_members
for each row when (old.relation <> new.relation)
execute function note_ended_right('user', 'user_id');
create trigger right_gone after delete on session_members
for each row execute function note_ended_right('user', 'user_id');

-- What lists of sessions are found and sorted by: a session's row is written with every piece of audio,
-- and each index on it would be written too.
create table session_listings (
  session_id uuid primary key references sessions (id) on delete cascade,
  workspace_id uuid not null,
  owner_id uuid not null,
  visibility text not null,
  deleted boolean not null,
  started_at timestamptz not null,
  title_key text collate "C" not null,
  title_words tsvector not null,
  external_key text collate "C" not null default '',
  duration_ms integer not null default 0,
  keys text[] not null default '{}'
);
create index session_listings_words on session_listings using gin (title_words);
create index session_listings_started on session_listings (started_at, session_id) where not deleted;
create index session_listings_title on session_listings (title_key, session_id) where not deleted;
create index session_listings_owner on session_listings (owner_id, started_at, session_id)
  where not deleted;
create index session_listings_workspace on session_listings (workspace_id, started_at, session_id)
  where not deleted;
create index session_listings_shared on session_listings (workspace_id, started_at, session_id)
  where not deleted and visibility = 'workspace';
create index session_listings_keys on session_listings using gin (keys) with (fastupdate = off);
create index session_listings_external on session_listings (external_key, session_id)
  where not deleted;
create index session_listings_workspace_external
  on session_listings (workspace_id, external_key, session_id)
  where not deleted;
create index session_listings_owner_external on session_listings (owner_id, external_key, session_id)
  where not deleted;
create index session_listings_duration on session_listings (duration_ms, session_id)
  where not deleted;

-- Moments of a session that somebody marked, while it was live or afterwards, with a few words of
-- their own.
create table session_marks (
  id uuid primary key,
  session_id uuid not null references sessions (id) on delete cascade,
  -- On the session's timeline.
  at_ms integer not null check (at_ms >= 0),
  text text not null check (char_length(text) <= 2000),
  author_id uuid not null references users (id) on delete cascade,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index session_marks_of_session on session_marks (session_id, at_ms, id);
create index session_marks_of_author on session_marks (author_id);

-- ==== Elevations, invitations, guests ====

-- Whom an administrator's reason lets see content, for a while.
create table content_elevations (
  id uuid primary key,
  admin_id uuid not null references users (id) on delete cascade,
  -- Null covers all sessions, or those of the workspace.
  session_id uuid references sessions (id) on delete cascade,
  reason text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  ended_at timestamptz,
  workspace_id uuid references workspaces (id) on delete cascade,
  constraint content_elevations_one_place check (session_id is null or workspace_id is null)
);
create index content_elevations_admin on content_elevations (admin_id, expires_at desc);
create trigger right_gone after delete on content_elevations
for each row when (old.ended_at is null and old.expires_at > now())
execute function note_ended_right('user', 'admin_id');
create trigger right_changed
after update of session_id, workspace_id, expires_at, ended_at on content_elevations
for each row when (
  old.ended_at is null and old.expires_at > now()
  and (old.session_id, old.workspace_id, old.expires_at, old.ended_at)
    is distinct from (new.session_id, new.workspace_id, new.expires_at, new.ended_at))
execute function note_ended_right('user', 'admin_id');
create trigger guests_elevated
after update of session_id, workspace_id, expires_at, ended_at on content_elevations
for each row when (
  old.ended_at is null and (
    new.ended_at is not null or new.expires_at < old.expires_at
    or (old.session_id, old.workspace_id) is distinct from (new.session_id, new.workspace_id)))
execute function end_elevated_guests();
-- Before, as the guests forget their elevation with it.
create trigger guests_elevated_gone before delete on content_elevations
for each row execute function end_elevated_guests();

-- To become a member of a workspace, or of a session (then the workspace is the session's). What an
-- invitation is worth is worked out from the right of whoever invited when it is read.
create table invitations (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  session_id uuid references sessions (id) on delete cascade,
  role text not null,
  -- In lower case, ASCII.
  address text,
  -- As it was given: there need not be such a user.
  invitee_id uuid,
  inviter_id uuid not null references users (id) on delete cascade,
  -- The service key or the elevation under which it was made.
  key_id uuid references service_keys (id) on delete cascade,
  elevation_id uuid references content_elevations (id) on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  -- A declined one stays pending for whoever invited: it would tell that there is such an account.
  declined_at timestamptz,
  -- The mail of an invitation to an address has a link of its own: whoever opens it has the mailbox.
  -- SHA-256 of the link's secret; null for invitations to a user, and older ones.
  opening_hash bytea check (octet_length(opening_hash) = 32),
  check (num_nonnulls(address, invitee_id) = 1),
  check (role in ('owner', 'member') and session_id is null
    or role in ('participant', 'shared') and session_id is not null)
);
create unique index invitations_once on invitations
  (coalesce(session_id, workspace_id), coalesce(address, invitee_id::text), inviter_id);
create index invitations_address on invitations (address) where address is not null;
create index invitations_invitee on invitations (invitee_id) where invitee_id is not null;
create index invitations_workspace on invitations (workspace_id, id desc);
create index invitations_session on invitations (session_id, id desc) where session_id is not null;
create index invitations_inviter on invitations (inviter_id);
create index invitations_key on invitations (key_id) where key_id is not null;
create index invitations_elevation on invitations (elevation_id) where elevation_id is not null;
create index invitations_expiry on invitations (expires_at);
create unique index invitations_opening on invitations (opening_hash) where opening_hash is not null;

-- One row, so that all processes and all statements go by the same value: a process that starts
-- with another GUEST_ACCESS writes it here.
create table installation (
  singleton boolean primary key default true check (singleton),
  guest_access text not null default 'open'
    check (guest_access in ('open', 'invitation', 'closed'))
);
insert into installation default values;
create trigger guests_uninvited after update of guest_access on installation
for each row when (old.guest_access <> new.guest_access)
execute function end_uninvited_guests();

-- How guests get into a session that says `own` itself, in this workspace.
create function guest_access_of(own text, workspace uuid) returns text language sql stable as $$
  select coalesce(
    own,
    (select default_guest_access from workspaces where id = workspace),
    (select guest_access from installation))
$$;

create function is_uninvited(access text, code_id uuid) returns boolean
language sql immutable as $$
  select access = 'closed' or (access = 'invitation' and code_id is null)
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

create table guests (
  id uuid primary key,
  session_id uuid not null references sessions (id) on delete cascade,
  display_name text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  -- Null for guests who came by the session's id.
  code_id uuid references guest_codes (id) on delete cascade,
  -- Somebody took this guest out, or the code that they came by: what they claimed is marked.
  removed_at timestamptz,
  -- An administrator who came in as a guest under an elevation goes with it, also when it ends before
  -- its time or its holder is no administrator any more, and stays out when there is another one.
  -- Null for guests whom no elevation let in.
  elevation_id uuid references content_elevations (id) on delete set null,
  -- A guest's browser may show a secret to be the same guest again when the page is loaded anew. It
  -- ends with the guest's access, which revoked_at and expires_at say.
  -- SHA-256 of the secret; null where none was asked for.
  return_hash bytea check (octet_length(return_hash) = 32)
);
create index guests_session on guests (session_id, id desc);
create index guests_code on guests (code_id) where code_id is not null;
create index guests_elevation on guests (elevation_id) where elevation_id is not null;
create index guests_words on guests using gin (title_words(display_name));
create unique index guests_return on guests (return_hash) where return_hash is not null;
create trigger right_changed after update of revoked_at, expires_at on guests
for each row when (
  old.revoked_at is null and old.expires_at > now()
  and (new.revoked_at is not null or new.expires_at < old.expires_at))
execute function note_ended_right('guest', 'id');
create trigger right_gone after delete on guests
for each row when (old.revoked_at is null and old.expires_at > now())
execute function note_ended_right('guest', 'id');

-- ==== The journal ====

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
-- Gaps are few among the events of a session, and asked for with each look at its lag.
create index events_gaps on events (session_id) where type = 'GapDeclared';
-- What a second reading put into the text, asked for with each look at a session's gaps.
create index events_replacements on events (session_id) where type = 'TranscriptReplaced';
create index events_redactions on events (session_id) where type = 'SpanRedacted';

-- A session that ends is due at once. Changes afterwards come in runs: it is due when none came for
-- 20 s, after two minutes in any case. While it is live nothing is noted: its notes are made again
-- by time.
create function note_changed_words() returns trigger language plpgsql as $$
begin
  if new.type = 'SessionCompleted' then
    insert into notes_due (session_id, due_at) values (new.session_id, now())
    on conflict (session_id) do update set due_at = now();
  else
    insert into notes_due (session_id, due_at)
    select s.id, now() + interval '20 seconds'
    from sessions as s where s.id = new.session_id and s.status = 'completed'
    on conflict (session_id) do update set due_at = greatest(
      notes_due.due_at,
      least(notes_due.first_at + interval '2 minutes', now() + interval '20 seconds'));
  end if;
  return null;
end
$$;
create trigger events_change_notes after insert on events
for each row when (new.type in (
  'SessionCompleted', 'SegmentRevised', 'SpeakersRevised', 'SpeakerClaimed', 'SpeakerUnclaimed',
  'SpeakerNamed', 'TranscriptReplaced', 'SpanRedacted'))
execute function note_changed_words();

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

-- Where a reading can be taken up again; the newest, and those that gaps pin.
create table checkpoints (
  session_id uuid not null references sessions (id) on delete cascade,
  attempt integer not null,
  position bigint not null,
  recogniser bytea not null,
  speakers bytea not null,
  at timestamptz not null default now(),
  -- Which label each cluster of a checkpoint has: a second reading that goes on from it knows the
  -- voices again. Null in what earlier releases wrote.
  voices jsonb,
  primary key (session_id, attempt, position)
);

-- Chunks that were in work when a reading broke, so that audio which no worker
-- survives is given up after a few tries, whatever restarts in between.
create table suspects (
  session_id uuid not null references sessions (id) on delete cascade,
  attempt integer not null,
  sequence integer not null,
  -- How often in a row, without getting further.
  breaks integer not null,
  -- How far the reading had come, in samples at 16 kHz.
  position bigint not null,
  primary key (session_id, attempt, sequence)
);

-- How far a worker has read a session, in samples at 16 kHz; told every few seconds while one reads.
-- No row of `sessions`, which every append and every chunk locks.
create table reading_positions (
  session_id uuid primary key,
  read_to bigint not null check (read_to >= 0)
);

-- ==== Commands, and who carries them out ====

-- Commands to actors that nobody has finished yet. The append that finishes a
-- command deletes its row; the sweep publishes again what stays.
create table outbox (
  id uuid primary key,
  session_id uuid not null references sessions (id) on delete cascade,
  -- Ids and numbers only.
  command jsonb not null,
  created_at timestamptz not null default now(),
  -- Commands whose delivery fails rest ever longer, and are put aside in the end: deliveries
  -- that failed by the command's or its session's own fault.
  attempts integer not null default 0,
  not_before timestamptz not null default now(),
  -- Since when it is tried no more, and why.
  parked_at timestamptz,
  parked_reason text
);
create index outbox_session on outbox (session_id);
create index outbox_parked on outbox (id) where parked_at is not null;
create index outbox_parked_since on outbox (parked_at) where parked_at is not null;
create index outbox_waiting on outbox (partition_of(session_id), session_id, not_before)
  where parked_at is null;

-- What waits and what is parked, of each counted up to `most`, and ten sessions whose commands were
-- parked last. By indexes even where a look through the whole table were cheaper: it is that only
-- until the outbox has been long.
create function outbox_figures(most integer, out waiting integer,
  out oldest_at timestamptz, out parked integer, out parked_since timestamptz,
  out parked_sessions uuid[])
language plpgsql stable set enable_seqscan = off set enable_sort = off as $$
begin
  select count(*), min(w.created_at) into waiting, oldest_at from (
    select o.created_at from outbox o where o.parked_at is null
    order by partition_of(o.session_id), o.session_id, o.not_before limit most) as w;
  select count(*), min(p.parked_at) into parked, parked_since from (
    select o.parked_at from outbox o where o.parked_at is not null
    order by o.parked_at limit most) as p;
  parked_sessions := array(
    select latest.session_id from (
      select o.session_id, o.parked_at from outbox o
      where o.parked_at is not null order by o.parked_at desc limit 1000) as latest
    group by latest.session_id order by max(latest.parked_at) desc limit 10);
end
$$;

-- What became of the wishes of people, for as long as the transport may bring
-- one again: it is answered then, and not carried out a second time.
create table command_outcomes (
  session_id uuid not null references sessions (id) on delete cascade,
  command_id uuid not null,
  at timestamptz not null default now(),
  outcome jsonb not null,
  primary key (session_id, command_id)
);

-- The processes that host sessions, each with its lease: a counter that it raises. Liveness is the
-- taker's clock; nothing here expires by itself.
create table session_hosts (
  -- Another one after every start.
  name text primary key,
  counter bigint not null,
  -- It is putting its sessions away.
  leaving boolean not null,
  -- The connection by which it renews, and the run of the server that it is one of: when that ends
  -- so did, very likely, the host.
  pid integer not null,
  server_started timestamptz not null,
  renewed_at timestamptz not null
) with (fillfactor = 50);

-- Who holds which partition of the sessions.
create table partition_owners (
  partition smallint primary key,
  -- Empty: nobody.
  holder text not null default '',
  -- Another one after each change.
  revision bigint not null default 1
) with (fillfactor = 50);
insert into partition_owners (partition) select generate_series(0, 1023);

-- How the hosts stand, and a number that is another one after each change of an owner.
create function read_leases(out name text, out counter bigint, out leaving boolean,
  out connected boolean, out changes bigint)
returns setof record language plpgsql stable as $$
begin
  return query
    select h.name, h.counter, h.leaving,
      h.server_started <> pg_postmaster_start_time()
        or exists (select from pg_stat_get_activity(h.pid)),
      (select sum(p.revision) from partition_owners p)::bigint
    from session_hosts h;
end
$$;

-- ==== Audio ====

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
  -- When chunks were recorded, as the device said.
  recorded_at timestamptz,
  -- Parts of a chunk that no decoder can read: [{"start": frame, "length": frames}, …] at its own
  -- rate, in order. A chunk that fails as a whole may have some too.
  broken_spans jsonb not null default '[]',
  -- Which files have yet to be silenced is known of each chunk: `silence_wanted` rises whenever the
  -- chunk takes its place, or another one, over a redacted span, and whenever another span comes to
  -- lie over it. `silence_done` is the newest of them whose spans its file has lost. By triggers:
  -- whoever places a chunk or redacts a span, none of the two is forgotten.
  silence_wanted integer not null default 0,
  silence_done integer not null default 0,
  -- SHA-256 of a chunk's file where it is not that of what was sent: parts of it were silenced, or it was
  -- decoded. While the file is being replaced, also that of the new one: a crash leaves one or the other.
  stored_sha256 bytea,
  next_sha256 bytea,
  -- False for chunks of earlier releases, whose files may have been decoded or silenced without a note.
  digest_known boolean not null default true,
  primary key (session_id, sequence)
);
create index chunks_uploaded on chunks (session_id, uploaded_at);
create index chunks_to_silence on chunks (session_id, sequence)
where silence_wanted > silence_done;
-- What is asked of sessions that have recorded for long, with each look at how they stand: by few
-- of their rows.
create index chunks_unread on chunks (session_id, sequence)
  where status in ('pending', 'processing');
create index chunks_failed on chunks (session_id, sequence) where status = 'failed';
-- Those whose sound is longer than their place.
create index chunks_exceeding on chunks (session_id, sequence)
  where frames * 16000::int8 / sample_rate > length_samples + 1;
create index chunks_place on chunks (session_id, start_sample, sequence);

create function want_silence_of_chunk() returns trigger language plpgsql as $$
begin
  if exists (
    select from redactions r
    where r.session_id = new.session_id
      and r.start_sample < new.start_sample + new.length_samples
      and r.end_sample > new.start_sample)
  then
    new.silence_wanted := new.silence_wanted + 1;
  end if;
  return new;
end
$$;
create trigger chunk_wants_silence before update of start_sample, length_samples on chunks
for each row
when (new.start_sample is not null and (
  new.start_sample is distinct from old.start_sample
  or new.length_samples is distinct from old.length_samples))
execute function want_silence_of_chunk();

create function count_stored_audio() returns trigger language plpgsql as $$
begin
  insert into stored_audio as kept (session_id, workspace_id, bytes)
  select n.session_id, s.workspace_id, n.bytes
  from (select c.session_id, sum(c.bytes) as bytes from new_chunks c group by 1 order by 1) as n
  join sessions s on s.id = n.session_id
  on conflict (session_id) do update set bytes = kept.bytes + excluded.bytes;
  return null;
end
$$;
create trigger chunks_stored after insert on chunks
  referencing new table as new_chunks
  for each statement execute function count_stored_audio();

-- Redaction makes files smaller.
create function recount_stored_audio() returns trigger language plpgsql as $$
begin
  update stored_audio set bytes = bytes + new.bytes - old.bytes where session_id = new.session_id;
  return null;
end
$$;
create trigger chunks_resized after update of bytes on chunks
  for each row when (old.bytes <> new.bytes) execute function recount_stored_audio();

-- Stores the chunks that their sessions take without question, each with the command that tells
-- the session, and returns the ids of those. The others, whose session does not record, is held by
-- somebody, or has the sequence already, are as they were.
-- By look-ups of one row each: a connection keeps the plans of its first calls, and joins that were
-- cheapest while the tables were small read all of them when they have grown.
create function store_chunks(uploads jsonb) returns setof uuid
language plpgsql set enable_seqscan = off as $$
declare
  wanted uuid;
  found_status text;
  held uuid[] := '{}';
begin
  for wanted in
    select distinct u.session_id from jsonb_to_recordset(uploads) as u (session_id uuid) order by 1
  loop
    -- Stop and deletion flip these rows. Nobody is waited for: one session that is held up would
    -- hold up all.
    select s.status into found_status from sessions s
    where s.id = wanted for no key update skip locked;
    -- Not in the condition: it would bring the partial indexes into play.
    if found_status = 'recording' then
      held := held || wanted;
    end if;
  end loop;
  -- A statement of its own, after the locks: it sees what was committed before they came.
  return query
    with given as (
      select * from jsonb_to_recordset(uploads) as u (
        session_id uuid, sequence integer, id uuid, media_type text, filename text, bytes bigint,
        sha256 text, frames bigint, sample_rate integer, duration_seconds double precision,
        recorded_at timestamptz, max_missing integer,
        command_id uuid, command jsonb)
    ), stored as (
      insert into chunks (
        session_id, sequence, id, media_type, filename, bytes, sha256,
        frames, sample_rate, duration_seconds, recorded_at)
      select g.session_id, g.sequence, g.id, g.media_type, g.filename, g.bytes,
        decode(g.sha256, 'hex'), g.frames, g.sample_rate, g.duration_seconds, g.recorded_at
      from given g
      where g.session_id = any(held)
        and g.sequence <= g.max_missing + greatest(
          (select coalesce(max(c.sequence), -1) from chunks c where c.session_id = g.session_id),
          (select coalesce(max(p.sequence), -1)
            from audio_pieces p where p.session_id = g.session_id),
          (select coalesce(s.last_chunk_sequence, -1) from sessions s where s.id = g.session_id))
        -- Not `not exists`, which may become a join.
        and (select p.piece from audio_pieces p
          where p.session_id = g.session_id and p.sequence = g.sequence limit 1) is null
      on conflict (session_id, sequence) do nothing
      returning chunks.id
    ), told as (
      insert into outbox (id, session_id, command)
      select g.command_id, g.session_id, g.command
      from given g join stored on stored.id = g.id
    )
    select stored.id from stored;
end
$$;

-- The one meaning of lag: the length of the audio that is stored and was not read yet. A chunk
-- whose last words are still open was read all the same, and a device that is silent is no lag.
-- Audio that came after its gap had been declared is read anew from the gap on, so all of it waits.
create function session_lag_ms(of_session uuid) returns bigint
language sql stable
return (
  select coalesce(sum(
    case when c.status = 'processing' and c.length_samples is not null and not exists (
        select from events e
        where e.session_id = of_session and e.type = 'GapDeclared'
          and (e.payload ->> 'sequence')::int = c.sequence)
      then greatest(0, c.start_sample + c.length_samples
        - greatest(c.start_sample, coalesce(r.read_to, 0))) / 16.0
      else c.duration_seconds * 1000.0
    end), 0)::bigint
  from chunks c
    left join reading_positions r on r.session_id = c.session_id
  where c.session_id = of_session and c.status in ('pending', 'processing')
);

-- Sequences that were given up and stand so: neither has their audio been read since, nor are they
-- waited for again, as those at the end are once audio of one of them came.
create function session_gaps(of_session uuid)
returns table (sequence integer, start_sample bigint, length_samples bigint)
language sql stable
begin atomic
  with declared as (
    select distinct on ((e.payload ->> 'sequence')::int)
      (e.payload ->> 'sequence')::int as sequence,
      (e.payload ->> 'start')::bigint as start_sample,
      (e.payload ->> 'length')::bigint as length_samples,
      coalesce((e.payload ->> 'tail')::boolean, false) as tail,
      e.seq
    from events e
    where e.session_id = of_session and e.type = 'GapDeclared'
    order by (e.payload ->> 'sequence')::int, e.seq desc
  ), replaced as (
    select r.read::int as sequence, max(e.seq) as seq
    from events e, jsonb_array_elements_text(e.payload -> 'sequences') as r (read)
    where e.session_id = of_session and e.type = 'TranscriptReplaced'
    group by r.read
  )
  select d.sequence, d.start_sample, d.length_samples
  from declared d left join replaced r using (sequence)
  where (r.seq is null or r.seq < d.seq)
    and not (d.tail and exists (
      select 1 from events e
      where e.session_id = of_session and e.seq > d.seq and e.type = 'ChunkReceived'
        and (e.payload ->> 'sequence')::int >= (select min(t.sequence) from declared t where t.tail)))
  order by d.start_sample, d.sequence;
end;

-- Sequences up to `last` that are waited for: they did not come, and were not given up.
create function awaited_chunks(of_session uuid, last integer, most integer)
returns setof integer
language sql stable
begin atomic
  select n
  from generate_series(0, last) as n
  where n not in (select c.sequence from chunks c where c.session_id = of_session)
    and n not in (select g.sequence from session_gaps(of_session) g)
  order by n
  limit most;
end;

-- Chunks that are parts of one stream, such as the pieces of a browser's recording: what is needed to
-- read the next part. Goes with the chunk, and with the audio of its session.
create table audio_parts (
  session_id uuid not null,
  sequence integer not null,
  -- The headers of the stream, where it begins in this chunk; no sound.
  head bytea,
  -- What begins in this chunk and ends in the next one; null until the chunk was measured.
  carry bytea,
  primary key (session_id, sequence),
  foreign key (session_id, sequence) references chunks (session_id, sequence) on delete cascade
);

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
  touched_at timestamptz not null default now(),
  -- Of the pieces that are not part of a chunk yet.
  unsealed_bytes bigint not null default 0
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

-- How much audio each session has stored, so that a workspace's sum can be judged when a session
-- begins. The row is written by whoever stores chunks of the session, under the lock of the
-- session's row, so that uploads of different sessions never wait for one another here.
create table stored_audio (
  session_id uuid primary key references sessions (id) on delete cascade,
  workspace_id uuid not null,
  -- Of its chunks. It goes when the session is deleted.
  bytes bigint not null
  -- Room for new versions of a row on its page: no index changes with them.
) with (fillfactor = 50);
create index stored_audio_workspace on stored_audio (workspace_id);

-- Chunks whose stored sound is not what was stored, until it is whole again.
create table damaged_audio (
  session_id uuid not null references sessions (id) on delete cascade,
  sequence integer not null,
  kind text not null check (kind in ('gone', 'unreadable', 'cut', 'changed')),
  found_at timestamptz not null default now(),
  mended_at timestamptz,
  primary key (session_id, sequence)
);
-- What is damaged now is counted every time somebody asks how the service is; what is whole again
-- stays on record, and grows.
create index damaged_audio_open on damaged_audio (session_id, sequence) where mended_at is null;

-- The one folder that holds the audio of this database's sessions, by the id that lies in it.
-- A process whose folder is another one would take audio that no other process finds.
create table audio_folder (
  singleton boolean primary key default true check (singleton),
  id uuid not null,
  claimed_at timestamptz not null default now()
);

-- How far the round of looks at all stored audio is; one row.
create table audio_scrub (
  is_one boolean primary key default true check (is_one),
  -- The last chunk that was looked at; null before the first.
  session_id uuid,
  sequence integer,
  chunks bigint not null default 0,
  bytes bigint not null default 0,
  damaged bigint not null default 0,
  begun_at timestamptz not null default now(),
  ended_at timestamptz
);

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

-- ==== The transcript ====

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
  redacted boolean not null default false,
  -- The session's, copied, since a generated column sees its own row only. Whoever knows it gives it
  -- along: asking for it row by row was a fifth of what a segment costs.
  language text not null,
  -- Derived from the one place that holds words, so that whatever erases or redacts these erases it.
  search tsvector not null generated always as (
    case
    when redacted or text like '[redacted-%' then ''::tsvector
    else to_tsvector(search_dictionary(language), text)
    end
  ) stored,
  -- How likely a segment's voice is its label's, 0 to 1. Null where nobody knows: in older segments, while
  -- the speaker is unknown, and after the label was revised, merged, or changed by a person.
  speaker_confidence real,
  -- Where others speak within a segment: [{"segmentId", "start", "end"}], positions in samples at
  -- 16 kHz, and the segment whose speaker it is; null where nobody does.
  overlapping jsonb,
  primary key (session_id, id)
);
create index segments_order on segments (session_id, start_sample);
create index segments_search on segments using gin (search);
create index segments_redacted on segments (session_id, start_sample) where redacted;

create function segment_language() returns trigger language plpgsql as $$
begin
  select s.language into new.language from sessions s where s.id = new.session_id;
  new.language := coalesce(new.language, 'en');
  return new;
end
$$;
create trigger segments_language before insert on segments
  for each row when (new.language is null) execute function segment_language();

-- Texts on their way from the route to the append that puts them in place.
create table segment_edits (
  id uuid primary key,
  session_id uuid not null references sessions (id) on delete cascade,
  segment_id uuid not null,
  text text not null,
  words jsonb not null,
  by_user_id uuid not null,
  created_at timestamptz not null default now()
);
create index segment_edits_session on segment_edits (session_id);

-- What people changed of segments: who, when, and how it read before and after. The words stand here
-- and not in events, so that they can be erased; changes go with a segment that another reading replaces.
create table segment_changes (
  id bigint generated always as identity primary key,
  session_id uuid not null,
  segment_id uuid not null,
  at timestamptz not null,
  by_user_id uuid not null,
  label_before text not null,
  label_after text not null,
  -- Both null when only the speaker changed, or the words were redacted since.
  text_before text,
  text_after text,
  foreign key (session_id, segment_id) references segments (session_id, id) on delete cascade
);
create index segment_changes_segment on segment_changes (session_id, segment_id);

-- Spans whose sound is to be taken out of the stored audio, besides the words.
create table redactions (
  id uuid primary key,
  session_id uuid not null references sessions (id) on delete cascade,
  start_sample bigint not null,
  end_sample bigint not null,
  label text,
  created_at timestamptz not null default now()
);
create index redactions_session on redactions (session_id);

create function want_silence_of_span() returns trigger language plpgsql as $$
begin
  update chunks c set silence_wanted = c.silence_wanted + 1
  where c.session_id = new.session_id
    and c.start_sample < new.end_sample
    and c.start_sample + c.length_samples > new.start_sample;
  return null;
end
$$;
create trigger span_wants_silence after insert on redactions
for each row execute function want_silence_of_span();

create table speaker_claims (
  id bigint generated always as identity primary key,
  session_id uuid not null references sessions (id) on delete cascade,
  label text not null,
  source text not null check (source in ('self_claim', 'moderator_assignment')),
  -- A user's or a guest's id.
  claimed_user_id uuid not null,
  by_user_id uuid not null,
  claimed_at timestamptz not null default now(),
  revoked_at timestamptz,
  -- When somebody else said that the claimed voice is theirs; until the claim ends.
  contested_at timestamptz
);
create unique index speaker_claims_current on speaker_claims (session_id, label) where revoked_at is null;
-- Who spoke: by account or guest, and by the name that is shown.
create index speaker_claims_session on speaker_claims (session_id, claimed_user_id);
create index speaker_claims_person on speaker_claims (claimed_user_id, session_id)
  where revoked_at is null;

-- Labels that are part of another one, and of which: each may be set apart again.
create table speaker_merges (
  session_id uuid not null references sessions (id) on delete cascade,
  label text not null,
  into_label text not null,
  primary key (session_id, label)
);

-- Free names of speaker labels, given by a session's owner or a moderator. They stand here and not in
-- events, so that they can be erased.
create table speaker_names (
  id uuid primary key,
  session_id uuid not null references sessions (id) on delete cascade,
  -- Null until the session has decided about the name.
  label text,
  display_name text not null,
  by_user_id uuid not null,
  created_at timestamptz not null default now(),
  -- A name that its label lost when a person merged it with one that has a name: taking the merge back
  -- gives it back.
  put_aside boolean not null default false
);
create unique index speaker_names_label on speaker_names (session_id, label);
create index speaker_names_words on speaker_names using gin (title_words(display_name))
  where label is not null;

-- A repeated transcription whose result waits until a person accepts or discards it: one for each
-- session. The row is made when it is asked for, and then holds what the job said before, so that the
-- job goes on describing the text that stands; from the result on it describes the candidate.
create table redo_candidates (
  session_id uuid primary key references sessions (id) on delete cascade,
  job_id uuid not null,
  attempt integer not null,
  status text not null
    check (status in ('reading', 'waiting', 'accepted', 'discarded', 'outdated', 'expired')),
  -- Segments of the text that stands where the candidate could not be read; both texts have them.
  kept uuid[] not null default '{}',
  engine text,
  detected_language text,
  diarisation_model_version text,
  sound_leaves boolean not null default false,
  -- The attempt of the other text: of the one that stands while the candidate waits.
  other_attempt integer not null,
  at timestamptz not null default now()
);
create index redo_candidates_waiting on redo_candidates (at) where status = 'waiting';

-- The words of candidates, with the columns of segments. They are erased with the session, follow
-- redactions, and go when the candidate was accepted, discarded or forgotten.
create table candidate_segments (
  session_id uuid not null references sessions (id) on delete cascade,
  id uuid not null,
  attempt integer not null,
  start_sample bigint not null,
  end_sample bigint not null,
  label text not null,
  text text not null,
  words jsonb not null,
  confidence real not null,
  speaker_confidence real,
  redacted boolean not null default false,
  overlapping jsonb,
  primary key (session_id, id)
);

-- ==== Jobs and notes ====

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
  completed_at timestamptz,
  summary_type text
    check (summary_type in (
      'brief', 'detailed', 'action_items', 'decisions', 'topics', 'open_questions',
      'custom_sections', 'speakers')),
  -- Not before this instant.
  due_at timestamptz not null default now(),
  -- The claim under which it runs, and until when that stands unless renewed.
  claim_id uuid,
  claimed_until timestamptz,
  -- Segments edited by people that the newest repetition of a transcription replaced.
  edits_replaced integer not null default 0,
  -- Which engine its next reading shall have.
  wanted_engine text,
  -- Whether the engine of the job's newest reading is one to which the sound leaves the installation.
  sound_leaves boolean not null default false,
  automatic boolean not null default false,
  -- How often the model was away when a job's notes were to be worded; they are by rule meanwhile.
  model_attempt smallint not null default 0
);
create index jobs_list on jobs (kind, id desc);
create index jobs_session on jobs (session_id);
create index jobs_due on jobs (kind, due_at)
  where kind <> 'transcription' and status in ('queued', 'running');
-- Asking twice for the same summary is asking once.
create unique index jobs_active_summary on jobs (session_id, summary_type)
  where kind = 'summarisation' and status in ('queued', 'running');
create index jobs_summaries on jobs (session_id, summary_type, id desc)
  where kind = 'summarisation';
create index jobs_open on jobs (kind, status) where status in ('queued', 'running');
create index jobs_automatic on jobs (session_id, created_at desc) where automatic;

-- The length is that of the session's own reading, told when it ends and when late audio adds to it.
create function list_duration() returns trigger language plpgsql as $$
begin
  update session_listings l set duration_ms = coalesce(new.duration_ms, 0)
  from sessions s
  where l.session_id = new.session_id and s.id = new.session_id and s.job_id = new.id;
  return null;
end
$$;
create trigger jobs_list_duration after update of duration_ms on jobs
  for each row when (new.kind = 'transcription' and old.duration_ms is distinct from new.duration_ms)
  execute function list_duration();

-- Words of sessions, like segments: goes with the session's words.
create table summaries (
  job_id uuid primary key references jobs (id) on delete cascade,
  session_id uuid not null references sessions (id) on delete cascade,
  summary_type text not null,
  engine text not null,
  text text not null,
  -- [{text, segment_ids, start_ms, speaker?, section?, owner?, due?}]
  items jsonb not null,
  -- Of the transcript that it was made from.
  fingerprint bytea not null,
  created_at timestamptz not null default now(),
  -- Counts the summaries of one type of a session, from 1.
  version integer not null default 1,
  -- Notes that a language model worded: which one, and how many of its sentences were dropped, as what they
  -- cite did not bear them. Without a model a summary is by rule.
  model text,
  dropped_sentences integer not null default 0,
  -- Of these: [{title, instruction}] for which it was made.
  sections jsonb
);
create index summaries_latest on summaries (session_id, summary_type, job_id desc);

-- What a workspace made of a built-in template.
create table note_templates (
  workspace_id uuid not null references workspaces (id) on delete cascade,
  template_id text not null,
  title text not null,
  -- [{title, kind, instruction?}]
  sections jsonb not null,
  updated_at timestamptz not null default now(),
  primary key (workspace_id, template_id)
);

-- Sessions whose notes are to be made, or made again.
create table notes_due (
  session_id uuid primary key references sessions (id) on delete cascade,
  -- When the first change came that the notes do not know of.
  first_at timestamptz not null default now(),
  due_at timestamptz not null
);
create index notes_due_next on notes_due (due_at);

-- What people noted at the action items of a session. Each item has an id, by which it is known again
-- when the notes are made anew. Goes with the session's summaries.
create table action_item_edits (
  session_id uuid not null references sessions (id) on delete cascade,
  item_id uuid not null,
  -- The first segment that it cites, and SHA-256 of its text: by these it is known again.
  segment_id uuid not null,
  text_digest bytea not null,
  done boolean not null,
  -- Null: as the notes say. Empty: nobody, or no time.
  owner text,
  due text,
  by_id uuid not null,
  updated_at timestamptz not null default now(),
  primary key (session_id, item_id)
);

-- Tokens that the model read and wrote for the workspaces of one tenant on one day (UTC). Old days go.
create table model_tokens (
  -- The account that owns the workspace, else the workspace.
  tenant uuid not null,
  day date not null,
  tokens bigint not null,
  primary key (day, tenant)
);

-- ==== Concerns and graphs ====

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

-- What sessions are about, derived from their words and as erasable: every
-- table has session_id, and one delete on graph_builds takes the rest with it.
create table graph_builds (
  session_id uuid primary key references sessions (id) on delete cascade,
  -- Where the session's journal stood when its words were read.
  seq bigint not null,
  -- Of what went in, so that nothing is made again from the same words.
  input_hash bytea not null,
  built_at timestamptz not null default now()
);

create table graph_entities (
  session_id uuid not null references graph_builds (session_id) on delete cascade,
  -- Derived from the workspace and the normalised name: equal across its sessions.
  id uuid not null,
  type text not null check
    (type in ('speaker', 'person', 'organisation', 'place', 'date', 'money', 'number', 'topic')),
  name text not null,
  aliases jsonb not null,
  labels jsonb not null,
  primary key (session_id, id)
);

create table graph_mentions (
  session_id uuid not null references graph_builds (session_id) on delete cascade,
  entity_id uuid not null,
  segment_id uuid not null,
  start_sample bigint not null,
  end_sample bigint not null,
  -- True where the entity speaks, false where it is spoken of.
  spoke boolean not null,
  primary key (session_id, entity_id, start_sample, segment_id, spoke)
);

create table graph_links (
  session_id uuid not null references graph_builds (session_id) on delete cascade,
  source_id uuid not null,
  target_id uuid not null,
  kind text not null check (kind in ('co_occurrence', 'action', 'talks_about')),
  -- The verb of an action.
  label text not null,
  weight real not null,
  segment_id uuid not null
);
create index graph_links_session on graph_links (session_id, source_id);
create index graph_links_target on graph_links (session_id, target_id);

-- ==== Voices ====

-- Voices that people consented to have remembered in a workspace. Who leaves the workspace, or whose
-- account or workspace is erased, is forgotten with the membership.
create table remembered_voices (
  workspace_id uuid not null,
  user_id uuid not null,
  -- A new one each time the voice is remembered.
  id uuid not null unique,
  -- Whose sound it was made of. No reference: the voice is the person's and outlives the session.
  session_id uuid not null,
  label text not null,
  -- Prints of different methods cannot be compared.
  method text not null,
  -- The print, encrypted and bound to the workspace and the person.
  sealed bytea not null,
  speech_ms integer not null,
  remembered_at timestamptz not null default now(),
  -- Whether the print stays when the sound that it was made of is deleted or redacted: its person says so.
  keep_after_deletion boolean not null default false,
  primary key (workspace_id, user_id),
  foreign key (workspace_id, user_id)
    references workspace_members (workspace_id, user_id) on delete cascade
);
create index remembered_voices_user on remembered_voices (user_id);
create index remembered_voices_source on remembered_voices (session_id, label);

-- Whom a label sounds like; goes with the remembered voice.
create table voice_suggestions (
  session_id uuid not null references sessions (id) on delete cascade,
  label text not null,
  voice_id uuid not null references remembered_voices (id) on delete cascade,
  likelihood real not null,
  primary key (session_id, label, voice_id)
);
create index voice_suggestions_voice on voice_suggestions (voice_id);

-- Which speech of a label was compared with which remembered voices.
create table voice_comparisons (
  session_id uuid not null references sessions (id) on delete cascade,
  label text not null,
  -- Samples at 16 kHz of the label's segments, and a digest of which segments they are.
  heard_samples bigint not null,
  heard bytea not null,
  -- A digest of the remembered voices.
  voices bytea not null,
  primary key (session_id, label)
);

-- Whose print went, as it was made by an earlier method or without consent that counts: they are told
-- until a new one is given or declined.
create table lapsed_voices (
  workspace_id uuid not null,
  user_id uuid not null,
  lapsed_at timestamptz not null default now(),
  primary key (workspace_id, user_id),
  foreign key (workspace_id, user_id)
    references workspace_members (workspace_id, user_id) on delete cascade
);
create index lapsed_voices_user on lapsed_voices (user_id);

-- ==== Webhooks ====

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
  updated_at timestamptz not null default now(),
  -- A webhook is worth what the right of whoever named its URL last is worth: of a person, or of a
  -- service key. It is joined where messages are sent and webhooks are shown.
  made_by uuid references users (id) on delete set null,
  made_by_key uuid references service_keys (id) on delete set null,
  -- A webhook may ask for sessions with certain tags alone: they have to have all of them.
  tags text[] not null default '{}',
  constraint webhooks_one_maker check (made_by is null or made_by_key is null)
);
create index webhooks_workspace on webhooks (workspace_id, id desc);
create index webhooks_turn on webhooks (free_at) where enabled;
create index webhooks_maker on webhooks (made_by) where made_by is not null;
create index webhooks_maker_key on webhooks (made_by_key) where made_by_key is not null;

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

-- ==== Audit and erasure ====

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

-- Sign-ins that strangers tried in vain, counted for each account and hour: the audit log, which
-- nobody can shorten, gets an entry for the first of an hour and one for all of them when it is over.
create table failed_sign_ins (
  hour timestamptz not null,
  -- Zeros: no account is known.
  account_id uuid not null,
  reason text not null,
  -- The identity provider; '' for our own sign-in.
  provider text not null,
  failures bigint not null default 1,
  first_at timestamptz not null default now(),
  last_at timestamptz not null default now(),
  primary key (hour, account_id, reason, provider)
);

-- The addresses that they came from, which the log holds as keyed digests only. They expire.
create table failed_sign_in_addresses (
  account_id uuid not null,
  hour timestamptz not null,
  digest text not null,
  address text not null,
  failures bigint not null default 1,
  seen_at timestamptz not null default now(),
  primary key (account_id, hour, digest)
);
create index failed_sign_in_addresses_digest on failed_sign_in_addresses (account_id, digest);
create index failed_sign_in_addresses_age on failed_sign_in_addresses (seen_at);

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

-- What was erased for good: sessions, accounts, and spans of sessions. The same is in the ledger, files
-- beside the audio that a restored database does not replace.
create table erasures (
  subject_id uuid primary key,
  kind text not null,
  -- Of a redaction: sessionId, from, to (samples at 16 kHz), label, byUserId.
  redaction jsonb,
  at timestamptz not null default now(),
  -- The ledger's file that has it; null until that is durable.
  chain uuid,
  number integer
);
create index erasures_pending on erasures (at) where chain is null;
create index erasures_by_file on erasures (chain, number) where chain is not null;

-- The files of the ledger that this database has merged, written, or knows to be missing. Each
-- process writes a chain of them, numbered from 1.
create table erasure_ledger_files (
  chain uuid not null,
  number integer not null,
  -- What it holds was written after `since`, which is the time of the one before it.
  since timestamptz,
  at timestamptz not null,
  -- Since when it is known that it should be there and is not.
  missing_since timestamptz,
  primary key (chain, number)
);
create index erasure_ledger_files_missing on erasure_ledger_files (missing_since)
  where missing_since is not null;

-- ==== Answers that are kept, and keys ====

-- First answers to creating requests, by the caller's Idempotency-Key, so that
-- a repeat gets the same answer. Nothing here can be read without that key:
-- the row is found by a keyed hash and the answer is encrypted under it.
create table idempotency_keys (
  -- HMAC of caller, route and key.
  key_hash bytea primary key,
  -- The execution that may write the answer.
  attempt uuid not null,
  -- HMAC of path, query and body.
  fingerprint bytea not null,
  -- The session that the answer belongs to, so that its deletion takes the answer along.
  session_id uuid,
  -- Nonce, tag and AES-256-GCM ciphertext; null while the request is running.
  answer bytea,
  -- 60 s from the start of a run, 24 h from its answer.
  expires_at timestamptz not null
);
create index idempotency_keys_expiry on idempotency_keys (expires_at);
create index idempotency_keys_session on idempotency_keys (session_id) where session_id is not null;

-- The keys of this database's installation, as fingerprints: a process with others does not start.
create table key_set (
  singleton boolean primary key default true check (singleton),
  pairing_fingerprint text not null,
  cursor_fingerprint text not null,
  -- The machine that came first, and the folder of its keys unless they came as a setting.
  host text not null,
  folder text,
  claimed_at timestamptz not null default now()
);

create table signing_keys (
  kid text primary key,
  number bigint generated always as identity,
  -- Null when it has signed from the start.
  signs_from timestamptz,
  added_at timestamptz not null default now()
);

-- ==== What waits ====

-- Of what the record holds something for. Every process asks once a second, and an installation at
-- rest asks little else: in a function of this language the plans stay with the connection, and to
-- make them costs several times what the look does. Each is a first row by an index that holds
-- nothing else, whatever the statistics say.
-- Messages of webhooks whose issuer has left are no work: whoever asked on for them would find nothing
-- to claim. Who may still send is said where messages are claimed, too.
create function waiting_work(out commands boolean, out parked boolean, out jobs boolean,
  out deliveries boolean, out silence boolean, out recording boolean, out pieces boolean,
  out files boolean)
language plpgsql stable set enable_seqscan = off set enable_sort = off as $$
begin
  commands := exists (
    select from outbox where parked_at is null order by partition_of(session_id) limit 1);
  parked := exists (select from outbox where parked_at is not null order by parked_at limit 1);
  jobs := exists (
    select from jobs
    where kind <> 'transcription' and status in ('queued', 'running')
      and case status when 'queued' then due_at else claimed_until end <= now());
  deliveries := exists (
    select from webhooks as w
    where w.enabled and w.free_at <= now() and exists (
      select from webhook_deliveries as d
      where d.webhook_id = w.id and d.status = 'pending' and d.next_attempt_at <= now())
      and (
        exists (
          select from users u
          where u.id = w.made_by and u.disabled_at is null and u.erased_at is null
            and (u.role = 'admin' or exists (
              select from workspace_members m
              where m.workspace_id = w.workspace_id and m.user_id = u.id and m.role = 'owner')))
        or exists (
          select from service_keys k join service_key_secrets s on s.key_id = k.id
          where k.id = w.made_by_key and k.revoked_at is null and s.expires_at > now()
            and exists (
              select from users u
              where u.id = s.made_by and u.disabled_at is null and u.erased_at is null
                and case s.made_as when 'admin' then u.role = 'admin' else exists (
                  select from workspace_members m
                  where m.workspace_id = k.workspace_id and m.user_id = u.id
                    and m.role = 'owner') end))));
  silence := exists (
    select from chunks where silence_wanted > silence_done
    order by session_id, sequence limit 1);
  recording := exists (
    select from sessions where status = 'recording' order by started_at limit 1);
  pieces := exists (select from audio_pieces order by created_at limit 1);
  files := exists (
    select from deletion_receipts where audio_erased_at is null order by deleted_at limit 1);
end
$$;
