-- Checkpoints of the former recogniser, which no worker can go on from: what was not read to its end is
-- read again from its sound.
delete from checkpoints;
