-- Snapshots of releases that knew one version only. Whoever finds none of its own version replays
-- the session's events, which are all kept.
drop table snapshots;
