-- Parts of a chunk that no decoder can read: [{"start": frame, "length": frames}, …] at its own
-- rate, in order. A chunk that fails as a whole may have some too.
alter table chunks add column broken_spans jsonb not null default '[]';
