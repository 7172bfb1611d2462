-- How long ago a session's newest chunk was stored is asked while it is waited for others, and by
-- what stops the sessions of silent devices.
create index chunks_uploaded on chunks (session_id, uploaded_at);

-- Segments edited by people that the newest repetition of a transcription replaced.
alter table jobs add column edits_replaced integer not null default 0;

-- What a second reading put into the text, asked for with each look at a session's gaps.
create index events_replacements on events (session_id) where type = 'TranscriptReplaced';

-- Sequences that were given up and stand so: neither has their audio been read since, nor are they
-- waited for again, as those at the end are once audio of one of them came.
create function session_gaps(of_session uuid)
returns table (sequence integer, start_sample bigint, length_samples bigint)
language sql stable
begin atomic
  with declared as (
    select distinct on ((e.payload ->> 'sequence')::int)
      (e.payload ->> 'sequence')::int as sequence,
      (e.payload ->> 'start')::bigint as start_sample,
      (e.payload ->> 'length')::bigint as length_samples,
      coalesce((e.payload ->> 'tail')::boolean, false) as tail,
      e.seq
    from events e
    where e.session_id = of_session and e.type = 'GapDeclared'
    order by (e.payload ->> 'sequence')::int, e.seq desc
  ), replaced as (
    select r.read::int as sequence, max(e.seq) as seq
    from events e, jsonb_array_elements_text(e.payload -> 'sequences') as r (read)
    where e.session_id = of_session and e.type = 'TranscriptReplaced'
    group by r.read
  )
  select d.sequence, d.start_sample, d.length_samples
  from declared d left join replaced r using (sequence)
  where (r.seq is null or r.seq < d.seq)
    and not (d.tail and exists (
      select 1 from events e
      where e.session_id = of_session and e.seq > d.seq and e.type = 'ChunkReceived'
        and (e.payload ->> 'sequence')::int >= (select min(t.sequence) from declared t where t.tail)))
  order by d.start_sample, d.sequence;
end;

-- Sequences up to `last` that are waited for: they did not come, and were not given up.
create function awaited_chunks(of_session uuid, last integer, most integer)
returns setof integer
language sql stable
begin atomic
  select n
  from generate_series(0, last) as n
  where n not in (select c.sequence from chunks c where c.session_id = of_session)
    and n not in (select g.sequence from session_gaps(of_session) g)
  order by n
  limit most;
end;
