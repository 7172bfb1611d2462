import { Metadata } from "@grpc/grpc-js";
import { describe, expect, it } from "vitest";
import { WorkerTokenCheck, WorkerTokens } from "../../../src/wire/worker-token.ts";

const KEY = "a-worker-key-of-this-test";
const ADDRESS = "10.0.0.1:50052";
const HALF_AN_HOUR = 1_800_000;

function bearing(token: string): Metadata {
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${token}`);
  return metadata;
}

/** Whether the worker takes a token that was made when the main processes' clock said `now`. */
async function takes(check: WorkerTokenCheck, now: number, key = KEY, address = ADDRESS) {
  const token = new WorkerTokens(key, () => now).for(address);
  return check.check(bearing(token)).then(
    () => true,
    () => false,
  );
}

describe("tokens for calls of workers", () => {
  it("open the worker that they are made for, and no other", async () => {
    const check = new WorkerTokenCheck(KEY, ADDRESS);
    expect(await takes(check, Date.now())).toBe(true);
    expect(await takes(check, Date.now(), "another-key-of-this-test")).toBe(false);
    expect(await takes(check, Date.now(), KEY, "10.0.0.2:50052")).toBe(false);
    for (const metadata of [new Metadata(), bearing(KEY), bearing("a.b.c")]) {
      await expect(check.check(metadata)).rejects.toMatchObject({ code: "unauthorized" });
    }
  });

  it("are of use for two minutes", async () => {
    const check = new WorkerTokenCheck(KEY, ADDRESS);
    expect(await takes(check, Date.now())).toBe(true);
    expect(await takes(check, Date.now() - 100_000)).toBe(true);
    expect(await takes(check, Date.now() - 180_000)).toBe(false);
  });

  it("open a worker whose own clock is half an hour off, while they are fresh", async () => {
    for (const now of [Date.now() + HALF_AN_HOUR, Date.now() - HALF_AN_HOUR]) {
      const check = new WorkerTokenCheck(KEY, ADDRESS);
      expect(await takes(check, now)).toBe(true);
      expect(await takes(check, now + 60_000)).toBe(true);
      expect(await takes(check, now - 180_000)).toBe(false);
    }
  });

  it("are made anew after a minute, and kept till then", async () => {
    let now = Date.now();
    const tokens = new WorkerTokens(KEY, () => now);
    const first = tokens.for(ADDRESS);
    now += 30_000;
    expect(tokens.for(ADDRESS)).toBe(first);
    now += 31_000;
    expect(tokens.for(ADDRESS)).not.toBe(first);
  });
});
