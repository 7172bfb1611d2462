-- Every checkpoint goes: no worker can go on from those of the former recogniser. What was not read to its
-- end is read again from its sound.
delete from checkpoints;
