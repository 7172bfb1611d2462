-- Prints of earlier methods cannot be compared with those of the networks: they go, and whose they were
-- is told until a new one is given or declined.
create table lapsed_voices (
  workspace_id uuid not null,
  user_id uuid not null,
  lapsed_at timestamptz not null default now(),
  primary key (workspace_id, user_id),
  foreign key (workspace_id, user_id)
    references workspace_members (workspace_id, user_id) on delete cascade
);
create index lapsed_voices_user on lapsed_voices (user_id);

insert into lapsed_voices (workspace_id, user_id)
  select workspace_id, user_id from remembered_voices where method <> 'campplus-1';
delete from remembered_voices where method <> 'campplus-1';
