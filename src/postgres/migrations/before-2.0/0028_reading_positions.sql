-- How far a worker has read a session, in samples at 16 kHz; told every few seconds while one reads.
-- No row of `sessions`, which every append and every chunk locks.
create table reading_positions (
  session_id uuid primary key,
  read_to bigint not null check (read_to >= 0)
);

-- Gaps are few among the events of a session, and asked for with each look at its lag.
create index events_gaps on events (session_id) where type = 'GapDeclared';

-- The one meaning of lag: the length of the audio that is stored and was not read yet. A chunk
-- whose last words are still open was read all the same, and a device that is silent is no lag.
-- Audio that came after its gap had been declared is read anew from the gap on, so all of it waits.
create function session_lag_ms(of_session uuid) returns bigint
language sql stable
return (
  select coalesce(sum(
    case when c.status = 'processing' and c.length_samples is not null and not exists (
        select from events e
        where e.session_id = of_session and e.type = 'GapDeclared'
          and (e.payload ->> 'sequence')::int = c.sequence)
      then greatest(0, c.start_sample + c.length_samples
        - greatest(c.start_sample, coalesce(r.read_to, 0))) / 16.0
      else c.duration_seconds * 1000.0
    end), 0)::bigint
  from chunks c
    left join reading_positions r on r.session_id = c.session_id
  where c.session_id = of_session and c.status in ('pending', 'processing')
);
