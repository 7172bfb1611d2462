-- Sessions of calls by other services' clients showed their id to programs, and let guests in by it.
update sessions set guest_access = 'closed' where compat is not null and guest_access is null;
