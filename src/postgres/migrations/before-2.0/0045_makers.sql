-- A key and a webhook are worth what the right of whoever made them is worth: it is joined where
-- they are read, so that nothing has to be done when somebody leaves, and all works again when they
-- come back.

-- Who has seen a secret: who made the key, rotated it, or took it over since.
alter table service_key_secrets
  add column made_by uuid references users (id) on delete set null,
  -- The role that let them: an owner of the workspace, or an administrator.
  add column made_as text not null default 'owner' check (made_as in ('owner', 'admin'));

-- The newest secret comes from the newest rotation, the one before it from the one before, and what
-- no rotation made from the maker of the key.
with secrets as (
  select id, key_id, row_number() over (partition by key_id order by number desc) as place
  from service_key_secrets
), rotations as (
  select subject_id as key_id, actor_id,
    row_number() over (partition by subject_id order by seq desc) as place
  from audit_log where kind = 'service_key_rotated'
)
update service_key_secrets s
set made_by = coalesce((
    select r.actor_id from secrets n join rotations r on r.key_id = n.key_id and r.place = n.place
    join users u on u.id = r.actor_id
    where n.id = s.id
  ), k.created_by)
from service_keys k where k.id = s.key_id;

create index service_key_secrets_maker on service_key_secrets (made_by);

alter table service_keys drop column created_by;
