-- Batch jobs that hosts claim, and summaries.

alter table jobs
  add column summary_type text
    check (summary_type in ('brief', 'detailed', 'action_items', 'decisions', 'topics', 'speakers')),
  -- Not before this instant.
  add column due_at timestamptz not null default now(),
  -- The claim under which it runs, and until when that stands unless renewed.
  add column claim_id uuid,
  add column claimed_until timestamptz;

create index jobs_due on jobs (kind, due_at)
  where kind <> 'transcription' and status in ('queued', 'running');
-- Asking twice for the same summary is asking once.
create unique index jobs_active_summary on jobs (session_id, summary_type)
  where kind = 'summarisation' and status in ('queued', 'running');
create index jobs_summaries on jobs (session_id, summary_type, id desc)
  where kind = 'summarisation';

-- Words of sessions, like segments: goes with the session's words.
create table summaries (
  job_id uuid primary key references jobs (id) on delete cascade,
  session_id uuid not null references sessions (id) on delete cascade,
  summary_type text not null,
  engine text not null,
  text text not null,
  -- [{text, segment_ids, start_ms, speaker?, section?, owner?, due?}]
  items jsonb not null,
  -- Of the transcript that it was made from.
  fingerprint bytea not null,
  created_at timestamptz not null default now()
);
create index summaries_latest on summaries (session_id, summary_type, job_id desc);
