-- Of what the record holds something for. Every process asks once a second, and an installation at
-- rest asks little else: in a function of this language the plans stay with the connection, and to
-- make them costs several times what the look does. Each is a first row by an index that holds
-- nothing else, whatever the statistics say.
create function waiting_work(out commands boolean, out parked boolean, out jobs boolean,
  out deliveries boolean, out silence boolean, out recording boolean, out pieces boolean,
  out files boolean)
language plpgsql stable set enable_seqscan = off set enable_sort = off as $$
begin
  commands := exists (
    select from outbox where parked_at is null order by partition_of(session_id) limit 1);
  parked := exists (select from outbox where parked_at is not null order by parked_at limit 1);
  jobs := exists (
    select from jobs
    where kind <> 'transcription' and status in ('queued', 'running')
      and case status when 'queued' then due_at else claimed_until end <= now());
  deliveries := exists (
    select from webhooks as w
    where w.enabled and w.free_at <= now() and exists (
      select from webhook_deliveries as d
      where d.webhook_id = w.id and d.status = 'pending' and d.next_attempt_at <= now()));
  silence := exists (
    select from chunks where silence_wanted > silence_done
    order by session_id, sequence limit 1);
  recording := exists (
    select from sessions where status = 'recording' order by started_at limit 1);
  pieces := exists (select from audio_pieces order by created_at limit 1);
  files := exists (
    select from deletion_receipts where audio_erased_at is null order by deleted_at limit 1);
end
$$;

-- As before, with plans that stay.
create or replace function read_leases(out name text, out counter bigint, out leaving boolean,
  out connected boolean, out changes bigint)
returns setof record language plpgsql stable as $$
begin
  return query
    select h.name, h.counter, h.leaving,
      h.server_started <> pg_postmaster_start_time()
        or exists (select from pg_stat_get_activity(h.pid)),
      (select sum(p.revision) from partition_owners p)::bigint
    from session_hosts h;
end
$$;
