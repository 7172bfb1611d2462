import { AppError } from "./errors.ts";
import { type Runtime, systemRuntime } from "./runtime.ts";

export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

export function createDeferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((res, rej) => {
    resolve = res;
    reject = rej;
  });
  return { promise, resolve, reject };
}

/** Settles as `promise` does, or rejects with `timeout` after `ms`. The work itself goes on. */
export function withTimeout<T>(
  promise: Promise<T>,
  ms: number,
  what: string,
  timers: Pick<Runtime, "after"> = systemRuntime,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = timers.after(ms, () =>
      reject(new AppError("timeout", `${what} took longer than ${ms} ms.`)),
    );
    promise.then(
      (value) => {
        timer.cancel();
        resolve(value);
      },
      (error: unknown) => {
        timer.cancel();
        reject(error);
      },
    );
  });
}

/** Waits `ms`, or less when `signal` aborts; never rejects. */
export function delay(ms: number, signal?: AbortSignal): Promise<void> {
  return systemRuntime.delay(ms, signal);
}
