import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { ConformanceFixture, expectProblem, PASSWORD } from "../support/conformance-fixture.ts";
import type { Answer } from "../support/paired-device.ts";

/** Small enough to reach every limit, large enough for the people to sign in. */
const FACTOR = "0.2";

describe("conformance: rate limits", () => {
  let fixture: ConformanceFixture;
  beforeAll(async () => {
    fixture = await ConformanceFixture.open({ RATE_LIMIT_FACTOR: FACTOR });
  });
  afterAll(() => fixture?.close());

  /** The first 429 of many calls. */
  async function exhaust(call: () => Promise<Answer>, tries = 200): Promise<Answer> {
    for (let made = 0; made < tries; made += 1) {
      const answer = await call();
      if (answer.status === 429) return answer;
    }
    throw new Error(`No 429 in ${tries} calls.`);
  }

  function expectLimited(answer: Answer): void {
    expectProblem(answer, 429, "rate_limited");
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  }

  it("RateLimit headers stand on answers and count down", async () => {
    const { token } = fixture.owner;
    const left = async () => {
      const { headers } = await fixture.send("GET", "/auth/me", { token });
      expect(Number(headers.get("ratelimit-limit"))).toBeGreaterThan(0);
      expect(Number(headers.get("ratelimit-reset"))).toBeGreaterThanOrEqual(0);
      return Number(headers.get("ratelimit-remaining"));
    };
    const before = await left();
    expect(await left()).toBeLessThanOrEqual(before);
  });

  it("per caller and route class: one caller's questions do not use up another's, or its reads", async () => {
    const path = `/sessions/${newId()}/hirag-query`;
    const ask = (token: string) => fixture.send("POST", path, { token, body: { query: "Who?" } });
    const limited = await exhaust(() => ask(fixture.owner.token));
    expectLimited(limited);
    expect(limited.headers.get("ratelimit-remaining")).toBe("0");
    expectProblem(await ask(fixture.member.token), 404);
    expect((await fixture.send("GET", "/auth/me", { token: fixture.owner.token })).status).toBe(
      200,
    );
  });

  it("the per-caller 429 comes after the 401 and before everything else", async () => {
    const path = `/sessions/${newId()}/hirag-query`;
    expectProblem(await fixture.send("POST", path, { body: {}, token: "x.y.z" }), 401);
    expectLimited(
      await exhaust(() => fixture.send("POST", path, { token: fixture.owner.token, body: {} })),
    );
  });

  it("POST /auth/login answers 429 after too many guesses", async () => {
    const body = { email: fixture.stranger.email, password: "not the right one" };
    expectLimited(await exhaust(() => fixture.send("POST", "/auth/login", { body }), 60));
    const right = { email: fixture.stranger.email, password: PASSWORD };
    expectLimited(await fixture.send("POST", "/auth/login", { body: right }));
  });

  it("POST /auth/request-magic-link and /devices/pairing-codes answer 429", async () => {
    const link = { body: { email: "nobody@example.org" } };
    expectLimited(await exhaust(() => fixture.send("POST", "/auth/request-magic-link", link), 60));
    const code = { body: { device_serial: "SN-1" } };
    expectLimited(await exhaust(() => fixture.send("POST", "/devices/pairing-codes", code)));
  });

  it("POST /devices/pair answers 429 to whoever guesses codes", async () => {
    const body = { code: "BCDF-BCDF", workspace_id: fixture.workspaceId };
    const { token } = fixture.owner;
    expectLimited(await exhaust(() => fixture.send("POST", "/devices/pair", { token, body })));
  });
});
