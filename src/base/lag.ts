/** What every `lag_ms` says, as the documents of the interfaces tell it. */
export const LAG =
  "Length of the audio that is stored and was not read by a recogniser yet, in milliseconds: how far recognition is behind what has come. 0 when there is nothing to read; a silent device is no lag.";
