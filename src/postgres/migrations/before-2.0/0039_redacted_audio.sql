-- What of a redaction is still to be heard stands with the chunks under it, since 0031.
alter table redactions drop column audio_erased_at;
