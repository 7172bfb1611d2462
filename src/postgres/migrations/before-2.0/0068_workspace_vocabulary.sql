-- Words and phrases that the recogniser expects in all sessions of a workspace, as a list of texts.
alter table workspaces add column vocabulary jsonb not null default '[]';
