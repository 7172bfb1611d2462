-- 1,024 partitions instead of 64. Which one a session is in follows from its id, so that no row has
-- to say it, and none had to be rewritten for this: ids end in random bits.
create function partition_of(session uuid) returns smallint
language sql immutable strict parallel safe
return (((get_byte(uuid_send(session), 14) & 3) << 8) | get_byte(uuid_send(session), 15))::smallint;

delete from partition_owners;
insert into partition_owners (partition) select generate_series(0, 1023);

-- With their indexes.
alter table sessions drop column partition;
alter table outbox drop column partition;
create index sessions_unfinished on sessions (partition_of(id), id)
  where status in ('recording', 'processing');
create index sessions_with_work on sessions (partition_of(id), id) where has_work;
create index outbox_waiting on outbox (partition_of(session_id), session_id, not_before)
  where parked_at is null;

create or replace function outbox_figures(most integer, out waiting integer,
  out oldest_at timestamptz, out parked integer, out parked_since timestamptz,
  out parked_sessions uuid[])
language plpgsql stable set enable_seqscan = off set enable_sort = off as $$
begin
  select count(*), min(w.created_at) into waiting, oldest_at from (
    select o.created_at from outbox o where o.parked_at is null
    order by partition_of(o.session_id), o.session_id, o.not_before limit most) as w;
  select count(*), min(p.parked_at) into parked, parked_since from (
    select o.parked_at from outbox o where o.parked_at is not null
    order by o.parked_at limit most) as p;
  parked_sessions := array(
    select latest.session_id from (
      select o.session_id, o.parked_at from outbox o
      where o.parked_at is not null order by o.parked_at desc limit 1000) as latest
    group by latest.session_id order by max(latest.parked_at) desc limit 10);
end
$$;

-- As before, of rows without a partition.
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
        command_id uuid, command jsonb)
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
      insert into outbox (id, session_id, command)
      select g.command_id, g.session_id, g.command
      from given g join stored on stored.id = g.id
    )
    select stored.id from stored;
end
$$;
