-- From where an account was signed in to of late, as keyed digests of network addresses: guesses from
-- elsewhere share one budget for each account, these places do not.
create table sign_in_places (
  user_id uuid not null references users (id) on delete cascade,
  place bytea not null,
  seen_at timestamptz not null default now(),
  primary key (user_id, place)
);
