-- The processes that host sessions, each with its lease: a counter that it raises. Liveness is the
-- taker's clock; nothing here expires by itself.
create table session_hosts (
  -- Another one after every start.
  name text primary key,
  counter bigint not null,
  -- It is putting its sessions away.
  leaving boolean not null,
  -- The connection by which it renews, and the run of the server that it is one of: when that ends
  -- so did, very likely, the host.
  pid integer not null,
  server_started timestamptz not null,
  renewed_at timestamptz not null
) with (fillfactor = 50);

-- Who holds which partition of the sessions.
create table partition_owners (
  partition smallint primary key,
  -- Empty: nobody.
  holder text not null default '',
  -- Another one after each change.
  revision bigint not null default 1
) with (fillfactor = 50);
insert into partition_owners (partition) select generate_series(0, 63);

-- How the hosts stand, and a number that is another one after each change of an owner.
create function read_leases(out name text, out counter bigint, out leaving boolean,
  out connected boolean, out changes bigint)
returns setof record language sql stable as $$
  select h.name, h.counter, h.leaving,
    h.server_started <> pg_postmaster_start_time()
      or exists (select from pg_stat_get_activity(h.pid)),
    (select sum(revision) from partition_owners)::bigint
  from session_hosts h
$$;
