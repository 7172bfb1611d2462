import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { ConformanceStage, expectProblem, PASSWORD } from "../support/conformance-stage.ts";
import type { Answer } from "../support/paired-device.ts";

/** Small enough to reach every limit, large enough for the people to sign in. */
const FACTOR = "0.2";

describe("conformance: rate limits", () => {
  let stage: ConformanceStage;
  beforeAll(async () => {
    stage = await ConformanceStage.open({ RATE_LIMIT_FACTOR: FACTOR });
  });
  afterAll(() => stage?.close());

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
    const { token } = stage.owner;
    const left = async () => {
      const { headers } = await stage.send("GET", "/auth/me", { token });
      expect(Number(headers.get("ratelimit-limit"))).toBeGreaterThan(0);
      expect(Number(headers.get("ratelimit-reset"))).toBeGreaterThanOrEqual(0);
      return Number(headers.get("ratelimit-remaining"));
    };
    const before = await left();
    expect(await left()).toBeLessThanOrEqual(before);
  });

  it("per caller and route class: one caller's questions do not use up another's, or its reads", async () => {
    const path = `/sessions/${newId()}/hirag-query`;
    const ask = (token: string) => stage.send("POST", path, { token, body: { query: "Who?" } });
    const limited = await exhaust(() => ask(stage.owner.token));
    expectLimited(limited);
    expect(limited.headers.get("ratelimit-remaining")).toBe("0");
    expectProblem(await ask(stage.member.token), 404);
    expect((await stage.send("GET", "/auth/me", { token: stage.owner.token })).status).toBe(200);
  });

  it("the per-caller 429 comes after the 401 and before everything else", async () => {
    const path = `/sessions/${newId()}/hirag-query`;
    expectProblem(await stage.send("POST", path, { body: {}, token: "x.y.z" }), 401);
    expectLimited(
      await exhaust(() => stage.send("POST", path, { token: stage.owner.token, body: {} })),
    );
  });

  it("POST /auth/login answers 429 after too many guesses", async () => {
    const body = { email: stage.stranger.email, password: "not the right one" };
    expectLimited(await exhaust(() => stage.send("POST", "/auth/login", { body }), 60));
    const right = { email: stage.stranger.email, password: PASSWORD };
    expectLimited(await stage.send("POST", "/auth/login", { body: right }));
  });

  it("POST /auth/request-magic-link and /devices/pairing-codes answer 429", async () => {
    const link = { body: { email: "nobody@example.org" } };
    expectLimited(await exhaust(() => stage.send("POST", "/auth/request-magic-link", link), 60));
    const code = { body: { device_serial: "SN-1" } };
    expectLimited(await exhaust(() => stage.send("POST", "/devices/pairing-codes", code)));
  });

  it("POST /devices/pair answers 429 to whoever guesses codes", async () => {
    const body = { code: "BCDF-BCDF", workspace_id: stage.workspaceId };
    const { token } = stage.owner;
    expectLimited(await exhaust(() => stage.send("POST", "/devices/pair", { token, body })));
  });
});
