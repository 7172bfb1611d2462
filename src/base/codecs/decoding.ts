/**
 * Decodes one file from its beginning to its end. Several may be open in a thread at a time; each
 * must be closed.
 */
export interface Decoding {
  /**
   * The next samples of all channels, interleaved, 16 bits: those of one frame or packet, possibly
   * none. Undefined at the end.
   */
  next(): Int16Array | undefined;
  close(): void;
}
