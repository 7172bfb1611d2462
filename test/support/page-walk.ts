import { mkdirSync } from "node:fs";
import { join } from "node:path";
import axe from "axe-core";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { expect, type RunnerTaskResult } from "vitest";
import { openChromium } from "./chromium.ts";
import type { WholeService } from "./whole-service.ts";

/**
 * With `PAGE_SHOTS=folder` every view that a walk inspects is photographed there; with
 * `PAGE_SHOTS_ONLY=name,name` these alone, as those of the README.
 */
const SHOTS = process.env.PAGE_SHOTS;
const ONLY = process.env.PAGE_SHOTS_ONLY?.split(",");
const PHONE = { width: 390, height: 844 };
const SMALL_PHONE = { width: 320, height: 640 };
/** So high that every line of the shipped conversation is drawn. */
const DESKTOP = { width: 1280, height: 1400 };
const PICTURE = { width: 1280, height: 800 };
/** How long a step may take; nobody waits so long where all is well. */
const STEP_MS = 60_000;
/** What a browser tells of connections that are cut, or answers that are refusals, on purpose. */
const EXPECTED = /Failed to load resource|WebSocket connection/;

interface Person {
  readonly email: string;
  readonly password: string;
}

/** People at the page of one service, each with a browser of their own. */
export class PageWalk {
  /** What the page itself did wrong, for anybody: errors of scripts, and of the content policy. */
  readonly errors: string[] = [];
  readonly #browser: Browser;
  readonly #base: string;
  readonly #contexts: BrowserContext[] = [];

  private constructor(browser: Browser, base: string) {
    this.#browser = browser;
    this.#base = base;
  }

  /** At `base`, without a slash at its end; `options` are Chromium's. */
  static async start(base: string, options: readonly string[] = []): Promise<PageWalk> {
    return new PageWalk(await openChromium(options), base);
  }

  async stop(): Promise<void> {
    await this.#browser.close();
  }

  /** The page of somebody who has never been here. */
  async newPerson(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await this.#browser.newContext({ viewport: DESKTOP, ...options });
    this.#contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(STEP_MS);
    page.on("pageerror", (error) => this.errors.push(error.stack ?? error.message));
    page.on("console", (line) => {
      if (line.type() === "error" && !EXPECTED.test(line.text())) this.errors.push(line.text());
    });
    return page;
  }

  /** Goes to a route of the page, such as `/devices`. */
  async goTo(page: Page, route: string): Promise<void> {
    await page.goto(`${this.#base}/#${route}`);
  }

  /** Signs in with the form, and waits for the sessions. */
  async signIn(page: Page, person: Person): Promise<void> {
    await this.goTo(page, "/");
    await page.getByLabel("E-mail").fill(person.email);
    await page.getByLabel("Password").fill(person.password);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
  }

  /**
   * Fails for what is serious to people with disabilities, in the dark at a desk and in the light on
   * a phone, and for a page that is wider than a phone. Takes the view's pictures. `everywhere`: in
   * both looks, and on a very small phone as well.
   */
  async inspect(page: Page, name: string, { everywhere = false } = {}): Promise<void> {
    const usual = [
      [DESKTOP, "dark"],
      [PHONE, "light"],
    ] as const;
    const others = [
      [DESKTOP, "light"],
      [SMALL_PHONE, "dark"],
      [SMALL_PHONE, "light"],
    ] as const;
    for (const [size, colorScheme] of everywhere ? [...others, ...usual] : usual) {
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme });
      expect([name, size.width, colorScheme, await seriousOf(page)]).toEqual([
        name,
        size.width,
        colorScheme,
        [],
      ]);
      const wider = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
      expect([name, size.width, wider]).toEqual([name, size.width, false]);
      if (everywhere) await this.shoot(page, `${name}-${size.width}-${colorScheme}`);
    }
    await this.shoot(page, `${name}-phone`);
    if (SHOTS !== undefined) await page.setViewportSize(PICTURE);
    await this.shoot(page, name);
    await page.setViewportSize(DESKTOP);
  }

  /**
   * What axe finds at all, however small, at each width and in both looks, and where the page is
   * wider than the window; each as `width look rule place`.
   */
  async flawsOf(page: Page, widths: readonly number[]): Promise<readonly string[]> {
    const flaws: string[] = [];
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        for (const { id, nodes } of await violationsOf(page)) {
          flaws.push(`${width} ${colorScheme} ${id} ${nodes[0]?.html}`);
        }
      }
      const wider = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
      if (wider === true) flaws.push(`${width} wider than the window`);
    }
    await page.setViewportSize(DESKTOP);
    return flaws;
  }

  /**
   * After a step that failed: adds what the service complained of and what everybody's page showed to its
   * error, and photographs it.
   */
  async explain(
    { id, result }: { id: string; result?: RunnerTaskResult },
    service?: Pick<WholeService, "complaints">,
  ): Promise<void> {
    if (result?.state !== "fail") return;
    const [error] = result.errors ?? [];
    if (error && service)
      error.message += `\nThe service said:\n${(await service.complaints()).join("\n")}`;
    for (const [n, context] of this.#contexts.entries()) {
      for (const page of context.pages()) {
        const text = String(await page.evaluate("document.body.innerText").catch(String));
        if (error) error.message += `\nThe page of person ${n + 1}:\n${text.slice(0, 4_000)}`;
        await this.shoot(page, `failed-${id}-person-${n + 1}`);
      }
    }
  }

  /** Photographs the page as it is, where pictures are wanted. */
  async shoot(page: Page, name: string): Promise<void> {
    if (SHOTS === undefined || ONLY?.includes(name) === false) return;
    mkdirSync(SHOTS, { recursive: true });
    await page.screenshot({ path: join(SHOTS, `${name}.png`), animations: "disabled" });
  }
}

async function violationsOf(page: Page): Promise<axe.Result[]> {
  // The policy refuses scripts of elsewhere; what the debugger evaluates is not the page's.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  const { violations } = (await page.evaluate(
    "axe.run({ resultTypes: ['violations'] })",
  )) as axe.AxeResults;
  return violations;
}

/** Rules of axe that are broken seriously, each with the first place. */
async function seriousOf(page: Page): Promise<unknown[]> {
  return (await violationsOf(page))
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => [id, nodes[0]?.html, nodes[0]?.failureSummary]);
}
