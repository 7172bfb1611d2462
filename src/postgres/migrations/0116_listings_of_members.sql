-- What lies behind a membership says whose workspace it came by, so that a list or a count looks up what
-- programs keep with sessions of each workspace without joining the memberships once more.
create or replace view shared_sessions as
select l.*, w.user_id as reader_id, w.workspace_id as joined_workspace_id
from workspace_members w join session_listings l on l.workspace_id = w.workspace_id
where not l.deleted and l.visibility = 'workspace';

create or replace view moderated_sessions as
select l.*, w.user_id as reader_id, w.workspace_id as joined_workspace_id
from workspace_members w join session_listings l on l.workspace_id = w.workspace_id
where not l.deleted;
