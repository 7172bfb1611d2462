import type { Log } from "../../src/base/log.ts";

export interface LogLine {
  level: string;
  msg: string;
  [field: string]: unknown;
}

const MOST_LINES = 10_000;

/** A log whose lines a test can look at. */
export class KeptLog implements Log {
  readonly lines: LogLine[];
  readonly #fields: object;

  constructor(fields: object = {}, lines: LogLine[] = []) {
    this.#fields = fields;
    this.lines = lines;
  }

  debug(): void {}

  info(fields: object, message: string): void {
    this.#keep("info", fields, message);
  }

  warn(fields: object, message: string): void {
    this.#keep("warn", fields, message);
  }

  error(fields: object, message: string): void {
    this.#keep("error", fields, message);
  }

  child(fields: object): Log {
    return new KeptLog({ ...this.#fields, ...fields }, this.lines);
  }

  #keep(level: string, fields: object, msg: string): void {
    if (this.lines.length < MOST_LINES) this.lines.push({ ...this.#fields, ...fields, level, msg });
  }
}
