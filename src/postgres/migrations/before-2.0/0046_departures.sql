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
