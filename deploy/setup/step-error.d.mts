/** A step that cannot go on: why, and what the person at the terminal can do about it. */
export declare class StepError extends Error {
  constructor(why: string, advice: string);
  readonly advice: string;
}
