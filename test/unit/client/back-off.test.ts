import { describe, expect, it } from "vitest";
import { type BackOff, waitBefore, withRetries } from "../../../src/client/back-off.ts";

const QUICK: BackOff = { attempts: 4, firstMs: 1, longestMs: 2 };

describe("client back-off: waits", () => {
  it("grow twofold up to the longest, half of each random", () => {
    const backOff = { attempts: 9, firstMs: 100, longestMs: 1_000 };
    const least = [1, 2, 3, 4, 5, 6].map((attempt) => waitBefore(attempt, backOff, () => 0));
    const most = [1, 2, 3, 4, 5, 6].map((attempt) => waitBefore(attempt, backOff, () => 1));
    expect(least).toEqual([50, 100, 200, 400, 500, 500]);
    expect(most).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  });
});

describe("client back-off: retries", () => {
  it("goes on until the operation succeeds", async () => {
    const tried: number[] = [];
    const operation = async (attempt: number) => {
      tried.push(attempt);
      if (attempt < 3) throw new Error("passing");
      return "done";
    };
    const judge = () => ({ retryable: true });
    expect(await withRetries(operation, { backOff: QUICK, judge })).toBe("done");
    expect(tried).toEqual([1, 2, 3]);
  });

  it("gives the last error when the attempts are used up", async () => {
    const operation = async (attempt: number) => {
      throw new Error(`failure ${attempt}`);
    };
    const attempts = { backOff: QUICK, judge: () => ({ retryable: true }) };
    await expect(withRetries(operation, attempts)).rejects.toThrow("failure 4");
  });

  it("does not repeat a final failure", async () => {
    let tries = 0;
    const operation = async () => {
      tries++;
      throw new Error("final");
    };
    const attempts = { backOff: QUICK, judge: () => ({ retryable: false }) };
    await expect(withRetries(operation, attempts)).rejects.toThrow("final");
    expect(tries).toBe(1);
  });

  it("keeps to the wait the service asked for, and gives up when that is too long", async () => {
    const waits: number[] = [];
    const fail = async () => {
      throw new Error("busy");
    };
    const attempts = (retryAfterMs: number) => ({
      backOff: { ...QUICK, attempts: 2 },
      judge: () => ({ retryable: true, retryAfterMs }),
      onRetry: (_error: unknown, waitMs: number) => waits.push(waitMs),
    });
    await expect(withRetries(fail, attempts(20))).rejects.toThrow("busy");
    expect(waits).toEqual([20]);
    await expect(withRetries(fail, attempts(3_600_000))).rejects.toThrow("busy");
    expect(waits).toEqual([20]);
  });

  it("stops waiting when it is aborted", async () => {
    const stop = new AbortController();
    const attempts = {
      backOff: { attempts: 2, firstMs: 60_000, longestMs: 60_000 },
      judge: () => ({ retryable: true }),
      onRetry: () => stop.abort(),
      signal: stop.signal,
    };
    const fail = async () => {
      throw new Error("busy");
    };
    await expect(withRetries(fail, attempts)).rejects.toThrow(/abort/i);
  });
});
