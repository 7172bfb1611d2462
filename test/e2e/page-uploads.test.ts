import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Page, Request } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { FaultProxy } from "../support/fault-proxy.ts";
import { makeWav } from "../support/make-wav.ts";
import { PageWalk } from "../support/page-walk.ts";
import { adminToken, call } from "../support/paired-device.ts";
import { soundBytes } from "../support/sound-files.ts";
import { until } from "../support/until.ts";
import { WholeService } from "../support/whole-service.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

/** 42 s of three voices, 1.3 MB. */
const CONVERSATION = join(import.meta.dirname, "../../deploy/demo/conversation.wav");
const NAME = "conversation.wav";
/** So slow that there is time to press something while the file goes. */
const SLOW = 120_000;

/** A file that is made in the page, as one that is dropped or pasted. */
interface Made {
  name: string;
  type: string;
  bytes: Uint8Array;
}

describe("page uploads over the whole service", () => {
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
  afterEach(async ({ task }) => {
    if (task.result?.state === "fail") await walk.shootAll(`failed-${task.id}`);
  });
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

  it("uploads: a first visit goes from an empty page to the words of a file", async () => {
    const page = await signedIn(await newcomer("Maria"));
    await page.getByRole("heading", { name: "Your first session" }).waitFor();
    for (const name of ["Record from this browser", "Pair a device"]) {
      await page.getByRole("link", { name }).waitFor();
    }
    await walk.inspect(page, "sessions-first-visit", { everywhere: true });
    await slowDown(page, 400_000);
    await choose(page, "Upload files", CONVERSATION);
    const row = rowOf(page, NAME);
    await row.getByText(/\d\d %/).waitFor();
    await walk.inspect(page, "sessions-uploading", { everywhere: true });
    await page.getByRole("link", { name: "Uploading 1 file" }).waitFor();
    // It goes on while one looks elsewhere.
    await page.getByRole("link", { name: "Devices", exact: true }).click();
    await page.getByRole("heading", { name: "Devices", level: 1 }).waitFor();
    await slowDown(page, -1);
    await page.getByRole("link", { name: "Uploading 1 file" }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Sessions", exact: true }).click();
    await row.getByText("Uploaded").waitFor();
    await page.locator(".session-row", { hasText: "conversation" }).waitFor();
    await page.locator(".session-facts", { hasText: "43 s" }).waitFor();
    await page.locator(".session-row", { hasText: "Maria's workspace" }).waitFor();
    await walk.inspect(page, "sessions-uploaded", { everywhere: true });
    await row.getByRole("link", { name: NAME }).click();
    await page.getByRole("heading", { name: "conversation", level: 1 }).waitFor();
    await page.getByText("Completed", { exact: true }).waitFor();
    await page
      .getByText(/hello everyone/i)
      .first()
      .waitFor();
    expect(walk.errors).toEqual([]);
  });

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

  it("uploads: two files are dropped at once, a third is pasted", async () => {
    const page = await signedIn();
    const one = { name: "first.wav", type: "audio/wav", bytes: makeWav({ frames: 16_000 }) };
    const two = { name: "second.mp4", type: "video/mp4", bytes: soundBytes("front.mp4") };
    const three = { name: "third.m4a", type: "audio/mp4", bytes: soundBytes("mono.m4a") };
    await hand(page, "dragover", [one, two]);
    await page.getByText("Drop audio or video files to upload them").waitFor();
    await walk.inspect(page, "sessions-drop");
    await hand(page, "drop", [one, two]);
    await hand(page, "paste", [three]);
    for (const { name } of [one, two, three]) {
      await rowOf(page, name).getByText("Uploaded").waitFor();
    }
    for (const title of ["first", "second", "third"]) {
      const session = page.locator(".session-row", { hasText: title });
      await session.getByText("Completed", { exact: true }).waitFor();
    }
    await page.getByRole("button", { name: "Take first.wav off this list" }).click();
    await rowOf(page, one.name).waitFor({ state: "detached" });
  });

  it("uploads: what holds no sound is refused before it is sent, and leaves no session", async () => {
    const page = await signedIn();
    await page.route("**/uploads", (route, request) => {
      if (request.method() !== "OPTIONS") return route.fallback();
      return route.fulfill({ status: 204, headers: { "tus-max-size": "2000000" } });
    });
    const before = await titlesOf(account.token);
    const sent = requestsOf(page, "POST", /\/api\/sessions$/);
    await hand(page, "drop", [
      { name: "minutes.pdf", type: "application/pdf", bytes: Buffer.from("%PDF-1.7 and so on") },
      { name: "nothing.wav", type: "audio/wav", bytes: new Uint8Array() },
      { name: "huge.wav", type: "audio/wav", bytes: makeWav({ frames: 1_100_000 }) },
    ]);
    await rowOf(page, "minutes.pdf").getByText("This is a PDF document, without sound.").waitFor();
    await rowOf(page, "nothing.wav").getByText("The file is empty.").waitFor();
    await rowOf(page, "huge.wav").getByText("The file is too large: it has 2.2 MB").waitFor();
    expect(sent).toHaveLength(0);
    // A kind that only the service knows: it says so after the first piece.
    const tune = Buffer.concat([
      Buffer.from("MThd\0\0\0\x06\0\0\0\x01\0\x60"),
      Buffer.alloc(9_000),
    ]);
    await hand(page, "drop", [{ name: "tune.mid", type: "audio/midi", bytes: tune }]);
    await rowOf(page, "tune.mid").getByText("The service cannot read this kind").waitFor();
    await walk.inspect(page, "sessions-refused", { everywhere: true });
    await until(
      async () => JSON.stringify(await titlesOf(account.token)) === JSON.stringify(before),
      "the empty session to be deleted",
      20_000,
    );
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

  it("uploads: a page that is loaded again goes on by itself, or asks for the file", async () => {
    const page = await signedIn();
    const offsets = offsetsOf(page);
    await begin(page);
    offsets.length = 0;
    await page.reload();
    await rowOf(page, NAME)
      .getByText(/\d\d %/)
      .waitFor();
    await until(() => offsets.length > 0, "it to go on", 30_000);
    expect(Math.min(...offsets)).toBeGreaterThanOrEqual(64 * 1024);
    // As with a file that is too large for the browser to keep.
    await page.getByRole("button", { name: `Pause the upload of ${NAME}` }).click();
    await page.evaluate(FORGET_FILES);
    await page.reload();
    await rowOf(page, NAME).getByText("Choose the file again to go on").waitFor();
    await walk.inspect(page, "sessions-choose-again", { everywhere: true });
    offsets.length = 0;
    await slowDown(page, -1);
    await choose(page, `Choose the file again: ${NAME}`, CONVERSATION);
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

function rowOf(page: Page, name: string) {
  return page.locator(".upload-row", { hasText: name });
}

/** Chooses a file in the dialog that a button opens. */
async function choose(page: Page, button: string, file: string): Promise<void> {
  const [dialog] = await Promise.all([
    page.waitForEvent("filechooser"),
    page.getByRole("button", { name: button }).first().click(),
  ]);
  await dialog.setFiles(file);
}

/** Begins to upload the conversation, slowly, until the service has a part of it. */
async function begin(page: Page): Promise<void> {
  await slowDown(page, SLOW);
  await choose(page, "Upload", CONVERSATION);
  await rowOf(page, NAME)
    .getByText(/[2-9]\d %/)
    .waitFor();
}

/** How many bytes a second the page may send; -1 for as many as it can. */
async function slowDown(page: Page, uploadThroughput: number): Promise<void> {
  const known = debuggers.get(page) ?? (await page.context().newCDPSession(page));
  debuggers.set(page, known);
  await known.send("Network.enable");
  const others = { offline: false, latency: 0, downloadThroughput: -1 };
  await known.send("Network.emulateNetworkConditions", { ...others, uploadThroughput });
}

const debuggers = new WeakMap<
  Page,
  Awaited<ReturnType<ReturnType<Page["context"]>["newCDPSession"]>>
>();

function requestsOf(page: Page, method: string, address: RegExp): Request[] {
  const found: Request[] = [];
  page.on("request", (request) => {
    if (request.method() === method && address.test(request.url())) found.push(request);
  });
  return found;
}

/** From which bytes on the page sends, from now on. */
function offsetsOf(page: Page): number[] {
  const found: number[] = [];
  page.on("request", (request) => {
    if (request.method() === "PATCH") found.push(Number(request.headers()["upload-offset"]));
  });
  return found;
}

/** Drops or pastes files as somebody does with a mouse or a keyboard. */
async function hand(page: Page, event: string, files: readonly Made[]): Promise<void> {
  const made = files.map(({ bytes, ...file }) => ({
    ...file,
    bytes: Buffer.from(bytes).toString("base64"),
  }));
  await page.evaluate(`(${HAND})(${JSON.stringify({ event, files: made })})`);
}

const HAND = `({ event, files }) => {
  const brought = new DataTransfer();
  for (const { name, type, bytes } of files) {
    const content = Uint8Array.from(atob(bytes), (each) => each.charCodeAt(0));
    brought.items.add(new File([content], name, { type }));
  }
  const options = { bubbles: true, cancelable: true };
  const made = event === "paste"
    ? new ClipboardEvent(event, { ...options, clipboardData: brought })
    : new DragEvent(event, { ...options, dataTransfer: brought });
  document.querySelector("main").dispatchEvent(made);
}`;

const inFiles = (what: string) => `new Promise((resolve, reject) => {
  const opening = indexedDB.open("voice-uploads");
  opening.onerror = () => reject(opening.error);
  opening.onsuccess = () => {
    const asked = opening.result.transaction(["files"], "readwrite").objectStore("files").${what};
    asked.onsuccess = () => { opening.result.close(); resolve(asked.result); };
  };
})`;
const FORGET_FILES = inFiles("clear()");
const COUNT_FILES = inFiles("count()");

async function signOut(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Your account" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
}
