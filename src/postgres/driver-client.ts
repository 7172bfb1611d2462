import type { createPgDriverFactory } from "@slonik/pg-driver";
import { ConnectionError } from "slonik";

export type DriverFactory = ReturnType<typeof createPgDriverFactory>;
export type DriverSettings = Parameters<DriverFactory>[0];
export type Driver = Awaited<ReturnType<DriverFactory>>;
/** A connection in slonik's pool. */
export type DriverClient = Awaited<ReturnType<Driver["createClient"]>>;

/** Settles as `answer` does. After `ms` without an answer it calls `giveUp` and rejects. */
export function answered<T>(answer: Promise<T>, ms: number, giveUp: () => void): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      giveUp();
      reject(new ConnectionError(`The database did not answer within ${ms} ms.`));
    }, ms);
  });
  return Promise.race([answer, silence]).finally(() => clearTimeout(timer));
}
