-- Whether a device's stream may have the words of the session that it records. Its owner says so, and
-- for nobody who owns it after them.
alter table devices add column may_read boolean not null default false;

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
