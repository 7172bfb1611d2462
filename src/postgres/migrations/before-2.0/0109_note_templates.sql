-- By which template the notes of a session are arranged: its own, or its workspace's.
alter table workspaces add column notes_template text not null default 'general';
alter table sessions add column notes_template text;

-- What a workspace made of a built-in template.
create table note_templates (
  workspace_id uuid not null references workspaces (id) on delete cascade,
  template_id text not null,
  title text not null,
  -- [{title, kind, instruction?}]
  sections jsonb not null,
  updated_at timestamptz not null default now(),
  primary key (workspace_id, template_id)
);

-- What a template wants in the workspace's own words is a type of summary.
alter table jobs drop constraint jobs_summary_type_check;
alter table jobs add constraint jobs_summary_type_check check (summary_type in (
  'brief', 'detailed', 'action_items', 'decisions', 'topics', 'open_questions', 'custom_sections',
  'speakers'))
  not valid;
alter table jobs validate constraint jobs_summary_type_check;
-- Of these: [{title, instruction}] for which it was made.
alter table summaries add column sections jsonb;
