import type { StepError } from "./step-error.mjs";

/** One line of progress on the terminal. */
export interface Step {
  note(text: string): void;
  done(detail?: string): void;
  fail(detail?: string): void;
}

/** Progress on the terminal: ticks and a turning line on a terminal, plain lines in a pipe. */
export declare class Screen {
  constructor(stream?: NodeJS.WriteStream, env?: NodeJS.ProcessEnv);
  step(title: string): Step;
  line(text?: string): void;
  warn(text: string): void;
  fail(text: string): void;
  /** What is wrong, then what to do. */
  problem(error: StepError): void;
  /** Wraps `text` in the SGR code when colours are wanted. */
  paint(code: string, text: string): string;
}

/** Runs `work` as a step; a string that it returns becomes the detail of the line. */
export declare function runStep<T>(
  screen: Screen,
  title: string,
  work: (step: Step) => T | Promise<T>,
): Promise<T>;
