-- A repeated transcription whose result waits until a person accepts or discards it: one for each
-- session. The row is made when it is asked for, and then holds what the job said before, so that the
-- job goes on describing the text that stands; from the result on it describes the candidate.
create table redo_candidates (
  session_id uuid primary key references sessions (id) on delete cascade,
  job_id uuid not null,
  attempt integer not null,
  status text not null
    check (status in ('reading', 'waiting', 'accepted', 'discarded', 'outdated', 'expired')),
  -- Segments of the text that stands where the candidate could not be read; both texts have them.
  kept uuid[] not null default '{}',
  engine text,
  detected_language text,
  diarisation_model_version text,
  sound_leaves boolean not null default false,
  -- The attempt of the other text: of the one that stands while the candidate waits.
  other_attempt integer not null,
  at timestamptz not null default now()
);
create index redo_candidates_waiting on redo_candidates (at) where status = 'waiting';

-- The words of candidates, with the columns of segments. They are erased with the session, follow
-- redactions, and go when the candidate was accepted, discarded or forgotten.
create table candidate_segments (
  session_id uuid not null references sessions (id) on delete cascade,
  id uuid not null,
  attempt integer not null,
  start_sample bigint not null,
  end_sample bigint not null,
  label text not null,
  text text not null,
  words jsonb not null,
  confidence real not null,
  speaker_confidence real,
  redacted boolean not null default false,
  primary key (session_id, id)
);
