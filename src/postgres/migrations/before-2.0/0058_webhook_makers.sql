-- A webhook is worth what the right of whoever named its URL last is worth: of a person, or of a
-- service key. It is joined where messages are sent and webhooks are shown.
alter table webhooks
  add column made_by uuid references users (id) on delete set null,
  add column made_by_key uuid references service_keys (id) on delete set null,
  add constraint webhooks_one_maker check (made_by is null or made_by_key is null);

with makers as (
  select distinct on (subject_id) subject_id as webhook_id, actor_kind, actor_id
  from audit_log where kind = 'webhook_created'
  order by subject_id, seq desc
)
update webhooks w
set made_by = (select u.id from users u where u.id = m.actor_id and m.actor_kind = 'user'),
    made_by_key = (
      select k.id from service_keys k where k.id = m.actor_id and m.actor_kind = 'service')
from makers m where m.webhook_id = w.id;

create index webhooks_maker on webhooks (made_by) where made_by is not null;
create index webhooks_maker_key on webhooks (made_by_key) where made_by_key is not null;
