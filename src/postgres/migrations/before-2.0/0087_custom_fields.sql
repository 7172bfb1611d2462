-- What programs keep with a session to find it again: their own id, up to 16 texts by key, and tags.
alter table sessions
  add column external_id text,
  add column metadata jsonb not null default '{}',
  add column tags text[] not null default '{}';

-- One session of a workspace has an id; a deleted one has none.
create unique index sessions_external_id on sessions (workspace_id, external_id)
  where external_id is not null;

-- The tags of a workspace's sessions: those of other workspaces are never looked at.
create function workspace_tags(workspace_id uuid, tags text[]) returns text[]
language sql immutable parallel safe
return (select array_agg(workspace_id || ' ' || tag) from unnest(tags) tag);

-- Without lists of pending entries, which each search would read through.
create index sessions_tags on sessions using gin (workspace_tags(workspace_id, tags))
  with (fastupdate = off)
  where tags <> '{}';
create index sessions_metadata on sessions using gin (metadata jsonb_path_ops)
  with (fastupdate = off)
  where metadata <> '{}';
