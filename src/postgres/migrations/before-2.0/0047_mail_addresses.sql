-- Addresses of mail are compared byte by byte. Those of ASCII are kept in lower case (the collation
-- "C" folds these letters only); an older one with other letters stays as it is, and signs in so.
update users set email = lower(email collate "C")
where email <> lower(email collate "C") and octet_length(email) = char_length(email);

drop index users_email;
create unique index users_email on users (email);
