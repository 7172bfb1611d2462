-- Where others speak within a segment: [{"segmentId", "start", "end"}], positions in samples at
-- 16 kHz, and the segment whose speaker it is; null where nobody does.
alter table segments add column overlapping jsonb;
alter table candidate_segments add column overlapping jsonb;
