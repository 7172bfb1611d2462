-- Voices that were forgotten or replaced, however that came, stand with the erasures, and so in the
-- ledger: a restored database would have their prints again.
create function ledger_forgotten_voice() returns trigger language plpgsql as $$
begin
  insert into erasures (subject_id, kind) values (old.id, 'voice_forgotten')
  on conflict (subject_id) do nothing;
  return null;
end $$;

create trigger forgotten_into_ledger after delete on remembered_voices
for each row execute function ledger_forgotten_voice();
