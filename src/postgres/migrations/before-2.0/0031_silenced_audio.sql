-- Which files have yet to be silenced is known of each chunk: `silence_wanted` rises whenever the
-- chunk takes its place, or another one, over a redacted span, and whenever another span comes to
-- lie over it. `silence_done` is the newest of them whose spans its file has lost. By triggers:
-- whoever places a chunk or redacts a span, none of the two is forgotten.
alter table chunks
  add column silence_wanted integer not null default 0,
  add column silence_done integer not null default 0;

create function want_silence_of_chunk() returns trigger language plpgsql as $$
begin
  if exists (
    select from redactions r
    where r.session_id = new.session_id
      and r.start_sample < new.start_sample + new.length_samples
      and r.end_sample > new.start_sample)
  then
    new.silence_wanted := new.silence_wanted + 1;
  end if;
  return new;
end
$$;

create trigger chunk_wants_silence before update of start_sample, length_samples on chunks
for each row
when (new.start_sample is not null and (
  new.start_sample is distinct from old.start_sample
  or new.length_samples is distinct from old.length_samples))
execute function want_silence_of_chunk();

create function want_silence_of_span() returns trigger language plpgsql as $$
begin
  update chunks c set silence_wanted = c.silence_wanted + 1
  where c.session_id = new.session_id
    and c.start_sample < new.end_sample
    and c.start_sample + c.length_samples > new.start_sample;
  return null;
end
$$;

create trigger span_wants_silence after insert on redactions
for each row execute function want_silence_of_span();

-- All that was redacted before is gone over once more: an earlier release could miss a chunk.
update chunks c set silence_wanted = 1
where exists (
  select from redactions r
  where r.session_id = c.session_id
    and r.start_sample < c.start_sample + c.length_samples
    and r.end_sample > c.start_sample);

create index chunks_to_silence on chunks (session_id, sequence)
where silence_wanted > silence_done;
