-- Sessions whose retention time is over are looked for in each workspace by the time of their end.
create index sessions_by_end on sessions (workspace_id, (coalesce(stopped_at, started_at)))
  where status in ('processing', 'completed', 'failed');
