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

create function ledger_ended_service_key() returns trigger language plpgsql as $$
begin
  insert into erasures (subject_id, kind, at) values (new.id, 'service_key_ended', new.revoked_at)
  on conflict (subject_id) do nothing;
  return null;
end $$;

create function ledger_ended_secret() returns trigger language plpgsql as $$
begin
  insert into erasures (subject_id, kind, at) values (new.id, 'service_secret_ended', new.expires_at)
  on conflict (subject_id) do update set at = excluded.at, chain = null, number = null
  where erasures.at > excluded.at;
  return null;
end $$;

create trigger ended_into_ledger after update of revoked_at, expires_at on device_keys
for each row when (
  (old.revoked_at is null and new.revoked_at is not null) or new.expires_at < old.expires_at)
execute function ledger_ended_right('device_key_ended');

create trigger ended_into_ledger after update of revoked_at, expires_at on logins
for each row when (
  (old.revoked_at is null and new.revoked_at is not null) or new.expires_at < old.expires_at)
execute function ledger_ended_right('sign_in_ended');

create trigger ended_into_ledger after update of revoked_at on service_keys
for each row when (old.revoked_at is null and new.revoked_at is not null)
execute function ledger_ended_service_key();

create trigger ended_into_ledger after update of expires_at on service_key_secrets
for each row when (new.expires_at < old.expires_at)
execute function ledger_ended_secret();

insert into erasures (subject_id, kind, at)
  select id, 'device_key_ended', least(revoked_at, expires_at) from device_keys
  where revoked_at is not null
  union all
  select id, 'service_key_ended', revoked_at from service_keys where revoked_at is not null
  union all
  select id, 'sign_in_ended', least(revoked_at, expires_at) from logins where revoked_at is not null
  on conflict do nothing;
