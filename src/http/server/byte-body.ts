import type { ByteSink } from "../../rest/route.ts";
import { BodyClock, type BodyPace } from "./body-clock.ts";
import type { Exchange } from "./exchange.ts";
import { CallerGone, tooLarge } from "./request-body.ts";

interface ByteBodyLimits {
  /** Most bytes that are taken. */
  bytes: number;
  /** Longest time for the whole body, milliseconds. */
  totalMs: number;
  pace: BodyPace;
  /** Called whenever bytes have come. */
  onBytes?(): void;
  /** Rejects when the caller's right has ended. */
  ended?: Promise<never>;
}

/**
 * Gives a body to a sink as it comes, however long it is, and resolves with what `finish` makes of it
 * at its end. Rejects when it comes too slowly, is too large, breaks off, or cannot be stored.
 */
export function readByteBody<T>(
  exchange: Exchange,
  sink: ByteSink,
  limits: ByteBodyLimits,
  finish: () => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let size = 0;
    let isDone = false;
    const settle = (act: () => void): void => {
      if (isDone) return;
      isDone = true;
      clock.stop();
      act();
    };
    const fail = (error: unknown): void => settle(() => reject(error));
    const clock = new BodyClock(limits.pace, limits.totalMs, fail);
    sink.failed.catch(fail);
    limits.ended?.catch(fail);
    sink.onDrain = () => {
      if (isDone) return;
      clock.go();
      exchange.resume();
    };
    exchange.readBody({
      data(chunk) {
        if (isDone) return;
        size += chunk.byteLength;
        clock.came(chunk.byteLength);
        limits.onBytes?.();
        if (size > limits.bytes) return fail(tooLarge(limits.bytes));
        if (sink.write(chunk)) return;
        clock.hold();
        exchange.pause();
      },
      // The clock runs on: nobody else would end a body whose sink never finishes.
      end() {
        clock.whole();
        finish().then((result) => settle(() => resolve(result)), fail);
      },
      gone: () => fail(new CallerGone()),
    });
  });
}
