-- How likely a segment's voice is its label's, 0 to 1. Null where nobody knows: in older segments, while
-- the speaker is unknown, and after the label was revised, merged, or changed by a person.
alter table segments add column speaker_confidence real;
