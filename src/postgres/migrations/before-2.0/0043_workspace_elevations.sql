-- An elevation may cover one workspace with all its sessions, besides one session or everything.
alter table content_elevations
  add column workspace_id uuid references workspaces (id) on delete cascade,
  add constraint content_elevations_one_place check (session_id is null or workspace_id is null);

drop trigger right_changed on content_elevations;
create trigger right_changed
after update of session_id, workspace_id, expires_at, ended_at on content_elevations
for each row when (
  old.ended_at is null and old.expires_at > now()
  and (old.session_id, old.workspace_id, old.expires_at, old.ended_at)
    is distinct from (new.session_id, new.workspace_id, new.expires_at, new.ended_at))
execute function note_ended_right('user', 'admin_id');
