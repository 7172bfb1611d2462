import { describe, expect, it } from "vitest";
import { type Log, silentLog } from "../../src/base/log.ts";
import { start, stopAfterEach } from "../support/front-calls.ts";

stopAfterEach();

const FEW = { address: { perMinute: 1, burst: 3 } };

describe("front forwarded: limits per address behind proxies", () => {
  async function statuses(trustProxy: number, lists: readonly string[]): Promise<number[]> {
    const { url } = await start({ trustProxy, rates: FEW });
    const answers: number[] = [];
    for (const list of lists) {
      const headers = { "x-forwarded-for": list };
      answers.push((await fetch(`${url}/things`, { headers })).status);
    }
    return answers;
  }

  it("counts the peer where no proxy is trusted, whatever is claimed", async () => {
    const claims = ["1.1.1.1", "2.2.2.2", "3.3.3.3", "4.4.4.4"];
    expect(await statuses(0, claims)).toEqual([200, 200, 200, 429]);
  });

  it("counts each client behind one proxy, and a client's own claim gains nothing", async () => {
    const clients = ["1.1.1.1", "2.2.2.2", "1.1.1.1", "1.1.1.1", "1.1.1.1", "2.2.2.2"];
    expect(await statuses(1, clients)).toEqual([200, 200, 200, 200, 429, 200]);
  });

  it("takes what the proxy added, not what the client sent before it", async () => {
    const spoofed = ["9.0.0.1, 1.1.1.1", "9.0.0.2, 1.1.1.1", "1.1.1.1", "9.0.0.3,1.1.1.1"];
    expect(await statuses(1, spoofed)).toEqual([200, 200, 200, 429]);
  });

  it("finds the client behind two proxies", async () => {
    const spoofed = [1, 2, 3, 4].map((n) => `9.0.0.${n}, 1.1.1.1, 10.0.0.${n}`);
    expect(await statuses(2, spoofed)).toEqual([200, 200, 200, 429]);
  });
});

describe("front forwarded: a proxy that nobody told of", () => {
  async function warnings(trustProxy: number, lists: readonly (string | undefined)[]) {
    const told: { fields: object; message: string }[] = [];
    const log: Log = {
      ...silentLog,
      warn: (fields, message) => told.push({ fields, message }),
      child: () => log,
    };
    const { url } = await start({ trustProxy, log });
    for (const list of lists) {
      const headers = new Headers(list === undefined ? {} : { "x-forwarded-for": list });
      expect((await fetch(`${url}/things`, { headers })).status).toBe(200);
    }
    return told;
  }

  it("is warned of once, with what to set and from where it came", async () => {
    const told = await warnings(0, [undefined, "1.1.1.1", "2.2.2.2", "1.1.1.1"]);
    expect(told).toEqual([
      { fields: { address: "127.0.0.1" }, message: expect.stringMatching(/TRUST_PROXY/) },
    ]);
  });

  it("is no matter where proxies are trusted, or none is there", async () => {
    expect(await warnings(1, ["1.1.1.1"])).toEqual([]);
    expect(await warnings(0, [undefined, undefined])).toEqual([]);
  });
});
