/** `burst` attempts at once, one more after each `interval` milliseconds. */
export interface AttemptPolicy {
  burst: number;
  interval: number;
}
