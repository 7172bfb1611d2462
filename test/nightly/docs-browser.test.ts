import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DRAWN_MS, ReferenceFixture } from "../support/reference-fixture.ts";

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

describe("reference in a browser, in use", () => {
  let reference: ReferenceFixture;
  beforeAll(async () => {
    reference = await ReferenceFixture.open();
  });
  afterAll(() => reference?.close());

  it("reference: shows both documents in 1280 pixels, and asks nobody else", () =>
    reference.expectDocuments(1280));

  it("reference: shows both documents in 390 pixels, and asks nobody else", () =>
    reference.expectDocuments(390));

  it("reference: the guide leads to the channels", async () => {
    const { page, wrong } = await reference.page("", 1280);
    await page.getByRole("link", { name: "the channels and their messages" }).first().click();
    await page.getByText("AsyncAPI 3.0.0").first().waitFor();
    await page
      .getByText(`ws://${new URL(reference.front.base).host}/api`)
      .first()
      .waitFor();
    expect(wrong).toEqual([]);
    await page.close();
  });

  it("reference: works below a path prefix", async () => {
    const proxy = prefixProxy(reference.front.base, "/voice");
    proxy.listen(0, "127.0.0.1");
    await once(proxy, "listening");
    const { port } = proxy.address() as AddressInfo;
    const page = await reference.browser.newPage();
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
    const { page, asked, wrong } = await reference.page("#http/tag/health/GET/health/live", 1280);
    await page.getByRole("button", { name: /Test Request.*health\/live/ }).click();
    await page.getByRole("button", { name: /^Send/ }).first().click();
    await page.getByText("200 OK").first().waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Open Group - Webhooks" }).click();
    await page.getByText("A session was read to its end").first().click();
    await page.getByText("webhook-signature").first().waitFor();
    expect(asked.some((url) => url.endsWith("/api/health/live"))).toBe(true);
    reference.expectOwn(asked);
    expect(wrong).toEqual([]);
    await page.close();

    const live = await reference.page("?api=websockets", 1280);
    await live.page.getByRole("button", { name: "Open Group - Stream audio", exact: true }).click();
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
