-- After a change of the password the login goes on from which it was changed, but its refresh
-- token does not.
alter table logins add column refreshable boolean not null default true;
