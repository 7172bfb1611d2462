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

insert into stored_audio (session_id, workspace_id, bytes)
select c.session_id, s.workspace_id, c.bytes
from (select session_id, sum(bytes) as bytes from chunks group by 1) as c
join sessions s on s.id = c.session_id
where s.status <> 'deleted';

-- Of the pieces that are not part of a chunk yet.
alter table audio_streams add column unsealed_bytes bigint not null default 0;
update audio_streams a set unsealed_bytes = p.bytes
from (select session_id, sum(octet_length(data)) as bytes from audio_pieces group by 1) as p
where p.session_id = a.session_id;

create index sessions_open_in_workspace on sessions (workspace_id, status)
  where status in ('recording', 'processing');
create index sessions_recording_owner on sessions (owner_id) where status = 'recording';

-- Whose ceiling a workspace counts for. Not its owners': they change, and nobody may fill another's
-- ceiling by making them one.
alter table workspaces add column created_by uuid references users (id) on delete set null;
update workspaces w set created_by = (
  select m.user_id from workspace_members m
  where m.workspace_id = w.id and m.role = 'owner'
  order by m.created_at, m.user_id limit 1);
create index workspaces_made_by on workspaces (created_by) where deleted_at is null;
