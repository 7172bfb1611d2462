-- Stores the chunks that their sessions take without question, each with the command that tells
-- the session, and returns the ids of those. The others, whose session does not record, is held by
-- somebody, or has the sequence already, are as they were.
create function store_chunks(uploads jsonb) returns setof uuid language plpgsql as $$
declare
  held uuid[];
begin
  -- Stop and deletion flip these rows. Nobody is waited for: one session that is held up would
  -- hold up all.
  held := array(
    select s.id from sessions s
    where s.status = 'recording' and s.id in (
      select u.session_id from jsonb_to_recordset(uploads) as u (session_id uuid))
    order by s.id for no key update skip locked);
  -- A statement of its own, after the lock: it sees what was committed before the lock came.
  return query
    with given as (
      select * from jsonb_to_recordset(uploads) as u (
        session_id uuid, sequence integer, id uuid, media_type text, filename text, bytes bigint,
        sha256 text, frames bigint, sample_rate integer, duration_seconds double precision,
        recorded_at timestamptz, max_missing integer,
        command_id uuid, partition smallint, command jsonb)
    ), taking as (
      select s.id, greatest(
        (select coalesce(max(c.sequence), -1) from chunks c where c.session_id = s.id),
        (select coalesce(max(p.sequence), -1) from audio_pieces p where p.session_id = s.id),
        coalesce(s.last_chunk_sequence, -1)) as highest
      from sessions s where s.id = any(held)
    ), stored as (
      insert into chunks (
        session_id, sequence, id, media_type, filename, bytes, sha256,
        frames, sample_rate, duration_seconds, recorded_at)
      select g.session_id, g.sequence, g.id, g.media_type, g.filename, g.bytes,
        decode(g.sha256, 'hex'), g.frames, g.sample_rate, g.duration_seconds, g.recorded_at
      from given g join taking t on t.id = g.session_id
      where g.sequence <= t.highest + g.max_missing and not exists (
        select from audio_pieces p where p.session_id = t.id and p.sequence = g.sequence)
      on conflict (session_id, sequence) do nothing
      returning chunks.id
    ), told as (
      insert into outbox (id, session_id, partition, command)
      select g.command_id, g.session_id, g.partition, g.command
      from given g join stored on stored.id = g.id
    )
    select stored.id from stored;
end
$$;
