-- The one folder that holds the audio of this database's sessions, by the id that lies in it.
-- A process whose folder is another one would take audio that no other process finds.
create table audio_folder (
  singleton boolean primary key default true check (singleton),
  id uuid not null,
  claimed_at timestamptz not null default now()
);
