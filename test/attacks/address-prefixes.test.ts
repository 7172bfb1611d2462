import { describe, expect, it } from "vitest";
import { SITE_FACTOR } from "../../src/wire/network.ts";
import { start, stopAfterEach } from "../support/front-calls.ts";
import { HttpFixture } from "../support/http-fixture.ts";

stopAfterEach();

const BURST = 4;

/** Statuses of one request from each address, as a trusted proxy reports it. */
async function ask(url: string, addresses: readonly string[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const address of addresses) {
    const headers = { "x-forwarded-for": address };
    statuses.push((await fetch(`${url}/things`, { headers })).status);
  }
  return statuses;
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe("address prefixes", () => {
  it.each(["address", "read"] as const)("gives a /64 one budget of the class %s", async (name) => {
    const rates = { [name]: { perMinute: 0.001, burst: BURST } };
    const { url } = await start({ trustProxy: 1, rates });
    const own = numbers(BURST + 3).map((n) => `2001:db8:0:1:${n}::${n}`);
    expect(await ask(url, own)).toEqual([...Array(BURST).fill(200), 429, 429, 429]);
    expect(await ask(url, ["2001:db8:0:2::1", "192.0.2.1"])).toEqual([200, 200]);
  });

  it("gives a /48 a looser one", async () => {
    const rates = { read: { perMinute: 0.001, burst: BURST } };
    const { url } = await start({ trustProxy: 1, rates });
    const most = BURST * SITE_FACTOR;
    const many = numbers(most + 5).map((n) => `2001:db8:7:${n.toString(16)}::1`);
    const statuses = await ask(url, many);
    expect(statuses.filter((status) => status === 200)).toHaveLength(most);
    expect(await ask(url, ["2001:db8:8:1::1"])).toEqual([200]);
  });

  it("takes an IPv4 address for the same however it is written", async () => {
    const rates = { read: { perMinute: 0.001, burst: 2 } };
    const { url } = await start({ trustProxy: 1, rates });
    const spellings = ["192.0.2.7", "::ffff:192.0.2.7", "::ffff:c000:207"];
    expect(await ask(url, spellings)).toEqual([200, 200, 429]);
  });

  it("lets a /64 begin as many sign-ins at a provider as one address", async () => {
    const http = await HttpFixture.open({}, { trustProxy: 1 });
    try {
      http.accounts.providers.push({
        id: "away",
        name: "Away",
        createUsers: false,
        authorizationUrl: async () => new URL("https://away.test/"),
        exchange: () => Promise.reject(new Error("Nobody comes back.")),
      });
      const begin = async (from: string) => {
        const options = {
          redirect: "manual" as const,
          headers: { "x-forwarded-for": from },
        };
        return (await fetch(`${http.url}/auth/oauth/away/authorize`, options)).status;
      };
      const own = numbers(62).map((n) => begin(`2001:db8:0:1::${n}`));
      const statuses = await Promise.all(own);
      expect(statuses.filter((status) => status === 302)).toHaveLength(60);
      expect(statuses.filter((status) => status === 429)).toHaveLength(2);
      expect(await begin("2001:db8:0:2::1")).toBe(302);
    } finally {
      await http.close();
    }
  });
});
