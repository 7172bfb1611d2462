-- Who has which right, said once. Statements ask the views and functions here, and PostgreSQL writes
-- these into them: functions of this kind that return rows are inlined as views are, so each is
-- planned with the statement that asks. For one session `access/policy.ts` says the same;
-- `test/integration/session-readers.test.ts` holds both against each other.

create view active_users as
select id, role from users where disabled_at is null and erased_at is null;

create view active_elevations as
select * from content_elevations where ended_at is null and expires_at > now();

-- Guests whom their session's guest access lets in, until their time is over.
create view active_guests as
select g.* from guests g join sessions s on s.id = g.session_id
where g.revoked_at is null and s.status <> 'deleted'
  and not is_uninvited(guest_access_of(s.guest_access, s.workspace_id), g.code_id);

-- The elevations of an administrator that cover this session of this workspace.
create function elevations_of(admin uuid, session uuid, workspace uuid)
returns setof active_elevations language sql stable as $$
  select * from active_elevations e
  where e.admin_id = admin and (
    e.session_id = session or e.workspace_id = workspace
    or e.session_id is null and e.workspace_id is null)
$$;

-- What a person may do in a workspace, in one row: as its member, as an administrator of all, and
-- since when neither; `ended_at` is null while they may. A departure of which no time is known was
-- before everything. No row of who is erased.
create function workspace_rights(workspace uuid, person uuid)
returns table (role text, is_admin boolean, ended_at timestamptz) language sql stable as $$
  select m.role, u.role = 'admin', least(
    u.disabled_at,
    case when u.role <> 'admin' and m.role is null
      then coalesce(gone.left_at, to_timestamp(0)) end)
  from users u
  left join workspace_members m on m.workspace_id = workspace and m.user_id = u.id
  left join workspace_departures gone on gone.workspace_id = workspace and gone.user_id = u.id
  where u.id = person and u.erased_at is null
$$;

-- A row while whoever issued something in the workspace still may, in the role that let them.
create function issuer_rights(workspace uuid, issuer uuid, issued_as text)
returns setof boolean language sql stable as $$
  select true from workspace_rights(workspace, issuer) r
  where r.ended_at is null
    and case issued_as when 'admin' then r.is_admin else r.role = 'owner' end
$$;

-- The secrets that open a service key now.
create function active_secrets(key uuid)
returns table (id uuid, workspace_id uuid, scopes text[]) language sql stable as $$
  select s.id, k.workspace_id, k.scopes
  from service_keys k join service_key_secrets s on s.key_id = k.id
  where k.id = key and k.revoked_at is null and s.expires_at > now()
    and exists (select from issuer_rights(k.workspace_id, s.made_by, s.made_as))
$$;

-- Rows while whoever named the URL of a webhook last still may: a person, or a service key. An
-- administrator may in every workspace.
create function webhook_rights(workspace uuid, issuer uuid, issuing_key uuid)
returns setof boolean language sql stable as $$
  select true from workspace_rights(workspace, issuer) r
  where r.ended_at is null and (r.is_admin or r.role = 'owner')
  union all
  select true from active_secrets(issuing_key)
$$;

-- The sessions that lie behind what somebody has, a view for each, so that lists may read each from an
-- index in its order: what a person owns, was let into, and has in workspaces. Listings, as sessions
-- themselves have no index for every order. Whether the account is in use is asked of whoever signs in.
create view owned_sessions as
select l.*, l.owner_id as reader_id from session_listings l where not l.deleted;

create view joined_sessions as
select l.*, m.user_id as reader_id, m.relation
from session_members m join session_listings l on l.session_id = m.session_id
where not l.deleted;

create view shared_sessions as
select l.*, w.user_id as reader_id
from workspace_members w join session_listings l on l.workspace_id = w.workspace_id
where not l.deleted and l.visibility = 'workspace';

-- For who is a moderator.
create view moderated_sessions as
select l.*, w.user_id as reader_id
from workspace_members w join session_listings l on l.workspace_id = w.workspace_id
where not l.deleted;

