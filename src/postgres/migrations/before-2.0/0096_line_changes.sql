-- What people changed of segments: who, when, and how it read before and after. The words stand here
-- and not in events, so that they can be erased; changes go with a segment that another reading replaces.
create table segment_changes (
  id bigint generated always as identity primary key,
  session_id uuid not null,
  segment_id uuid not null,
  at timestamptz not null,
  by_user_id uuid not null,
  label_before text not null,
  label_after text not null,
  -- Both null when only the speaker changed, or the words were redacted since.
  text_before text,
  text_after text,
  foreign key (session_id, segment_id) references segments (session_id, id) on delete cascade
);
create index segment_changes_segment on segment_changes (session_id, segment_id);

-- A name that its label lost when a person merged it with one that has a name: taking the merge back
-- gives it back.
alter table speaker_names add column put_aside boolean not null default false;

-- Labels that are part of another one, and of which: each may be set apart again.
create table speaker_merges (
  session_id uuid not null references sessions (id) on delete cascade,
  label text not null,
  into_label text not null,
  primary key (session_id, label)
);
