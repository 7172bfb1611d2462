import { describe, expect, it } from "vitest";
import { start, stopAfterEach } from "../support/front-calls.ts";

stopAfterEach();

const BROWSER = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };

/** What goes over the wire, and what it says. */
async function sizeOf(
  url: URL,
  coding: string,
  more: Record<string, string> = {},
): Promise<{ bytes: number; text: string }> {
  const headers = { ...more, "accept-encoding": coding };
  const response = await fetch(url, { headers });
  const bytes = Number(response.headers.get("content-length"));
  expect(response.headers.get("content-encoding")).toBe(coding);
  return { bytes, text: await response.text() };
}

describe("first address", () => {
  it("opens as a page in a browser, under a policy that lets nothing else in", async () => {
    const { url } = await start();
    const page = await fetch(new URL("/", url), { headers: BROWSER });
    expect(page.status).toBe(200);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.headers.get("vary")).toContain("Accept");
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).not.toContain("unsafe");
    expect(page.headers.get("cross-origin-opener-policy")).toBe("same-origin");
    expect(page.headers.get("referrer-policy")).toBe("no-referrer");
    const text = await page.text();
    expect(text).toContain('<html lang="en">');
    expect(text).not.toMatch(/<script>|<style|\son\w+=|\sstyle=|https?:/);
  });

  it("links to things that are there", async () => {
    const { url } = await start();
    const text = await (await fetch(new URL("/", url), { headers: BROWSER })).text();
    const files = [...text.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, to = ""]) => to);
    expect(files).toContain("api/docs");
    const own = files.filter((to) => !to.startsWith("api/"));
    // Relative, so that they are found below any path prefix.
    expect(own.filter((to) => !/^(favicon\.ico|\.\/assets\/[\w.-]+)$/.test(to))).toEqual([]);
    const types = await Promise.all(
      own.map(async (to) => (await fetch(new URL(`/${to}`, url))).headers.get("content-type")),
    );
    expect(new Set(types)).toEqual(
      new Set([
        "image/svg+xml; charset=utf-8",
        "text/css; charset=utf-8",
        "text/javascript; charset=utf-8",
      ]),
    );
  });

  it("shows its first view with less than 200 kB, compressed, whatever coding is taken", async () => {
    const { url } = await start();
    const sizes = await Promise.all(
      ["br", "gzip"].map(async (coding) => {
        const first = await sizeOf(new URL("/", url), coding, BROWSER);
        const files = [...first.text.matchAll(/(?:href|src)="(\.\/[^"]+)"/g)];
        const parts = await Promise.all(
          files.map(([, to = ""]) => sizeOf(new URL(to, url), coding)),
        );
        return [first, ...parts].reduce((sum, { bytes }) => sum + bytes, 0);
      }),
    );
    for (const bytes of sizes) {
      expect(bytes).toBeGreaterThan(10_000);
      expect(bytes).toBeLessThan(200_000);
    }
  });

  it("keeps files that never change, and asks for the page itself anew", async () => {
    const { url } = await start();
    const page = await fetch(new URL("/", url), { headers: BROWSER });
    expect(page.headers.get("cache-control")).toBe("no-cache");
    const [, script = ""] = /src="(\.\/assets\/[^"]+\.js)"/.exec(await page.text()) ?? [];
    const file = await fetch(new URL(script, url));
    expect(file.headers.get("cache-control")).toContain("immutable");
    expect((await fetch(new URL("/assets/none.js", url))).status).toBe(404);
    expect((await fetch(new URL("/assets/..%2findex.html", url))).status).toBe(404);
  });

  it("answers programs with links, and HEAD and other methods as HTTP has it", async () => {
    const { url } = await start();
    const first = new URL("/", url);
    const links = await fetch(first, { headers: { accept: "application/json" } });
    expect(await links.json()).toMatchObject({
      docs: "/api/docs",
      openapi: "/api/openapi.json",
      health: "/api/health",
    });
    const head = await fetch(first, { method: "HEAD", headers: BROWSER });
    expect([head.status, head.headers.get("content-type")]).toEqual([
      200,
      "text/html; charset=utf-8",
    ]);
    const posted = await fetch(first, { method: "POST" });
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    expect((await fetch(first, { method: "OPTIONS" })).status).toBe(204);
  });

  it("leaves unknown addresses a JSON 404 that names what was looked for", async () => {
    const { url } = await start();
    const unknown = async (path: string) => (await fetch(new URL(path, url))).json();
    expect(await unknown("/sesions")).toEqual({
      success: false,
      message: "There is nothing at /sesions; /api/docs lists what is.",
    });
    const { message } = (await unknown(`/api/${"x".repeat(2_000)}`)) as { message: string };
    expect(message.length).toBeLessThan(150);
    expect(await unknown("/page.html")).toMatchObject({ success: false });
  });
});
