import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openChromium } from "../support/chromium.ts";
import { startFront, type TestFront } from "../support/front.ts";
import { allRoutes } from "../support/whole-document.ts";

const DOCUMENTS = ["getOpenApi", "getAsyncApi", "getDocs", "getDocsScript", "getLiveness"];
/** Drawing the whole interface takes a browser a while on a busy machine. */
const DRAWN_MS = 120_000;
const CATCH_VIOLATIONS = `document.addEventListener("securitypolicyviolation", (event) => {
  console.error(event.violatedDirective + " refused " + event.blockedURI);
})`;

/** Passes on what is asked below the prefix, without it, and nothing else. */
function prefixProxy(base: string, prefix: string): Server {
  return createServer((asked, answer) => {
    const path = asked.url ?? "";
    if (!path.startsWith(`${prefix}/`)) {
      answer.writeHead(404).end();
      return;
    }
    const options = { headers: asked.headers, method: asked.method ?? "GET" };
    request(new URL(path.slice(prefix.length), base), options, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(answer);
    }).end();
  });
}

describe("reference in a browser", () => {
  let front: TestFront;
  let browser: Browser;

  beforeAll(async () => {
    front = await startFront({ routes: allRoutes().filter(({ id }) => DOCUMENTS.includes(id)) });
    browser = await openChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await front?.stop();
  });

  /** A page of the reference, with everything that it asked for, and what went wrong on it. */
  async function open(query: string, width: number) {
    const asked: string[] = [];
    const wrong: string[] = [];
    const page = await browser.newPage({ viewport: { width, height: 900 } });
    page.setDefaultTimeout(DRAWN_MS);
    await page.addInitScript(CATCH_VIOLATIONS);
    page.on("request", (request) => asked.push(request.url()));
    page.on("pageerror", ({ message }) => wrong.push(message));
    page.on("console", (line) => {
      if (line.type() === "error") wrong.push(line.text());
    });
    await page.goto(`${front.base}/docs${query}`);
    await page.getByRole("heading", { name: "Voice session service" }).first().waitFor();
    return { page, asked, wrong };
  }

  function expectOwn(asked: readonly string[]): void {
    const { origin } = new URL(front.base);
    const foreign = asked.filter(
      (url) => !url.startsWith(`${origin}/`) && !/^(data|blob):/.test(url),
    );
    expect(foreign).toEqual([]);
    expect(asked.length).toBeGreaterThan(2);
  }

  async function expectNoAdverts(page: Page): Promise<void> {
    for (const text of ["Ask AI", "Open API Client", "Open in", "MCP", "Share", "Deploy"]) {
      expect(await page.getByText(text, { exact: true }).count(), text).toBe(0);
    }
  }

  for (const width of [1280, 390]) {
    it(`reference: shows both documents in ${width} pixels, and asks nobody else`, async () => {
      for (const [query, texts] of [
        ["", ["OpenAPI 3.1.0", "Record and read", "Webhooks"]],
        ["?api=websockets", ["AsyncAPI 3.0.0", "Stream audio"]],
      ] as const) {
        const { page, asked, wrong } = await open(query, width);
        for (const text of texts) await page.getByText(text).first().waitFor({ state: "attached" });
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
        await expectNoAdverts(page);
        expectOwn(asked);
        expect(wrong).toEqual([]);
        await page.close();
      }
    });
  }

  it("reference: the guide leads to the channels", async () => {
    const { page, wrong } = await open("", 1280);
    await page.getByRole("link", { name: "the channels and their messages" }).first().click();
    await page.getByText("AsyncAPI 3.0.0").first().waitFor();
    await page
      .getByText(`ws://${new URL(front.base).host}/api`)
      .first()
      .waitFor();
    expect(wrong).toEqual([]);
    await page.close();
  });

  it("reference: works below a path prefix", async () => {
    const proxy = prefixProxy(front.base, "/voice");
    proxy.listen(0, "127.0.0.1");
    await once(proxy, "listening");
    const { port } = proxy.address() as AddressInfo;
    const page = await browser.newPage();
    page.setDefaultTimeout(DRAWN_MS);
    await page.goto(`http://127.0.0.1:${port}/voice/api/docs`);
    await page.getByRole("heading", { name: "Voice session service" }).first().waitFor();
    await page.getByText(`http://127.0.0.1:${port}/voice/api`).first().waitFor();
    await page.getByText(`BASE=http://127.0.0.1:${port}/voice/api`).first().waitFor();
    await page.close();
    proxy.closeAllConnections();
    proxy.close();
  });

  it("reference: sends a request from the page, and tells of webhooks and frames", async () => {
    const { page, asked, wrong } = await open("#http/tag/health/GET/health/live", 1280);
    await page.getByRole("button", { name: /Test Request.*health\/live/ }).click();
    await page.getByRole("button", { name: /^Send/ }).first().click();
    await page.getByText("200 OK").first().waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Open Group - Webhooks" }).click();
    await page.getByText("A session was read to its end").first().click();
    await page.getByText("webhook-signature").first().waitFor();
    expect(asked.some((url) => url.endsWith("/api/health/live"))).toBe(true);
    expectOwn(asked);
    expect(wrong).toEqual([]);
    await page.close();

    const live = await open("?api=websockets", 1280);
    await live.page.getByRole("button", { name: "Open Group - Stream audio" }).click();
    await live.page.getByText("What a device gets").first().click();
    await live.page
      .getByRole("button", { name: /AudioAck/ })
      .first()
      .click();
    await live.page.getByText("Everything before it is on disk").first().waitFor();
    expect(live.wrong).toEqual([]);
    await live.page.close();
  });
});
