-- Which label each cluster of a checkpoint has: a second reading that goes on from it knows the
-- voices again. Null in what earlier releases wrote.
alter table checkpoints add column voices jsonb;
