import { afterEach, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { type HealthCheck, healthRoutes } from "../../src/conversations/admin/health.ts";
import { docsRoutes } from "../../src/rest/docs.ts";
import { ApiClient } from "../support/api-client.ts";
import { echoRoutes } from "../support/echo-routes.ts";
import { startFront, type TestFront } from "../support/front.ts";
import { ManualClock } from "../support/manual-clock.ts";

let front: TestFront | undefined;

afterEach(async () => {
  await front?.stop();
  front = undefined;
});

async function start(checks: () => Promise<Record<string, HealthCheck>>): Promise<TestFront> {
  const routes = [
    ...echoRoutes().routes,
    ...healthRoutes({
      checks: { run: checks },
      version: "1.0.0",
      clock: new ManualClock(),
      timeoutMs: 100,
    }),
  ];
  const info = { title: "Voice & sessions", version: "1.0", basePath: "/api" };
  routes.push(...docsRoutes(() => routes, info));
  front = await startFront({ routes });
  return front;
}

describe("front docs: answers against the document", () => {
  it("answers only what it declares", async () => {
    const { base } = await start(async () => ({}));
    const client = await ApiClient.connect(base);
    const bearer = "user-bob";
    expect((await client.call("GET", "/things?limit=0")).status).toBe(400);
    expect((await client.call("GET", `/things/${newId()}`, { bearer })).status).toBe(200);
    expect((await client.call("GET", "/things/odd", { bearer })).code).toBe("not_found");
    expect((await client.call("GET", "/things/odd")).code).toBe("unauthorized");
    expect((await client.call("POST", "/things", { body: { name: 1 } })).code).toBe("invalid_body");
    expect((await client.call("DELETE", `/things/${newId()}`)).status).toBe(204);
    expect((await client.call("GET", "/openapi.json")).status).toBe(200);
    await expect(client.call("PUT", "/things", { body: {} })).rejects.toThrow(/not declared/);
    await expect(client.call("GET", "/nothing")).rejects.toThrow(/no such path/);
  });

  it("shows a page that loads nothing from elsewhere, and says where else to read", async () => {
    const { base } = await start(async () => ({}));
    const page = (await (await ApiClient.connect(base)).call("GET", "/docs")) as {
      text: string;
      headers: Headers;
    };
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? "";
    expect(page.text).toContain(`<meta property="csp-nonce" content="${nonce}">`);
    const again = await (await fetch(`${base}/docs`)).text();
    expect(again).not.toContain(nonce);
    expect(page.text).toContain("Voice &amp; sessions");
    expect(page.text).toMatch(/<noscript>[\s\S]*href="openapi\.json"[\s\S]*<\/noscript>/);
    expect(page.text).not.toMatch(/https?:|<style|style=|<script>/);
  });

  it("gives the page's script of Scalar, compressed and for good", async () => {
    const { base } = await start(async () => ({}));
    const page = await (await fetch(`${base}/docs`)).text();
    const src = `/${/<script src="([^"]+)"/.exec(page)?.[1]}`;
    expect(src).toMatch(/^\/docs\/reference\.js\?v=[0-9a-f]{16}$/);
    const script = await fetch(base + src, { headers: { "accept-encoding": "br, gzip" } });
    expect(script.headers.get("content-encoding")).toBe("gzip");
    expect(script.headers.get("cache-control")).toContain("immutable");
    const text = await script.text();
    const plain = await fetch(base + src, { headers: { "accept-encoding": "gzip;q=0, br" } });
    expect(plain.headers.get("content-encoding")).toBe(null);
    expect((await plain.text()) === text).toBe(true);
    expect(text).toContain("Scalar.createApiReference(");
    expect(text).not.toContain("sourceMappingURL");
  });
});

describe("front health: checks", () => {
  it("is ok, degraded or down, as its parts are", async () => {
    let parts: Record<string, HealthCheck> = { database: { status: "ok" } };
    const { base } = await start(async () => parts);
    const client = await ApiClient.connect(base);
    const ok = await client.call("GET", "/health");
    expect(ok.body).toEqual({ status: "ok", version: "1.0.0", uptime_seconds: 0, checks: parts });
    parts = { database: { status: "ok" }, workers: { status: "degraded", message: "none" } };
    expect((await client.call("GET", "/health")).body.status).toBe("degraded");
    parts = { database: { status: "down" } };
    const down = await client.call("GET", "/health/ready");
    expect(down.status).toBe(503);
    expect(down.body).toEqual({
      success: false,
      message: "Not available: database.",
      status: "down",
      checks: parts,
    });
    expect((await client.call("GET", "/health/live")).status).toBe(200);
  });

  it("is down when its checks fail or hang", async () => {
    const { base } = await start(() => new Promise(() => {}));
    const client = await ApiClient.connect(base);
    expect((await client.call("GET", "/health")).status).toBe(503);
  });
});
