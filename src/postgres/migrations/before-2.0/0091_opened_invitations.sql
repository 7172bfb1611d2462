-- The letter of an invitation to an address has a link of its own: whoever opens it has the mailbox.
alter table invitations
  -- SHA-256 of the link's secret; null for invitations to a user, and older ones.
  add column opening_hash bytea check (octet_length(opening_hash) = 32);
create unique index invitations_opening on invitations (opening_hash) where opening_hash is not null;
