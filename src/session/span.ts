/** Samples at 16 kHz; both ends as everywhere, the second one not included. */
export interface Span {
  start: number;
  end: number;
}
