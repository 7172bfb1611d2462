import { randomUUID } from "node:crypto";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { FaultProxy } from "../support/fault-proxy.ts";
import { PageWalk } from "../support/page-walk.ts";
import { adminToken, call } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import {
  begin,
  CONVERSATION,
  COUNT_FILES,
  choose,
  NAME,
  offsetsOf,
  requestsOf,
  rowOf,
  signOut,
  slowDown,
} from "../support/upload-page.ts";
import { WholeService } from "../support/whole-service.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

describe("page uploads that are held up, over the whole service", () => {
  let service: WholeService;
  let account: WorkspaceOwner;
  let proxy: FaultProxy;
  let walk: PageWalk;

  beforeAll(async () => {
    service = WholeService.shared(inject("installation"));
    account = await newOwner(service);
    proxy = await FaultProxy.start("uploads", Number(new URL(service.ready.base_url).port));
    walk = await PageWalk.start(`http://127.0.0.1:${proxy.port}`);
  });
  afterEach(({ task }) => walk.explain(task));
  afterAll(async () => {
    await walk?.stop();
    await proxy?.stop();
  });

  async function signedIn(who: { email: string; password: string } = account): Promise<Page> {
    const page = await walk.newPerson();
    await walk.signIn(page, who);
    return page;
  }

  /** Somebody whom an administrator has just made an account, and nothing else. */
  async function newcomer(name: string) {
    const who = { email: `${randomUUID()}@example.org`, password: "correct horse battery staple" };
    const body = { ...who, name, role: "participant" };
    const token = await adminToken(service);
    const { status } = await call(service.api, "POST", "/users", { token, body });
    expect(status).toBe(201);
    return who;
  }

  async function titlesOf(token: string): Promise<string[]> {
    const { body } = await call<{ items: { title: string }[] }>(service.api, "GET", "/sessions", {
      token,
    });
    return body.items.map(({ title }) => title);
  }

  it("uploads: a workspace is made with the first look at Record, and who may not is told whom to ask", async () => {
    const page = await signedIn(await newcomer("Nils"));
    await page.route("**/api/workspaces", (route, request) => {
      if (request.method() !== "POST") return route.fallback();
      const headers = { "x-error-code": "forbidden" };
      return route.fulfill({ status: 403, headers, json: { success: false, message: "No." } });
    });
    const asks = page.getByText("Ask an administrator to invite you to one.");
    await page.getByRole("link", { name: "Record from this browser" }).click();
    await asks.waitFor();
    await walk.goTo(page, "/");
    await choose(page, "Upload files", CONVERSATION);
    await rowOf(page, NAME).getByText("Ask an administrator").waitFor();
    await page.unroute("**/api/workspaces");
    await page.getByRole("button", { name: `Try ${NAME} again` }).click();
    await rowOf(page, NAME).getByText("Uploaded").waitFor();
    await page.getByRole("link", { name: "Record", exact: true }).click();
    await page.getByRole("button", { name: "Start recording" }).waitFor();
    expect(await page.getByLabel("Workspace").locator("option").allTextContents()).toEqual([
      "Nils's workspace",
    ]);
    const other = await signedIn(await newcomer("Olga"));
    await other.getByRole("link", { name: "Pair a device" }).click();
    await other.getByLabel("Code on the device").waitFor();
    await other.getByRole("dialog").getByLabel("Workspace").selectOption("Olga's workspace");
  });

  it("uploads: one is paused, and goes on from the byte that the service has", async () => {
    const page = await signedIn();
    const offsets = offsetsOf(page);
    await begin(page);
    // By keyboard: the focus stays on the button, which does the opposite then.
    await page.getByRole("button", { name: `Pause the upload of ${NAME}` }).press("Enter");
    await rowOf(page, NAME).getByText("Paused").waitFor();
    await walk.inspect(page, "sessions-paused", { everywhere: true });
    offsets.length = 0;
    await slowDown(page, -1);
    const focused = await page.evaluate("document.activeElement.getAttribute('aria-label')");
    expect(focused).toBe(`Go on with the upload of ${NAME}`);
    await page.keyboard.press("Enter");
    await rowOf(page, NAME).getByText("Uploaded").waitFor();
    expect(Math.min(...offsets)).toBeGreaterThan(64 * 1024);
  });

  it("uploads: one whose session has ended while it was paused goes into another", async () => {
    const page = await signedIn();
    const made = requestsOf(page, "POST", /\/uploads$/);
    await begin(page);
    await page.getByRole("button", { name: `Pause the upload of ${NAME}` }).click();
    await rowOf(page, NAME).getByText("Paused").waitFor();
    const sessionId = /sessions\/([^/]+)\/uploads/.exec(made[0]?.url() ?? "")?.[1] ?? "";
    const { token } = account;
    const stop = await call(service.api, "POST", `/sessions/${sessionId}/stop`, { token });
    expect(stop.status).toBe(200);
    await slowDown(page, -1);
    await page.getByRole("button", { name: `Go on with the upload of ${NAME}` }).click();
    await page.getByText("is sent from the beginning").waitFor();
    await rowOf(page, NAME).getByText("Uploaded").waitFor();
    expect(made).toHaveLength(2);
    const status = async () =>
      (await call(service.api, "GET", `/sessions/${sessionId}`, { token })).status;
    await until(async () => (await status()) === 404, "the empty session to be deleted", 20_000);
  });

  it("uploads: without a network one waits, says so, and goes on by itself", async () => {
    const page = await signedIn();
    const offsets = offsetsOf(page);
    await begin(page);
    offsets.length = 0;
    const away = proxy.inflict({ kind: "refuse", ms: 8_000 });
    await rowOf(page, NAME).getByText("Waiting for the network").waitFor();
    await walk.inspect(page, "sessions-offline");
    await slowDown(page, -1);
    await away;
    await rowOf(page, NAME).getByText("Uploaded").waitFor();
    expect(Math.min(...offsets)).toBeGreaterThanOrEqual(64 * 1024);
  });

  it("uploads: of two tabs one sends, and the other goes on when it is closed", async () => {
    const page = await signedIn();
    await begin(page);
    const other = await page.context().newPage();
    await walk.goTo(other, "/");
    await other.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
    await other.locator(".session-row").first().waitFor();
    expect(await rowOf(other, NAME).count()).toBe(0);
    await page.close();
    await rowOf(other, NAME).getByText("Uploaded").waitFor();
  });

  it("uploads: only where the browser keeps nothing it warns before the page is left", async () => {
    const page = await signedIn();
    const warned: string[] = [];
    page.on("dialog", (dialog) => {
      warned.push(dialog.type());
      void dialog.accept();
    });
    await begin(page);
    await page.reload();
    await rowOf(page, NAME).waitFor();
    expect(warned).toEqual([]);
    await page.getByRole("button", { name: `Cancel the upload of ${NAME}` }).click();
    await rowOf(page, NAME).waitFor({ state: "detached" });
    await page.addInitScript("indexedDB.open = () => { throw new Error('There is no room.'); }");
    await page.reload();
    await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
    await begin(page);
    await page.reload();
    await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
    expect(warned).toEqual(["beforeunload"]);
    expect(await rowOf(page, NAME).count()).toBe(0);
  });

  it("uploads: somebody else in the same browser neither sees nor continues one", async () => {
    const page = await signedIn();
    const before = await titlesOf(account.token);
    await begin(page);
    await signOut(page);
    const other = await newOwner(service);
    await walk.signIn(page, other);
    const sent = requestsOf(page, "PATCH", /\/uploads\//);
    await page.getByRole("heading", { name: "Your first session" }).waitFor();
    expect(await page.getByText(NAME).count()).toBe(0);
    expect(await page.evaluate(COUNT_FILES)).toBe(0);
    await signOut(page);
    await walk.signIn(page, account);
    await rowOf(page, NAME).getByText("Choose the file again to go on").waitFor();
    expect(sent).toHaveLength(0);
    await page.getByRole("button", { name: `Cancel the upload of ${NAME}` }).click();
    await rowOf(page, NAME).waitFor({ state: "detached" });
    await until(
      async () => JSON.stringify(await titlesOf(account.token)) === JSON.stringify(before),
      "its session to be deleted",
      20_000,
    );
    expect(walk.errors).toEqual([]);
  });
});
