-- Runs once, when the volume of the database is made: the two roles, and the database's rights.
-- voice_owner migrates and owns; voice_service serves, and gets only what migrations grant it.
\set ON_ERROR_STOP on
\getenv owner_password OWNER_DATABASE_PASSWORD
\getenv service_password SERVICE_DATABASE_PASSWORD

create role voice_owner login nosuperuser nocreatedb nocreaterole password :'owner_password';
create role voice_service login nosuperuser nocreatedb nocreaterole password :'service_password';
create database voice owner voice_owner template template0;
revoke all on database voice from public;
grant connect, temporary on database voice to voice_service;

\connect voice
alter schema public owner to voice_owner;
grant usage on schema public to voice_service;
