-- As before, but by look-ups of one row each: a connection keeps the plans of its first calls, and
-- joins that were cheapest while the tables were small read all of them when they have grown.
create or replace function store_chunks(uploads jsonb) returns setof uuid
language plpgsql set enable_seqscan = off as $$
declare
  wanted uuid;
  found_status text;
  held uuid[] := '{}';
begin
  for wanted in
    select distinct u.session_id from jsonb_to_recordset(uploads) as u (session_id uuid) order by 1
  loop
    -- Stop and deletion flip these rows. Nobody is waited for: one session that is held up would
    -- hold up all.
    select s.status into found_status from sessions s
    where s.id = wanted for no key update skip locked;
    -- Not in the condition: it would bring the partial indexes into play.
    if found_status = 'recording' then
      held := held || wanted;
    end if;
  end loop;
  -- A statement of its own, after the locks: it sees what was committed before they came.
  return query
    with given as (
      select * from jsonb_to_recordset(uploads) as u (
        session_id uuid, sequence integer, id uuid, media_type text, filename text, bytes bigint,
        sha256 text, frames bigint, sample_rate integer, duration_seconds double precision,
        recorded_at timestamptz, max_missing integer,
        command_id uuid, partition smallint, command jsonb)
    ), stored as (
      insert into chunks (
        session_id, sequence, id, media_type, filename, bytes, sha256,
        frames, sample_rate, duration_seconds, recorded_at)
      select g.session_id, g.sequence, g.id, g.media_type, g.filename, g.bytes,
        decode(g.sha256, 'hex'), g.frames, g.sample_rate, g.duration_seconds, g.recorded_at
      from given g
      where g.session_id = any(held)
        and g.sequence <= g.max_missing + greatest(
          (select coalesce(max(c.sequence), -1) from chunks c where c.session_id = g.session_id),
          (select coalesce(max(p.sequence), -1)
            from audio_pieces p where p.session_id = g.session_id),
          (select coalesce(s.last_chunk_sequence, -1) from sessions s where s.id = g.session_id))
        -- Not `not exists`, which may become a join.
        and (select p.piece from audio_pieces p
          where p.session_id = g.session_id and p.sequence = g.sequence limit 1) is null
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
