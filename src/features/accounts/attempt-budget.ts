/** Allows `burst` attempts at once and one more after each `interval` milliseconds. */
export interface AttemptPolicy {
  burst: number;
  interval: number;
}
