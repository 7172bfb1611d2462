-- What was erased for good: sessions, accounts, and spans of sessions. The same is in the ledger, files
-- beside the audio that a restored database does not replace.
create table erasures (
  subject_id uuid primary key,
  kind text not null,
  -- Of a redaction: sessionId, from, to (samples at 16 kHz), label, byUserId.
  redaction jsonb,
  at timestamptz not null default now(),
  -- The ledger's file that has it; null until that is durable.
  chain uuid,
  number integer
);
create index erasures_pending on erasures (at) where chain is null;
create index erasures_by_file on erasures (chain, number) where chain is not null;

-- The files of the ledger that this database has merged, written, or knows to be missing. Each
-- process writes a chain of them, numbered from 1.
create table erasure_ledger_files (
  chain uuid not null,
  number integer not null,
  -- What it holds was written after `since`, which is the time of the one before it.
  since timestamptz,
  at timestamptz not null,
  -- Since when it is known that it should be there and is not.
  missing_since timestamptz,
  primary key (chain, number)
);
create index erasure_ledger_files_missing on erasure_ledger_files (missing_since)
  where missing_since is not null;

insert into erasures (subject_id, kind, at)
  select session_id, kind, deleted_at from deletion_receipts;
insert into erasures (subject_id, kind, at)
  select id, 'session_deleted_by_admin', updated_at from sessions where status = 'deleted'
  on conflict do nothing;
insert into erasures (subject_id, kind, redaction, at)
  select (payload ->> 'redactionId')::uuid, 'span_redacted', jsonb_build_object(
    'sessionId', session_id, 'from', payload -> 'from', 'to', payload -> 'to',
    'label', coalesce(payload ->> 'label', ''), 'byUserId', payload ->> 'byUserId'), at
  from events
  where type = 'SpanRedacted' and payload ? 'redactionId' and payload ? 'byUserId'
  order by session_id, seq
  on conflict do nothing;
insert into erasures (subject_id, kind, at)
  select id, 'account_erased', erased_at from users where erased_at is not null
  on conflict do nothing;
