-- Sessions that programs with another service's client make: of whose interface, and whether they are
-- deleted at their end.
alter table sessions
  add column compat text check (compat in ('openai', 'deepgram')),
  add column delete_at_end boolean not null default false;
create index sessions_to_delete on sessions (updated_at)
  where delete_at_end and status in ('completed', 'failed');
