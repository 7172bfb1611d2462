-- The address that somebody has shown to be theirs, by a mailed link or by a provider that vouches
-- for it. It counts as long as it is the account's address. An address that an administrator typed
-- shows nothing: he could accept in its owner's name.
alter table users add column verified_email text;
update users u set verified_email = lower(email collate "C")
where octet_length(email) = char_length(email)
  and exists (select from user_identities i where i.user_id = u.id);

-- To become a member of a workspace, or of a session (then the workspace is the session's). What an
-- invitation is worth is worked out from the right of whoever invited when it is read.
create table invitations (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  session_id uuid references sessions (id) on delete cascade,
  role text not null,
  -- In lower case, ASCII.
  address text,
  -- As it was given: there need not be such a user.
  invitee_id uuid,
  inviter_id uuid not null references users (id) on delete cascade,
  -- The service key or the elevation under which it was made.
  key_id uuid references service_keys (id) on delete cascade,
  elevation_id uuid references content_elevations (id) on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  -- A declined one stays pending for whoever invited: it would tell that there is such an account.
  declined_at timestamptz,
  check (num_nonnulls(address, invitee_id) = 1),
  check (role in ('owner', 'member') and session_id is null
    or role in ('participant', 'shared') and session_id is not null)
);
create unique index invitations_once on invitations
  (coalesce(session_id, workspace_id), coalesce(address, invitee_id::text), inviter_id);
create index invitations_address on invitations (address) where address is not null;
create index invitations_invitee on invitations (invitee_id) where invitee_id is not null;
create index invitations_workspace on invitations (workspace_id, id desc);
create index invitations_session on invitations (session_id, id desc) where session_id is not null;
create index invitations_inviter on invitations (inviter_id);
create index invitations_key on invitations (key_id) where key_id is not null;
create index invitations_elevation on invitations (elevation_id) where elevation_id is not null;
create index invitations_expiry on invitations (expires_at);
