-- The bytes of streams go into logs in the audio store, below the session's own name there. The record
-- keeps what has to be ordered: that a chunk was begun, which log has its pieces, and how many there are.
-- What is in `data` stays readable; while the store takes nothing, bytes come into it again.
alter table audio_pieces
  alter column data drop not null,
  -- Of a chunk's first piece: the log that has the bytes which are in no row.
  add column log uuid,
  -- Of a chunk's first piece: how many pieces the chunk has, once it is not its stream's newest.
  add column pieces integer,
  add check (data is not null or log is not null);
