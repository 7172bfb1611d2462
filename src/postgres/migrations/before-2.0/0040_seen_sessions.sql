-- The newest sessions of a person and of a workspace are found where they stand, however many there
-- are of others.
drop index session_members_user;
create index session_members_user on session_members (user_id, session_id desc);
create index sessions_shared on sessions (workspace_id, id desc) where visibility = 'workspace';
