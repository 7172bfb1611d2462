-- First answers to creating requests, by the caller's Idempotency-Key, so that
-- a repeat gets the same answer. Nothing here can be read without that key:
-- the row is found by a keyed hash and the answer is encrypted under it.

create table idempotency_keys (
  -- HMAC of caller, route and key.
  key_hash bytea primary key,
  -- The execution that may write the answer.
  attempt uuid not null,
  -- HMAC of path, query and body.
  fingerprint bytea not null,
  -- The session that the answer belongs to, so that its deletion takes the answer along.
  session_id uuid,
  -- Nonce, tag and AES-256-GCM ciphertext; null while the request is running.
  answer bytea,
  -- 60 s from the start of a run, 24 h from its answer.
  expires_at timestamptz not null
);
create index idempotency_keys_expiry on idempotency_keys (expires_at);
create index idempotency_keys_session on idempotency_keys (session_id) where session_id is not null;

-- A deletion takes the answers of its session along, whoever writes it.
create function idempotency_forget() returns trigger language plpgsql as $$
begin
  delete from idempotency_keys where session_id = new.id;
  return null;
end
$$;
create trigger sessions_forget_answers after update of status on sessions
  for each row when (new.status = 'deleted' and old.status <> 'deleted')
  execute function idempotency_forget();
