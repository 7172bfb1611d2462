-- Every heartbeat rewrites its device's row: room to do so in place.
alter table devices set (fillfactor = 50);

-- Why the session stopped when nobody asked for it: `device_silent`.
alter table sessions add column stop_reason text;

-- What stops sessions of silent devices looks for.
create index sessions_recording on sessions (started_at) where status = 'recording';
