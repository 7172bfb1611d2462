-- What programs keep with a session, and how long it is, beside what else lists are found and sorted
-- by: a session's row is written with every piece of audio, and each index on it is written too.
alter table session_listings
  add column external_key text collate "C" not null default '',
  add column duration_ms integer not null default 0,
  add column keys text[] not null default '{}';

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

create or replace function list_session() returns trigger language plpgsql as $$
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
drop trigger sessions_list_again on sessions;
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

update session_listings l
set external_key = coalesce(s.external_id, ''), keys = listing_keys_of(s),
  duration_ms = coalesce(
    (select j.duration_ms from jobs j where j.id = s.job_id and j.kind = 'transcription'), 0)
from sessions s where s.id = l.session_id;

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

drop index sessions_tags;
drop index sessions_metadata;
drop function workspace_tags;
drop index jobs_duration;
