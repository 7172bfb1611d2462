-- As in 0038, but that messages of webhooks whose maker has left are no work: whoever asked on for
-- them found nothing to claim, once a second in every process, for as long as they waited. Who may
-- still send is what `WEBHOOK_STANDS` and `MAKER_STANDS` say where messages are claimed.
create or replace function waiting_work(out commands boolean, out parked boolean, out jobs boolean,
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
      where d.webhook_id = w.id and d.status = 'pending' and d.next_attempt_at <= now())
      and (
        exists (
          select from users u
          where u.id = w.made_by and u.disabled_at is null and u.erased_at is null
            and (u.role = 'admin' or exists (
              select from workspace_members m
              where m.workspace_id = w.workspace_id and m.user_id = u.id and m.role = 'owner')))
        or exists (
          select from service_keys k join service_key_secrets s on s.key_id = k.id
          where k.id = w.made_by_key and k.revoked_at is null and s.expires_at > now()
            and exists (
              select from users u
              where u.id = s.made_by and u.disabled_at is null and u.erased_at is null
                and case s.made_as when 'admin' then u.role = 'admin' else exists (
                  select from workspace_members m
                  where m.workspace_id = k.workspace_id and m.user_id = u.id
                    and m.role = 'owner') end))));
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
