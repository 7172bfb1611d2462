/**
 * The part of a logger that this code uses; `pino` satisfies it. Words of sessions are never
 * logged.
 */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Log;
}

const nothing = (): void => {};

/** A log that writes nothing, for tests. */
export const silentLog: Log = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  child: () => silentLog,
};
