-- Whether the workspace's owner allows a language model to which the text leaves the installation.
alter table workspaces add column remote_text boolean not null default false;
