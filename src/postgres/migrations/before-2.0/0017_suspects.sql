-- Chunks that were in work when a reading broke, so that audio which no worker
-- survives is given up after a few tries, whatever restarts in between.
create table suspects (
  session_id uuid not null references sessions (id) on delete cascade,
  attempt integer not null,
  sequence integer not null,
  -- How often in a row, without getting further.
  breaks integer not null,
  -- How far the reading had come, in samples at 16 kHz.
  position bigint not null,
  primary key (session_id, attempt, sequence)
);
