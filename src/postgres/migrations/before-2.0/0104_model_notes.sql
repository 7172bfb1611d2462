-- Notes that a language model worded: which one, and how many of its sentences were dropped, as what they
-- cite did not bear them. Without a model a summary is by rule.
alter table summaries add column model text;
alter table summaries add column dropped_sentences integer not null default 0;

-- How often the model was away when a job's notes were to be worded; they are by rule meanwhile.
alter table jobs add column model_attempt smallint not null default 0;

-- Tokens that the model read and wrote for the workspaces of one tenant on one day (UTC). Old days go.
create table model_tokens (
  -- The account that owns the workspace, else the workspace.
  tenant uuid not null,
  day date not null,
  tokens bigint not null,
  primary key (day, tenant)
);
