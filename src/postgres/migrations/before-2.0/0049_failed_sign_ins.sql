-- Sign-ins that strangers tried in vain, counted for each account and hour: the audit log, which
-- nobody can shorten, gets an entry for the first of an hour and one for all of them when it is over.
create table failed_sign_ins (
  hour timestamptz not null,
  -- Zeros: no account is known.
  account_id uuid not null,
  reason text not null,
  -- The identity provider; '' for our own sign-in.
  provider text not null,
  failures bigint not null default 1,
  first_at timestamptz not null default now(),
  last_at timestamptz not null default now(),
  primary key (hour, account_id, reason, provider)
);

-- The addresses that they came from, which the log holds as keyed digests only. They expire.
create table failed_sign_in_addresses (
  account_id uuid not null,
  hour timestamptz not null,
  digest text not null,
  address text not null,
  failures bigint not null default 1,
  seen_at timestamptz not null default now(),
  primary key (account_id, hour, digest)
);
create index failed_sign_in_addresses_digest on failed_sign_in_addresses (account_id, digest);
create index failed_sign_in_addresses_age on failed_sign_in_addresses (seen_at);
