-- A guest's browser may show a secret to be the same guest again when the page is loaded anew. It
-- ends with the guest's access, which revoked_at and expires_at say.
alter table guests
  -- SHA-256 of the secret; null where none was asked for.
  add column return_hash bytea check (octet_length(return_hash) = 32);
create unique index guests_return on guests (return_hash) where return_hash is not null;
