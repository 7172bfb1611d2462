-- How long ago a session's newest chunk was stored is asked while it is waited for others, and by
-- what stops the sessions of silent devices.
create index chunks_uploaded on chunks (session_id, uploaded_at);

-- Segments edited by people that the newest repetition of a transcription replaced.
alter table jobs add column edits_replaced integer not null default 0;
