import { randomUUID } from "node:crypto";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { FaultProxy } from "../support/fault-proxy.ts";
import { makeWav } from "../support/make-wav.ts";
import { PageWalk } from "../support/page-walk.ts";
import { adminToken, call } from "../support/paired-device.ts";
import { soundBytes } from "../support/sound-files.ts";
import { until } from "../support/until.ts";
import {
  begin,
  CONVERSATION,
  choose,
  FORGET_FILES,
  hand,
  NAME,
  offsetsOf,
  requestsOf,
  rowOf,
  slowDown,
} from "../support/upload-page.ts";
import { WholeService } from "../support/whole-service.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

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
  afterEach(({ task }) => walk.explain(task, service));
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
    // Slow enough for the pictures of a busy machine: half a minute, which is cut short below.
    await slowDown(page, 40_000);
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

  it("uploads: their language is chosen where several can be read, and the service is told", async () => {
    const page = await signedIn();
    expect(await page.getByLabel("Language of what is uploaded").count()).toBe(0);
    // As with a second engine, which is gone before the file comes.
    await page.route("**/api/engines", async (route) => {
      const answer = await route.fetch();
      const { items, ...rest } = (await answer.json()) as { items: object[] };
      const more = { ...items[0], name: "other", languages: ["de"] };
      await route.fulfill({ json: { ...rest, items: [...items, more] } });
    });
    await page.reload();
    await page.getByLabel("Language of what is uploaded").selectOption("Language: German");
    await walk.inspect(page, "sessions-language");
    const bytes = makeWav({ frames: 16_000 });
    await hand(page, "drop", [{ name: "gruss.wav", type: "audio/wav", bytes }]);
    await rowOf(page, "gruss.wav").getByText('No engine here reads "de".').waitFor();
    await page.getByRole("link", { name: "Record", exact: true }).click();
    await page.getByLabel("Language", { exact: true }).waitFor();
    await walk.inspect(page, "record-language");
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
});