-- Who reads the words of which session; somebody whom several things let has several rows.
create view session_readers as
select session_id, reader_id, 'owner' as relation
from owned_sessions join active_users u on u.id = reader_id
union all
select session_id, reader_id, relation
from joined_sessions join active_users u on u.id = reader_id
union all
select session_id, reader_id, 'shared'
from shared_sessions join active_users u on u.id = reader_id
union all
select session_id, reader_id, 'moderator'
from moderated_sessions join active_users u on u.id = reader_id and u.role = 'moderator'
union all
select l.session_id, u.id, 'elevated'
from active_users u cross join session_listings l
where u.role = 'admin' and not l.deleted
  and exists (select from elevations_of(u.id, l.session_id, l.workspace_id))
union all
select l.session_id, k.id, 'service_key'
from service_keys k join session_listings l on l.workspace_id = k.workspace_id
where not l.deleted and 'sessions:read' = any(k.scopes)
  and exists (select from active_secrets(k.id))
union all
select session_id, id, 'guest' from active_guests where expires_at > now();

-- The same of one session for one person who is signed in, in their role, from what a statement has at
-- hand: for conditions on each row, where the union above would be planned and looked up once more.
-- A moderator's workspaces are said in that role.
create function session_relations(session uuid, owner uuid, workspace uuid, shared boolean,
  person uuid, role text)
returns table (relation text) language sql stable as $$
  select 'owner' where owner = person
  union all
  select 'member' from session_members m where m.session_id = session and m.user_id = person
  union all
  select case session_relations.role when 'moderator' then 'moderator' else 'shared' end
  from workspace_members w
  where (shared or session_relations.role = 'moderator')
    and w.workspace_id = workspace and w.user_id = person
$$;

-- A row while whoever made an invitation may give what it offers. An elevation only has to have
-- covered the moment of inviting: that it ran out since takes nothing back, that it was ended does.
create function inviter_rights(i invitations)
returns setof boolean language sql stable as $$
  select true from active_users u
  where u.id = i.inviter_id and i.key_id is null and case
    when i.elevation_id is not null then u.role = 'admin' and exists (
      select from content_elevations e where e.id = i.elevation_id and e.ended_at is null)
    when i.session_id is not null then exists (
      select from owned_sessions s where s.session_id = i.session_id and s.reader_id = u.id)
    else exists (
      select from workspace_rights(i.workspace_id, u.id) r where r.role = 'owner') end
  union all
  select true from active_secrets(i.key_id) s
  where s.workspace_id = i.workspace_id and 'sessions:share' = any(s.scopes)
$$;

-- How many keys, devices and webhooks of a person are suspended; all, or those of one workspace.
create function suspended_credentials(person uuid, of_workspace uuid)
returns table (keys bigint, devices bigint, webhooks bigint) language sql stable as $$
  with suspended_keys as (
    select distinct k.id
    from service_key_secrets s join service_keys k on k.id = s.key_id
    where s.made_by = person and s.expires_at > now() and k.revoked_at is null
      and (of_workspace is null or k.workspace_id = of_workspace)
      and not exists (select from issuer_rights(k.workspace_id, s.made_by, s.made_as)))
  select
    (select count(*) from suspended_keys),
    (select count(*) from devices d
     where d.owner_id = person and d.status = 'paired'
       and (of_workspace is null or d.workspace_id = of_workspace)
       and not exists (
         select from workspace_rights(d.workspace_id, d.owner_id) r where r.ended_at is null)),
    (select count(*) from webhooks w
     where (w.made_by = person or w.made_by_key in (select id from suspended_keys))
       and (of_workspace is null or w.workspace_id = of_workspace)
       and not exists (select from webhook_rights(w.workspace_id, w.made_by, w.made_by_key)))
$$;

-- As in 0062, with the right to send as it is said above.
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
      and exists (select from webhook_rights(w.workspace_id, w.made_by, w.made_by_key)));
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

-- Lists in the order of ids are read from listings as all others are.
create index session_listings_owner_id on session_listings (owner_id, session_id)
  where not deleted;
create index session_listings_workspace_id on session_listings (workspace_id, session_id)
  where not deleted;
create index session_listings_shared_id on session_listings (workspace_id, session_id)
  where not deleted and visibility = 'workspace';
