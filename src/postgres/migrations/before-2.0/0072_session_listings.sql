-- Lists of sessions by title, time and speaker. What they are found and sorted by has a row of its own,
-- as a session's row is written with every piece of audio, and each index on it would be written too.

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

create table session_listings (
  session_id uuid primary key references sessions (id) on delete cascade,
  workspace_id uuid not null,
  owner_id uuid not null,
  visibility text not null,
  deleted boolean not null,
  started_at timestamptz not null,
  title_key text collate "C" not null,
  title_words tsvector not null
);

create function list_session() returns trigger language plpgsql as $$
begin
  insert into session_listings values (
    new.id, new.workspace_id, new.owner_id, new.visibility, new.status = 'deleted', new.started_at,
    left(folded_text(new.title), 100), title_words(new.title))
  on conflict (session_id) do update set
    workspace_id = excluded.workspace_id, owner_id = excluded.owner_id,
    visibility = excluded.visibility, deleted = excluded.deleted, started_at = excluded.started_at,
    title_key = excluded.title_key, title_words = excluded.title_words;
  return null;
end
$$;
create trigger sessions_list after insert on sessions
  for each row execute function list_session();
create trigger sessions_list_again
  after update of workspace_id, owner_id, visibility, status, started_at, title on sessions
  for each row when (
    (old.workspace_id, old.owner_id, old.visibility, old.status = 'deleted', old.started_at, old.title)
    is distinct from
    (new.workspace_id, new.owner_id, new.visibility, new.status = 'deleted', new.started_at, new.title))
  execute function list_session();

insert into session_listings
select id, workspace_id, owner_id, visibility, status = 'deleted', started_at,
  left(folded_text(title), 100), title_words(title)
from sessions;

create index session_listings_words on session_listings using gin (title_words);
create index session_listings_started on session_listings (started_at, session_id) where not deleted;
create index session_listings_title on session_listings (title_key, session_id) where not deleted;
create index session_listings_owner on session_listings (owner_id, started_at, session_id)
  where not deleted;
create index session_listings_workspace on session_listings (workspace_id, started_at, session_id)
  where not deleted;
create index session_listings_shared on session_listings (workspace_id, started_at, session_id)
  where not deleted and visibility = 'workspace';

-- Who spoke: by account or guest, and by the name that is shown.
create index speaker_claims_session on speaker_claims (session_id, claimed_user_id);
create index speaker_claims_person on speaker_claims (claimed_user_id, session_id)
  where revoked_at is null;
create index speaker_names_words on speaker_names using gin (title_words(display_name))
  where label is not null;
create index users_words on users using gin (title_words(name));
create index guests_words on guests using gin (title_words(display_name));

-- By length; it is written once, when the job is completed.
create index jobs_duration on jobs ((coalesce(duration_ms, 0)), session_id) where kind = 'transcription';
