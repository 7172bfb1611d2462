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
