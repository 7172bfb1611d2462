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

create trigger right_changed after update of revoked_at, expires_at on logins
for each row when (
  old.revoked_at is null and old.expires_at > now()
  and (new.revoked_at is not null or new.expires_at < old.expires_at))
execute function note_ended_right('user', 'user_id');
create trigger right_gone after delete on logins
for each row when (old.revoked_at is null and old.expires_at > now())
execute function note_ended_right('user', 'user_id');

create trigger right_changed after update of revoked_at, expires_at on guests
for each row when (
  old.revoked_at is null and old.expires_at > now()
  and (new.revoked_at is not null or new.expires_at < old.expires_at))
execute function note_ended_right('guest', 'id');
create trigger right_gone after delete on guests
for each row when (old.revoked_at is null and old.expires_at > now())
execute function note_ended_right('guest', 'id');

create trigger right_changed after update of role on workspace_members
for each row when (old.role <> new.role)
execute function note_ended_right('user', 'user_id');
create trigger right_gone after delete on workspace_members
for each row execute function note_ended_right('user', 'user_id');

create trigger right_changed after update of relation on session_members
for each row when (old.relation <> new.relation)
execute function note_ended_right('user', 'user_id');
create trigger right_gone after delete on session_members
for each row execute function note_ended_right('user', 'user_id');

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

create trigger right_changed after update of session_id, expires_at, ended_at on content_elevations
for each row when (
  old.ended_at is null and old.expires_at > now()
  and (old.session_id, old.expires_at, old.ended_at)
    is distinct from (new.session_id, new.expires_at, new.ended_at))
execute function note_ended_right('user', 'admin_id');
create trigger right_gone after delete on content_elevations
for each row when (old.ended_at is null and old.expires_at > now())
execute function note_ended_right('user', 'admin_id');

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

create trigger right_changed after update of revoked_at, expires_at on device_keys
for each row when (
  old.revoked_at is null and old.expires_at > now()
  and (new.revoked_at is not null or new.expires_at < old.expires_at))
execute function note_ended_right('device', 'device_id');
create trigger right_gone after delete on device_keys
for each row when (old.revoked_at is null and old.expires_at > now())
execute function note_ended_right('device', 'device_id');

create trigger right_changed after update of revoked_at, scopes, workspace_id on service_keys
for each row when (
  (old.revoked_at, old.scopes, old.workspace_id)
    is distinct from (new.revoked_at, new.scopes, new.workspace_id))
execute function note_ended_right('service_key', 'id');
create trigger right_gone after delete on service_keys
for each row execute function note_ended_right('service_key', 'id');

create trigger right_changed after update of expires_at on service_key_secrets
for each row when (old.expires_at > now() and new.expires_at < old.expires_at)
execute function note_ended_right('service_key', 'key_id');
create trigger right_gone after delete on service_key_secrets
for each row when (old.expires_at > now())
execute function note_ended_right('service_key', 'key_id');

-- Its service keys end with it; its members and devices are told of above.
create trigger right_changed after update of deleted_at on workspaces
for each row when (old.deleted_at is distinct from new.deleted_at)
execute function note_ended_right('workspace', 'id');
