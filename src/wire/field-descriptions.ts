/** Description of `times_clamped`, wherever words have it. */
export const TIMES_CLAMPED =
  "True where the word was said in sound of a late chunk that is longer than the place kept for it on the timeline: its times are the end of that place; and of a word that begins in one that is shorter and ends in the next chunk: it stands where most of it lies. Otherwise absent";

/** Description of every `lag_ms`, in all interface documents. */
export const LAG =
  "Length of the audio that is stored and was not read by a recogniser yet, in milliseconds: how far recognition is behind what has come. 0 when there is nothing to read; a silent device is no lag.";

/** `free_name` of a speaker. */
export const FREE_NAME =
  "What the session's owner or a moderator calls the label; the name of whoever claimed it outranks this one";

/** Of hypotheses, finals and beginnings of speech. */
export const HEARD_ON =
  "Where each channel is one speaker: the one that it was heard on, counted from 0";
