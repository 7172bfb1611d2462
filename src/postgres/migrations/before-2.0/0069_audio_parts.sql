-- Chunks that are parts of one stream, such as the pieces of a browser's recording: what is needed to
-- read the next part. Goes with the chunk, and with the audio of its session.
create table audio_parts (
  session_id uuid not null,
  sequence integer not null,
  -- The headers of the stream, where it begins in this chunk; no sound.
  head bytea,
  -- What begins in this chunk and ends in the next one; null until the chunk was measured.
  carry bytea,
  primary key (session_id, sequence),
  foreign key (session_id, sequence) references chunks (session_id, sequence) on delete cascade
);
