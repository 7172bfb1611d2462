-- What makes several machines one installation: their keys, and who set the first password.

-- Passwords that the set-up gave to an account and replaced since; it gives none of them again.
alter table users add column former_setup_hashes text[] not null default '{}';

-- The keys of this database's installation, as fingerprints: a process with others does not start.
create table key_set (
  singleton boolean primary key default true check (singleton),
  pairing_fingerprint text not null,
  cursor_fingerprint text not null,
  -- The machine that came first, and the folder of its keys unless they came as a setting.
  host text not null,
  folder text,
  claimed_at timestamptz not null default now()
);

create table signing_keys (
  kid text primary key,
  number bigint generated always as identity,
  -- Null when it has signed from the start.
  signs_from timestamptz,
  added_at timestamptz not null default now()
);
