-- Whether a session has something left to do, as its actor said it with the newest append: it
-- records or is processed, late audio is still to be read, a redo is under way. A host that takes
-- sessions over looks for nothing else.
alter table sessions
  add column has_work boolean not null default false,
  -- The seq at which that was said.
  add column work_seq bigint not null default 0;
-- A new session has.
alter table sessions alter column has_work set default true;
-- Of what was before, rather too many: their actors put it right.
update sessions s set has_work = true
where s.status in ('recording', 'processing')
  or (s.status in ('completed', 'failed') and (
    exists (
      select from chunks c where c.session_id = s.id and c.status in ('pending', 'processing'))
    or exists (
      select from jobs j
      where j.id = s.job_id and j.kind = 'transcription' and j.status in ('queued', 'running'))));
create index sessions_with_work on sessions (partition, id) where has_work;

-- A host of the release before goes on for a while in a rolling update, and its appends say
-- nothing about it: rather once too often than never.
create function session_work_unsaid() returns trigger language plpgsql as $$
begin
  new.has_work := true;
  return new;
end
$$;
create trigger sessions_work_unsaid before update of seq on sessions
  for each row when (
    new.seq <> old.seq and new.work_seq = old.work_seq
    and not new.has_work and new.status <> 'deleted')
  execute function session_work_unsaid();

-- Commands whose delivery fails rest ever longer, and are put aside in the end.
alter table outbox
  -- Deliveries that failed by the command's or its session's own fault.
  add column attempts integer not null default 0,
  add column not_before timestamptz not null default now(),
  -- Since when it is tried no more, and why.
  add column parked_at timestamptz,
  add column parked_reason text;
-- The look through the commands that wait, session by session.
create index outbox_waiting on outbox (partition, session_id, not_before)
  where parked_at is null;
create index outbox_session on outbox (session_id);
create index outbox_parked on outbox (id) where parked_at is not null;
create index outbox_parked_since on outbox (parked_at) where parked_at is not null;
-- Ids are in the order of time.
drop index outbox_due;
alter table outbox drop column published_at;

-- What waits and what is parked, of each counted up to `most`, and ten sessions whose commands were
-- parked last. By indexes even where a look through the whole table were cheaper: it is that only
-- until the outbox has been long.
create function outbox_figures(most integer, out waiting integer, out oldest_at timestamptz,
  out parked integer, out parked_since timestamptz, out parked_sessions uuid[])
language plpgsql stable set enable_seqscan = off set enable_sort = off as $$
begin
  select count(*), min(w.created_at) into waiting, oldest_at from (
    select o.created_at from outbox o where o.parked_at is null
    order by o.partition, o.session_id, o.not_before limit most) as w;
  select count(*), min(p.parked_at) into parked, parked_since from (
    select o.parked_at from outbox o where o.parked_at is not null
    order by o.parked_at limit most) as p;
  parked_sessions := array(
    select latest.session_id from (
      select o.session_id, o.parked_at from outbox o
      where o.parked_at is not null order by o.parked_at desc limit 1000) as latest
    group by latest.session_id order by max(latest.parked_at) desc limit 10);
end
$$;

-- What is asked of sessions that have recorded for long, with each look at how they stand: by few
-- of their rows.
create index chunks_unread on chunks (session_id, sequence)
  where status in ('pending', 'processing');
create index chunks_failed on chunks (session_id, sequence) where status = 'failed';
-- Those whose sound is longer than their place.
create index chunks_exceeding on chunks (session_id, sequence)
  where frames * 16000::int8 / sample_rate > length_samples + 1;
create index chunks_place on chunks (session_id, start_sample, sequence);
create index if not exists chunks_uploaded on chunks (session_id, uploaded_at);
create index segments_redacted on segments (session_id, start_sample) where redacted;
create index events_redactions on events (session_id) where type = 'SpanRedacted';
create index sessions_device on sessions (device_id, id) where device_id is not null;
create index jobs_open on jobs (kind, status) where status in ('queued', 'running');
