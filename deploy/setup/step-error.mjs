/** A step that cannot go on: why, and what the person at the terminal can do about it. */
export class StepError extends Error {
  /**
   * @param {string} why
   * @param {string} advice
   */
  constructor(why, advice) {
    super(why);
    this.name = "StepError";
    this.advice = advice;
  }
}
