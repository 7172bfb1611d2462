-- When somebody else said that the claimed voice is theirs; until the claim ends.
alter table speaker_claims add column contested_at timestamptz;
-- Whether the print stays when the sound that it was made of is deleted or redacted: its person says so.
alter table remembered_voices add column keep_after_deletion boolean not null default false;

-- Prints were made of claims that nobody had confirmed, and outlived their sound unasked: these go, and
-- whose they were is told until a new one is given or declined.
with gone as (
  delete from remembered_voices v where not exists (
    select from speaker_claims c join sessions s on s.id = c.session_id and s.status <> 'deleted'
    where c.session_id = v.session_id and c.label = v.label and c.claimed_user_id = v.user_id
      and c.revoked_at is null
      and (c.by_user_id <> c.claimed_user_id or s.owner_id = v.user_id and not exists (
        select from segments g
        where g.session_id = v.session_id and g.label not in (v.label, 'UU'))))
  or exists (
    select from segments g
    where g.session_id = v.session_id and g.label = v.label and g.redacted)
  returning workspace_id, user_id
)
insert into lapsed_voices (workspace_id, user_id) select workspace_id, user_id from gone
on conflict do nothing;
