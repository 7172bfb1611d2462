-- An administrator who came in as a guest under an elevation goes with it, also when it ends before
-- its time or its holder is no administrator any more, and stays out when there is another one.
alter table guests
  -- Null for guests whom no elevation let in.
  add column elevation_id uuid references content_elevations (id) on delete set null;
create index guests_elevation on guests (elevation_id) where elevation_id is not null;

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
create trigger guests_elevated after update of role, disabled_at on users
for each row when (
  old.role = 'admin' and old.disabled_at is null
  and (new.role <> 'admin' or new.disabled_at is not null))
execute function end_elevated_guests();
