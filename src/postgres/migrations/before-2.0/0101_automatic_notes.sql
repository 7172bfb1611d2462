-- Notes that are made without being asked for: at the end of a session, while it is live, and again
-- when its words or the names of its voices have changed.
alter table workspaces add column automatic_notes boolean not null default true;
alter table jobs add column automatic boolean not null default false;
create index jobs_automatic on jobs (session_id, created_at desc) where automatic;

-- Counts the summaries of one type of a session, from 1.
alter table summaries add column version integer not null default 1;
update summaries as s set version = n.version
from (
  select job_id,
    row_number() over (partition by session_id, summary_type order by job_id) as version
  from summaries
) as n
where n.job_id = s.job_id and n.version > 1;

-- Sessions whose notes are to be made, or made again.
create table notes_due (
  session_id uuid primary key references sessions (id) on delete cascade,
  -- When the first change came that the notes do not know of.
  first_at timestamptz not null default now(),
  due_at timestamptz not null
);
create index notes_due_next on notes_due (due_at);

-- A session that ends is due at once. Changes afterwards come in runs: it is due when none came for
-- 20 s, after two minutes in any case. While it is live nothing is noted: its notes are made again
-- by time.
create function note_changed_words() returns trigger language plpgsql as $$
begin
  if new.type = 'SessionCompleted' then
    insert into notes_due (session_id, due_at) values (new.session_id, now())
    on conflict (session_id) do update set due_at = now();
  else
    insert into notes_due (session_id, due_at)
    select s.id, now() + interval '20 seconds'
    from sessions as s where s.id = new.session_id and s.status = 'completed'
    on conflict (session_id) do update set due_at = greatest(
      notes_due.due_at,
      least(notes_due.first_at + interval '2 minutes', now() + interval '20 seconds'));
  end if;
  return null;
end
$$;
create trigger events_change_notes after insert on events
for each row when (new.type in (
  'SessionCompleted', 'SegmentRevised', 'SpeakersRevised', 'SpeakerClaimed', 'SpeakerUnclaimed',
  'SpeakerNamed', 'TranscriptReplaced', 'SpanRedacted'))
execute function note_changed_words();
