-- A ticket with a session lets one telephone call stream into that session, and opens nothing else.
alter table live_tickets add column session_id uuid;
