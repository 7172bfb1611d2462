import type { Browser, Page } from "playwright-core";
import { expect } from "vitest";
import { openChromium } from "./chromium.ts";
import { startFront, type TestFront } from "./front.ts";
import { allRoutes } from "./whole-document.ts";

const DOCUMENTS = ["getOpenApi", "getAsyncApi", "getDocs", "getDocsScript", "getLiveness"];
/** Drawing the whole interface takes a browser a while on a busy machine. */
export const DRAWN_MS = 120_000;
const CATCH_VIOLATIONS = `document.addEventListener("securitypolicyviolation", (event) => {
  console.error(event.violatedDirective + " refused " + event.blockedURI);
})`;

/** The reference of the interface in a browser. */
export class ReferenceFixture {
  readonly front: TestFront;
  readonly browser: Browser;

  private constructor(front: TestFront, browser: Browser) {
    this.front = front;
    this.browser = browser;
  }

  static async open(): Promise<ReferenceFixture> {
    const routes = allRoutes().filter(({ id }) => DOCUMENTS.includes(id));
    const front = await startFront({ routes });
    try {
      return new ReferenceFixture(front, await openChromium());
    } catch (error) {
      await front.stop();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.front.stop();
  }

  /** A page of the reference, with everything that it asked for, and what went wrong on it. */
  async page(query: string, width: number) {
    const asked: string[] = [];
    const wrong: string[] = [];
    const page = await this.browser.newPage({ viewport: { width, height: 900 } });
    page.setDefaultTimeout(DRAWN_MS);
    await page.addInitScript(CATCH_VIOLATIONS);
    page.on("request", (request) => asked.push(request.url()));
    page.on("pageerror", ({ message }) => wrong.push(message));
    page.on("console", (line) => {
      if (line.type() === "error") wrong.push(line.text());
    });
    await page.goto(`${this.front.base}/docs${query}`);
    await page.getByRole("heading", { name: "Voice session service" }).first().waitFor();
    return { page, asked, wrong };
  }

  /** Both documents at a width of so many pixels. */
  async expectDocuments(width: number): Promise<void> {
    for (const [query, texts] of [
      ["", ["OpenAPI 3.1.0", "Record and read", "Webhooks"]],
      ["?api=websockets", ["AsyncAPI 3.0.0", "Stream audio"]],
    ] as const) {
      const { page, asked, wrong } = await this.page(query, width);
      for (const text of texts) await page.getByText(text).first().waitFor({ state: "attached" });
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
      await expectNoAdverts(page);
      this.expectOwn(asked);
      expect(wrong).toEqual([]);
      await page.close();
    }
  }

  /** Nobody else was asked for anything. */
  expectOwn(asked: readonly string[]): void {
    const { origin } = new URL(this.front.base);
    const foreign = asked.filter(
      (url) => !url.startsWith(`${origin}/`) && !/^(data|blob):/.test(url),
    );
    expect(foreign).toEqual([]);
    expect(asked.length).toBeGreaterThan(2);
  }
}

async function expectNoAdverts(page: Page): Promise<void> {
  for (const text of ["Ask AI", "Open API Client", "Open in", "MCP", "Share", "Deploy"]) {
    expect(await page.getByText(text, { exact: true }).count(), text).toBe(0);
  }
}
