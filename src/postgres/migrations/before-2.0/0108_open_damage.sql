-- What is damaged now is counted every time somebody asks how the service is; what is whole again
-- stays on record, and grows.
create index damaged_audio_open on damaged_audio (session_id, sequence) where mended_at is null;
