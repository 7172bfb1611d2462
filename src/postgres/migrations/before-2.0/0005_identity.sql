-- Service keys, sign-in by mail and by other providers.

-- A key of an integration, within one workspace. Its secrets come and go.
create table service_keys (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  name text not null,
  scopes text[] not null check (cardinality(scopes) > 0),
  created_by uuid references users (id) on delete set null,
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  last_used_at timestamptz
);
create index service_keys_workspace on service_keys (workspace_id, id desc);

-- The newest secret is the key's; one before it may still be valid for a while.
create table service_key_secrets (
  id uuid primary key,
  -- In the order in which they were made.
  number bigint generated always as identity,
  key_id uuid not null references service_keys (id) on delete cascade,
  -- SHA-256 of the whole secret.
  secret_hash bytea not null unique,
  -- Its first characters, so that people recognise it.
  prefix text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index service_key_secrets_key on service_key_secrets (key_id, number desc);

-- Links sent by mail; each opens one sign-in.
create table magic_links (
  token_hash bytea primary key,
  user_id uuid not null references users (id) on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index magic_links_expiry on magic_links (expires_at);
create index magic_links_user on magic_links (user_id);

-- Authorisation requests on their way to a provider and back.
create table oauth_requests (
  state_hash bytea primary key,
  -- SHA-256 of the cookie that binds the request to its browser.
  browser_hash bytea not null,
  provider text not null,
  redirect text,
  expires_at timestamptz not null
);
create index oauth_requests_expiry on oauth_requests (expires_at);

-- Who a provider's user is here.
create table user_identities (
  provider text not null,
  subject text not null,
  user_id uuid not null references users (id) on delete cascade,
  created_at timestamptz not null default now(),
  primary key (provider, subject)
);
create index user_identities_user on user_identities (user_id);

-- The hash that the set-up itself gave the account last: while ADMIN_PASSWORD is
-- what it was then, a password that the user has chosen since is left alone.
alter table users add column setup_password_hash text;
