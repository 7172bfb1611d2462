-- A webhook may ask for sessions with certain tags alone: they have to have all of them.
alter table webhooks add column tags text[] not null default '{}';
