import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { healthRoutes } from "../../src/conversations/admin/health.ts";
import { startFront, type TestFront, type TestFrontOptions } from "../support/front.ts";

let front: TestFront | undefined;
const served: { method: string; route: string; status: number }[] = [];

afterEach(async () => {
  await front?.stop();
  served.length = 0;
});

async function start(given: Partial<TestFrontOptions> = {}): Promise<TestFront> {
  const checks = { run: async () => ({}) };
  const routes = healthRoutes({ checks, version: "1", clock: systemClock });
  const observer = {
    served: (request: (typeof served)[number]) => served.push(request),
    sent: () => {},
    closed: () => {},
  };
  front = await startFront({ routes, observer, ...given });
  return front;
}

describe("front ready: answers that are always the same", () => {
  it("comes with the headers of every answer and is counted", async () => {
    const { base } = await start();
    const [ready, made] = await Promise.all([
      fetch(`${base}/health/live?x=1`),
      fetch(`${base}/health`),
    ]);
    expect([ready.status, await ready.json()]).toEqual([200, { status: "ok" }]);
    const names = (answer: Response) => [...answer.headers.keys()].sort();
    const budgets = ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"];
    expect([...names(ready), ...budgets].sort()).toEqual(names(made));
    for (const name of names(ready).filter(
      (each) => !/^(x-request-id|content-length|date)$/.test(each),
    )) {
      expect(ready.headers.get(name), name).toBe(made.headers.get(name));
    }
    expect(served.filter(({ route }) => route === "/health/live")).toMatchObject([
      { method: "GET", status: 200 },
    ]);
  });

  it("takes the caller's request id when it is valid", async () => {
    const { base } = await start();
    const idFor = async (id: string) =>
      (await fetch(`${base}/health/live`, { headers: { "x-request-id": id } })).headers.get(
        "x-request-id",
      );
    expect(await idFor("a.b_C-1")).toBe("a.b_C-1");
    expect(await idFor("a b")).toMatch(/^[0-9a-f-]{36}$/);
    expect(await idFor("a".repeat(129))).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("answers HEAD, OPTIONS and other methods as everywhere", async () => {
    const { base } = await start();
    const head = await fetch(`${base}/health/live`, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, "15"]);
    const options = await fetch(`${base}/health/live`, { method: "OPTIONS" });
    expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, HEAD, OPTIONS"]);
    expect((await fetch(`${base}/health/live`, { method: "POST" })).status).toBe(405);
  });

  it("tells browsers of other origins what they may read", async () => {
    const { base } = await start({ allowedOrigins: ["https://app.example"] });
    const headers = { origin: "https://app.example" };
    const answer = await fetch(`${base}/health/live`, { headers });
    expect(answer.headers.get("access-control-allow-origin")).toBe("https://app.example");
    expect(answer.headers.get("vary")).toBe("Origin");
  });

  it("keeps no connection once the service leaves", async () => {
    const { base, server } = await start();
    expect((await fetch(`${base}/health/live`)).headers.get("connection")).not.toBe("close");
    const drained = server.drain(300);
    const leaving = await fetch(`${base}/health/live`);
    expect([leaving.status, leaving.headers.get("connection")]).toEqual([200, "close"]);
    await drained;
  });
});

describe("front ready: a part that is down", () => {
  it("takes the service down, unless much works without it: then it is said", async () => {
    const run = async () => ({ audio: { status: "down" as const, message: "It hangs." } });
    const ask = async (spared: ReadonlySet<string>) => {
      const routes = healthRoutes({ checks: { run, spared }, version: "1", clock: systemClock });
      const { base } = await start({ routes });
      const answer = await fetch(`${base}/health/ready`);
      await front?.stop();
      return { code: answer.status, body: await answer.json() };
    };
    const audio = { status: "down", message: "It hangs." };
    expect(await ask(new Set(["audio"]))).toMatchObject({
      code: 200,
      body: { status: "degraded", checks: { audio } },
    });
    expect(await ask(new Set())).toMatchObject({
      code: 503,
      body: { status: "down", checks: { audio } },
    });
  });
});
