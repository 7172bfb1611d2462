import { type Logger, pino, stdTimeFunctions } from "pino";

/**
 * Creates the log of a process on standard output: one JSON object per line, levels by name, times
 * in ISO 8601.
 */
export function createProcessLog(level: string, base: Readonly<Record<string, string>>): Logger {
  return pino({
    level,
    base,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  });
}
