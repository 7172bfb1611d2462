-- Every append moves a session's seq and updated_at. With updated_at in an index each of them wrote a new
-- entry into every index of the table; without it, and with room in the page, none is written.
drop index sessions_to_delete;
create index sessions_to_delete on sessions (id)
  where delete_at_end and status in ('completed', 'failed');
alter table sessions set (fillfactor = 75);
