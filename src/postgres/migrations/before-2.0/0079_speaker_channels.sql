-- Each of this many channels of a session's sound is one speaker, read by itself.
alter table sessions
  add column speaker_channels smallint check (speaker_channels between 2 and 8);
