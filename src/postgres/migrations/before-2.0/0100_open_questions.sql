-- Questions that nobody answered are a type of summary.
alter table jobs drop constraint jobs_summary_type_check;
alter table jobs add constraint jobs_summary_type_check check (summary_type in (
  'brief', 'detailed', 'action_items', 'decisions', 'topics', 'open_questions', 'speakers'))
  not valid;
alter table jobs validate constraint jobs_summary_type_check;
