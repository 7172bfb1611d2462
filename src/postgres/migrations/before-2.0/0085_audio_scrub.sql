-- How far the round of looks at all stored audio is; one row.
create table audio_scrub (
  is_one boolean primary key default true check (is_one),
  -- The last chunk that was looked at; null before the first.
  session_id uuid,
  sequence integer,
  chunks bigint not null default 0,
  bytes bigint not null default 0,
  damaged bigint not null default 0,
  begun_at timestamptz not null default now(),
  ended_at timestamptz
);
