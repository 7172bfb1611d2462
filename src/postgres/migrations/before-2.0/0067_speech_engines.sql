-- Which engine reads: of a session as its start named it, of a job as its next reading shall have it.
alter table sessions add column engine text;
alter table jobs add column wanted_engine text;
-- Whether the engine of the job's newest reading is one to which the sound leaves the installation.
alter table jobs add column sound_leaves boolean not null default false;
-- The workspace's own choice, and whether its owner allows engines to which the sound leaves.
alter table workspaces add column speech_engine text;
alter table workspaces add column remote_engines boolean not null default false;
