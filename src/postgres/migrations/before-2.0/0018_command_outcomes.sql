-- What became of the wishes of people, for as long as the transport may bring
-- one again: it is answered then, and not carried out a second time.
create table command_outcomes (
  session_id uuid not null references sessions (id) on delete cascade,
  command_id uuid not null,
  at timestamptz not null default now(),
  outcome jsonb not null,
  primary key (session_id, command_id)
);
