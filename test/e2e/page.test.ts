import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { AudioSender } from "../../src/cli/device/audio-sender.ts";
import { FaultProxy } from "../support/fault-proxy.ts";
import { PageWalk } from "../support/page-walk.ts";
import { call, conversationPcm, PairedDevice } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { WholeService } from "../support/whole-service.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

const CONVERSATION = join(import.meta.dirname, "../../deploy/demo/conversation.wav");
/** Forced disconnects while one reads along; `PAGE_CUTS=50 npm test -- e2e -- test/e2e/page.test.ts`. */
const CUTS = Number(process.env.PAGE_CUTS ?? 5);
const PCM = { encoding: "pcm_s16le", sample_rate: 16_000, channels: 1 } as const;
const TITLE = "Launch of the shop";

describe("page over the whole service", () => {
  let service: WholeService;
  let account: WorkspaceOwner;
  let proxy: FaultProxy;
  let walk: PageWalk;
  let device: PairedDevice;
  let owner: Page;
  let guest: Page;

  beforeAll(async () => {
    service = WholeService.shared(inject("installation"));
    account = await newOwner(service);
    proxy = await FaultProxy.start("page", Number(new URL(service.ready.base_url).port));
    walk = await PageWalk.start(`http://127.0.0.1:${proxy.port}`, [
      "--use-fake-ui-for-media-stream",
      "--use-fake-device-for-media-stream",
      `--use-file-for-fake-audio-capture=${CONVERSATION}`,
    ]);
    device = await PairedDevice.pair(service, account);
  });
  afterEach(({ task }) => walk.explain(task, service));
  afterAll(async () => {
    await walk?.stop();
    await proxy?.stop();
  });

  it("page: signs in, and tells who has nothing yet how to begin", async () => {
    owner = await walk.newPerson();
    await walk.goTo(owner, "/");
    await owner.getByText("Running, version").waitFor();
    await walk.inspect(owner, "sign-in");
    await walk.signIn(owner, account);
    await owner.getByRole("link", { name: "Record from this browser" }).waitFor();
    await walk.inspect(owner, "sessions-empty");
  });

  it("page: words appear while they are spoken, and are those of the record after every break", async () => {
    await device.start();
    await owner.getByRole("heading", { name: "Live now" }).waitFor();
    await walk.inspect(owner, "sessions-live");
    const connected = socketsOf(owner);
    await owner.getByRole("link", { name: /^Test/ }).click();
    await owner.getByText("Listening").waitFor();
    await owner.getByRole("button", { name: "More" }).click();
    await owner.getByRole("button", { name: "Rename" }).click();
    await owner.getByLabel("Title").fill(TITLE);
    await owner.getByLabel("Tags").fill("board, launch");
    await owner.getByRole("button", { name: "Save", exact: true }).click();
    await owner.getByRole("heading", { name: TITLE, level: 1 }).waitFor();
    // A second person comes by the guest link, with a name and without an account.
    guest = await walk.newPerson();
    const alsoConnected = socketsOf(guest);
    await walk.goTo(guest, `/sessions/${device.sessionId}`);
    await guest.locator('input[name="name"]:focus').waitFor();
    await guest.keyboard.type("Greta");
    await guest.keyboard.press("Enter");
    await guest.getByRole("heading", { name: TITLE, level: 1 }).waitFor();
    await owner.getByText("Greta reads along as a guest.").waitFor();
    const stream = streamOf(service, device);
    const streamed = stream.run();
    const pcm = conversationPcm();
    const size = Math.ceil(pcm.length / (CUTS + 1) / 2) * 2;
    for (let n = 0; n <= CUTS; n += 1) {
      stream.push(pcm.subarray(n * size, (n + 1) * size));
      if (n === CUTS) break;
      await until(() => connected.now > 0 && alsoConnected.now > 0, "both to follow", 60_000);
      await proxy.inflict({ kind: "cut", ms: 5_000 });
      await until(() => connected.cut > n && alsoConnected.cut > n, "both to be cut", 10_000);
    }
    await owner.getByText("hello everyone").first().waitFor();
    await walk.inspect(owner, "session-streamed");
    stream.end();
    await streamed;
    await device.stop(-1);
    await device.completed();
    await owner.getByText("Completed", { exact: true }).waitFor();
    const stored = (await device.segments()).map(({ text }) => plain(text));
    expect(stored.length).toBeGreaterThan(8);
    for (const page of [owner, guest]) {
      await until(
        async () => JSON.stringify(await shown(page)) === JSON.stringify(stored),
        "the page to show what is stored",
        60_000,
      ).catch(async () => expect(await shown(page)).toEqual(stored));
    }
    expect(walk.errors).toEqual([]);
  });

  it("page: a guest claims a voice, its owner names another and gives a third to a member", async () => {
    const claim = async () => {
      await voice(guest, "Speaker 1").click();
      await guest.getByRole("button", { name: "This is me" }).click();
      await voice(owner, "Greta").waitFor();
    };
    await claim();
    await voice(owner, "Greta").click();
    await owner.getByRole("button", { name: "This is not theirs" }).click();
    await claim();
    // Names are strangers' text: what looks like markup is shown as it was typed.
    for (const name of ["<b>Robert</b>", "Robert"]) {
      await owner
        .locator(".speaker", { hasText: /Speaker 2|Robert/ })
        .first()
        .click();
      await owner.getByLabel("Call this voice").fill(name);
      if (name === "Robert") await walk.inspect(owner, "session-speaker");
      await owner.getByRole("button", { name: "Save the name" }).click();
      await voice(guest, name).waitFor();
    }
    await voice(owner, "Speaker 3").click();
    await owner.getByRole("button", { name: "Assign to a member" }).click();
    const members = owner.locator(".voice-options button");
    const member = ((await members.first().textContent()) ?? "").replace(" (you)", "");
    await members.first().click();
    await owner.getByText(`The voice is that of ${member}.`).waitFor();
    await voice(guest, member).waitFor();
    const claims = await device.get<{ items: { speaker_label: string; source?: string }[] }>(
      "/speakers",
    );
    expect(claims.body.items).toMatchObject([
      { speaker_label: "S1", source: "self_claim" },
      { speaker_label: "S2" },
      { speaker_label: "S3", source: "moderator_assignment" },
    ]);
    expect(await guest.getByRole("button", { name: "Play", exact: true }).count()).toBe(0);
    await walk.inspect(guest, "session-guest");
  });

  it("page: a guest who loads the page again is the same guest", async () => {
    const members = () => device.get<{ items: { user_id: string }[] }>("/members");
    const before = (await members()).body.items;
    await guest.reload();
    await guest.getByRole("heading", { name: TITLE, level: 1 }).waitFor();
    await voice(guest, "Robert").waitFor();
    expect((await members()).body.items).toEqual(before);
    await voice(guest, "Greta").click();
    await guest.getByRole("button", { name: "This is not me" }).waitFor();
    await guest.keyboard.press("Escape");
  });

  it("page: a line is corrected for everybody", async () => {
    await owner.getByRole("button", { name: "Correct the line at 00:00" }).click();
    await owner.getByLabel("The line's words").fill("hello everybody");
    await walk.inspect(owner, "session-edit");
    await owner.getByRole("button", { name: "Save", exact: true }).click();
    await guest.getByText("hello everybody").first().waitFor();
    expect((await device.segments())[0]?.text).toBe("hello everybody");
  });

  it("page: corrections go on from line to line, and are undone and redone", async () => {
    const texts = async () => (await device.segments()).map(({ text }) => text);
    const before = await texts();
    await owner.getByRole("button", { name: "Correct the line at 00:00" }).click();
    const field = owner.getByLabel("The line's words");
    expect(await field.inputValue()).toBe(before[0]);
    await field.fill("Hello to everybody.");
    await owner.keyboard.press("Tab");
    await owner.locator(".line-editor textarea:focus").waitFor();
    await until(async () => (await field.inputValue()) === before[1], "the next line's words");
    await owner.keyboard.press("Escape");
    expect(await texts()).toEqual(["Hello to everybody.", ...before.slice(1)]);
    await owner.getByRole("button", { name: "Undo the correction" }).click();
    await until(async () => (await texts())[0] === before[0], "the correction to be undone");
    await owner.getByRole("heading", { level: 1 }).focus();
    await owner.keyboard.press("Control+Shift+z");
    await until(async () => (await texts())[0] === "Hello to everybody.", "it to be done again");
    await owner.keyboard.press("Control+z");
    await until(async () => (await texts())[0] === before[0], "it to be undone again");
    const reports = owner.locator(".toasts > div", { hasText: /Undone|Done again/ });
    expect(await reports.count()).toBeLessThanOrEqual(1);
  });

  it("page: an answer names its moments, each leads there, and a word plays from it", async () => {
    await owner.getByRole("tab", { name: "Ask" }).click();
    await owner.getByLabel("Ask about this session").fill("When will we be ready?");
    await owner.getByRole("button", { name: "Ask", exact: true }).click();
    const moment = owner.locator(".asked .moment").first();
    await moment.waitFor();
    await walk.inspect(owner, "session-ask");
    const said = plain((await moment.locator("span").last().textContent()) ?? "");
    await moment.click();
    const row = owner.locator('.transcript-row[data-shown="true"] .line-words');
    const isShown = async () => plain((await row.textContent()) ?? "").includes(said);
    await until(isShown, "the line of the moment to be shown", 20_000);
    await row.locator("span").nth(2).click();
    await owner.getByRole("button", { name: "Pause" }).waitFor();
    await owner.locator("[data-now]").first().waitFor();
    await owner.getByRole("button", { name: "Pause" }).click();
    // They are found without being asked for, as the summary is made.
    await owner.getByRole("button", { name: "Chapters" }).click();
    const chapter = owner.locator(".menu-list .chapter").first();
    await chapter.waitFor();
    await walk.inspect(owner, "session-chapters");
    await chapter.click();
    await owner.getByText("00:00 / 00:42").waitFor();
    // While nobody is there to answer one is asked again by itself; one that failed by one press, and the
    // focus stays with it. One without an answer leads to where its words were said.
    const refusal = { success: false, message: "Nobody answers questions at the moment." };
    const refuse = (waits: string) =>
      owner.route(
        "**/hirag-query",
        (to) => to.fulfill({ status: 503, json: refusal, headers: { "retry-after": waits } }),
        { times: 1 },
      );
    await refuse("3");
    await owner.getByLabel("Ask about this session").fill("When will we be ready?");
    await owner.getByRole("button", { name: "Ask", exact: true }).click();
    await owner.getByText(`${refusal.message} It is asked again …`).waitFor();
    await owner.locator(".asked").first().locator(".moment").first().waitFor();
    // Words that were not heard clearly are shown as in the transcript.
    const unclear = { answer: "To [Tunisia and?] back.", tools_used: [], citations: [] };
    await owner.route("**/hirag-query", (to) => to.fulfill({ json: unclear }), { times: 1 });
    await owner.getByLabel("Ask about this session").fill("Where to?");
    await owner.getByRole("button", { name: "Ask", exact: true }).click();
    await owner.locator(".answer [data-unclear]", { hasText: "Tunisia and" }).waitFor();
    expect(await owner.locator(".answer").first().textContent()).toBe("To Tunisia and back.");
    await refuse("60");
    await owner.getByLabel("Ask about this session").fill("What is the price limit?");
    await owner.getByRole("button", { name: "Ask", exact: true }).click();
    await owner.getByText(refusal.message).waitFor();
    await walk.inspect(owner, "session-ask-failed");
    await owner.getByRole("button", { name: "Ask again" }).press("Enter");
    await owner.locator(".asked h3:focus", { hasText: "What is the price limit?" }).waitFor();
    await owner.getByText("Said all the same:").waitFor();
    await walk.inspect(owner, "session-ask-nothing");
    await owner.getByRole("button", { name: "price", exact: true }).click();
    await owner.getByText("1 of 1", { exact: true }).waitFor();
    await owner.keyboard.press("Escape");
  });

  it("page: words are found by the keyboard, in the text and on the sound, and keys are listed", async () => {
    // On a phone the words take the place of what is shown.
    await owner.getByRole("tab", { name: "Ask" }).click();
    await owner.getByRole("heading", { level: 1 }).focus();
    await owner.keyboard.press("/");
    await owner.locator(".find-bar input:focus").waitFor();
    await owner.keyboard.type("report");
    await owner.getByText("1 of 2", { exact: true }).waitFor();
    const current = owner.locator('[data-hit="current"]');
    expect(plain((await current.textContent()) ?? "")).toContain("report");
    const first = await owner.locator(".player-clock").textContent();
    await owner.keyboard.press("Enter");
    await owner.getByText("2 of 2", { exact: true }).waitFor();
    expect(await owner.locator(".player-clock").textContent()).not.toBe(first);
    await walk.inspect(owner, "session-find");
    await owner.locator(".find-bar input:focus").waitFor();
    await owner.keyboard.type(" zanzibar");
    await owner.getByText("Not found", { exact: true }).waitFor();
    await owner.keyboard.press("Escape");
    expect(await owner.locator("[data-hit]").count()).toBe(0);
    const shown = owner.locator('.transcript-row[data-shown="true"]');
    const before = await shown.getAttribute("data-index");
    await owner.keyboard.press("k");
    await until(async () => (await shown.getAttribute("data-index")) !== before, "another line");
    await owner.keyboard.press("?");
    await owner.getByRole("dialog", { name: "Keys" }).waitFor();
    await walk.inspect(owner, "session-keys");
    await owner.keyboard.press("Escape");
  });

  it("page: the sound takes the colours of the look that the system changes to", async () => {
    const drawn = () =>
      owner.evaluate<string>("document.querySelector('.waveform canvas').toDataURL()");
    await owner.emulateMedia({ colorScheme: "light" });
    const light = await drawn();
    await owner.emulateMedia({ colorScheme: "dark" });
    await until(async () => (await drawn()) !== light, "the bars of the dark", 10_000);
    await owner.emulateMedia({ colorScheme: "light" });
    await until(async () => (await drawn()) === light, "the bars of the light", 10_000);
  });

  it("page: sums up, shows who spoke how much, and takes a concern", async () => {
    // They were made without anybody asking.
    await owner.getByRole("tab", { name: "Notes" }).click();
    await owner.locator(".session-side .note-link:visible").first().waitFor();
    await walk.inspect(owner, "session-notes", { everywhere: true });
    await owner.getByRole("tab", { name: "Speakers" }).click();
    await owner.locator(".shares li").nth(2).waitFor();
    await walk.inspect(owner, "session-speakers");
    await guest.getByRole("tab", { name: "Concerns" }).click();
    await guest.getByLabel("What is the matter?").fill("<img src=x> is not what I said");
    await guest.getByRole("button", { name: "Raise a concern" }).click();
    await owner.getByRole("tab", { name: "Concerns" }).click();
    await owner.getByText("<img src=x> is not what I said").waitFor();
    await walk.inspect(owner, "session-concerns");
    await owner.getByRole("button", { name: "Settle it" }).click();
    await owner.getByLabel("What was done").fill("It was corrected.");
    await walk.inspect(owner, "session-concern-settle");
    await owner.getByRole("dialog").getByRole("button", { name: "Settle it" }).click();
    await owner.getByRole("button", { name: "Open it again" }).waitFor();
    await owner.locator(".concern").getByText("It was corrected.").waitFor();
  });

  it("page: exports what is stored", async () => {
    await owner.getByRole("button", { name: "Export" }).click();
    const [download] = await Promise.all([
      owner.waitForEvent("download"),
      owner.getByRole("button", { name: "Plain text" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`${TITLE}.txt`);
    const { token } = device;
    const path = `/sessions/${device.sessionId}/transcript?format=txt`;
    const stored = await call<string>(service.api, "GET", path, { token });
    expect(readFileSync(await download.path(), "utf8")).toBe(stored.body);
  });

  it("page: the words are copied, and printed on one page", async () => {
    const { origin } = new URL(owner.url());
    await owner.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin });
    const { token } = device;
    for (const [format, label] of [
      ["txt", "Copy as text"],
      ["md", "Copy as Markdown"],
    ] as const) {
      await owner.getByRole("button", { name: "Export" }).click();
      await owner.getByRole("button", { name: label }).click();
      const path = `/sessions/${device.sessionId}/transcript?format=${format}`;
      const { body } = await call<string>(service.api, "GET", path, { token });
      const copied = () => owner.evaluate<string>("navigator.clipboard.readText()");
      await until(async () => (await copied()) === body, `the ${format} to be copied`);
    }
    await owner.getByRole("button", { name: "Export" }).click();
    await owner.getByRole("link", { name: "Print or PDF" }).click();
    await owner.locator(".printed-turn").first().waitFor();
    const printed = plain((await owner.locator("main").textContent()) ?? "");
    for (const { text } of await device.segments()) expect(printed).toContain(plain(text));
    await walk.inspect(owner, "session-print");
    await owner.emulateMedia({ media: "print" });
    expect(await owner.getByRole("button", { name: "Print" }).count()).toBe(0);
    await owner.emulateMedia({ media: null });
    await owner.getByRole("link", { name: "Back" }).click();
    await owner.locator(".transcript-row").first().waitFor();
  });

  it("page: a hit of the search opens its session at the moment", async () => {
    await owner.getByRole("link", { name: "Sessions", exact: true }).click();
    await owner.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
    await owner.keyboard.press("/");
    await owner.locator("main input[type=search]:focus").waitFor();
    await owner.keyboard.type("report wednesday");
    await owner.keyboard.press("Enter");
    await owner.locator(".hit mark").first().waitFor();
    await owner.getByText(/^\d moments?, 0 sessions of this title$/).waitFor();
    await walk.inspect(owner, "search", { everywhere: true });
    await owner.getByRole("heading", { level: 1 }).focus();
    await owner.keyboard.press("j");
    await owner.keyboard.press("Enter");
    await owner
      .locator('.transcript-row[data-shown="true"]')
      .getByText(/report/i)
      .first()
      .waitFor();
  });

  it("page: sessions are found by who spoke, when, and what they are; the address keeps it", async () => {
    await owner.getByRole("link", { name: "Sessions", exact: true }).click();
    await owner.getByRole("link", { name: "Filter the sessions" }).click();
    await owner.getByText("1 session", { exact: true }).waitFor();
    const state = owner.locator(".search-filters label", { hasText: /^State/ }).locator("select");
    await owner.getByLabel("Speaker", { exact: true }).fill("rob");
    await owner.getByLabel("Tag", { exact: true }).fill("launch");
    await owner.keyboard.press("Enter");
    await owner.getByRole("button", { name: "Remove the filter Tag: launch" }).waitFor();
    await state.selectOption({ label: "Completed" });
    await owner.getByLabel("From", { exact: true }).fill("2020-01-31");
    await owner.getByRole("button", { name: "Remove the filter From 2020-01-31" }).waitFor();
    await owner.getByRole("link", { name: TITLE }).waitFor();
    await walk.inspect(owner, "search-filtered");
    await state.selectOption({ label: "Failed" });
    await owner.getByRole("heading", { name: "No session fits" }).waitFor();
    await walk.inspect(owner, "search-nothing");
    const same = await owner.context().newPage();
    await same.goto(owner.url());
    await same.getByRole("button", { name: "Without “State: Failed”" }).click();
    await same.getByRole("link", { name: TITLE }).waitFor();
    await same.close();
    await owner.goBack();
    await owner.getByRole("link", { name: TITLE }).waitFor();
    expect(await state.inputValue()).toBe("completed");
    await owner.getByLabel("Until", { exact: true }).fill("2020-02-01");
    await owner.getByRole("heading", { name: "No session fits" }).waitFor();
    await owner.getByRole("button", { name: "Clear all" }).click();
    await owner.getByRole("link", { name: TITLE }).click();
    await owner.getByRole("heading", { name: TITLE, level: 1 }).waitFor();
  });

  it("page: loaded again it goes on where it was, and after a sign-out it does not", async () => {
    const { hash } = new URL(owner.url());
    await owner.reload();
    await owner.getByRole("heading", { name: TITLE, level: 1 }).waitFor();
    expect(new URL(owner.url()).hash).toBe(hash);
    const other = await owner.context().newPage();
    await walk.goTo(other, "/");
    await other.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
    await other.getByRole("button", { name: "Your account" }).click();
    await other.getByRole("button", { name: "Sign out" }).click();
    await other.reload();
    await other.getByRole("heading", { name: "Sign in" }).waitFor();
    await other.close();
    const leftCookies = () => owner.context().cookies();
    await expect.poll(leftCookies, { timeout: 10_000 }).toEqual([]);
    await owner.getByRole("heading", { name: "Please sign in again" }).waitFor();
    await owner.getByLabel("Password").fill(account.password);
    await owner.getByRole("button", { name: "Sign in", exact: true }).click();
    await owner.getByRole("button", { name: "Export" }).waitFor();
  });

  it("page: when a sign-in has ended it asks again over the open view, which stays", async () => {
    const visitor = await walk.newPerson();
    await walk.goTo(visitor, "/");
    const { email, password } = account;
    await visitor.getByLabel("E-mail").fill(email);
    await visitor.getByLabel("Password").fill(password);
    await visitor.getByLabel("Stay signed in").uncheck();
    const [login] = await Promise.all([
      visitor.waitForResponse((answer) => answer.url().endsWith("/api/auth/login")),
      visitor.getByRole("button", { name: "Sign in", exact: true }).click(),
    ]);
    await visitor.getByRole("link", { name: TITLE }).click();
    await visitor.getByRole("tab", { name: "Ask" }).click();
    await visitor.getByLabel("Ask about this session").fill("What is the price?");
    const { token } = (await login.json()) as { token: string };
    await call(service.api, "POST", "/auth/logout", { token });
    await visitor.getByRole("heading", { name: "Please sign in again" }).waitFor();
    await walk.inspect(visitor, "sign-in-again");
    await visitor.getByLabel("Password").fill(password);
    await visitor.getByRole("button", { name: "Sign in", exact: true }).click();
    await visitor.getByRole("heading", { name: "Please sign in again" }).waitFor({
      state: "detached",
    });
    expect(await visitor.getByLabel("Ask about this session").inputValue()).toBe(
      "What is the price?",
    );
    await visitor.getByRole("button", { name: "Ask", exact: true }).click();
    await visitor.locator(".asked .moment").first().waitFor();
  });

  it("page: records from the browser's microphone, as one device that is found again", async () => {
    const recorder = await walk.newPerson({ permissions: ["microphone"] });
    await walk.signIn(recorder, account);
    for (const title of ["Interview with Ada", "Stand-up"]) {
      await recorder.getByRole("link", { name: "Record", exact: true }).click();
      await recorder.getByLabel("Title").fill(title);
      if (title === "Stand-up") await walk.inspect(recorder, "record");
      await recorder.getByRole("button", { name: "Start recording" }).click();
      await recorder.getByRole("link", { name: "Read along" }).click();
      await recorder.locator("article .line-words").first().waitFor();
      if (title === "Stand-up") {
        await recorder.locator('article[data-final="true"]').nth(1).waitFor();
        await walk.inspect(recorder, "session-live");
        await recorder.getByRole("link", { name: "Sessions", exact: true }).click();
        await recorder.getByRole("link", { name: title }).waitFor();
        await walk.inspect(recorder, "sessions");
        await recorder.getByRole("link", { name: title }).click();
      }
      await recorder.getByRole("button", { name: "Stop recording" }).click();
      await recorder.getByText("Completed", { exact: true }).waitFor();
      // The key is gone with the page; who was signed in is not.
      await recorder.reload();
    }
    const { token } = device;
    const { body } = await call<{ items: { model: string }[] }>(service.api, "GET", "/devices", {
      token,
    });
    expect(body.items.filter(({ model }) => model === "browser")).toHaveLength(1);
  });

  it("page: a recording whose page dies goes on in another, and loses nothing", async () => {
    const recorder = await walk.newPerson({ permissions: ["microphone"] });
    await walk.signIn(recorder, account);
    // From some moment on what is sent arrives nowhere, as with a network that is only said to be there.
    let isDeaf = false;
    await recorder.routeWebSocket(/\/stream\?/, (socket) => {
      const service = socket.connectToServer();
      socket.onMessage((message) => {
        if (!isDeaf) service.send(message);
      });
    });
    await recorder.getByRole("link", { name: "Record", exact: true }).click();
    await recorder.getByLabel("Title").fill("Board meeting");
    await recorder.getByRole("button", { name: "Start recording" }).click();
    const clock = recorder.getByRole("timer");
    const seconds = async () => Number((await clock.textContent())?.split(":")[1]);
    await recorder.locator(".cockpit-words [data-final]").first().waitFor();
    await recorder.keyboard.press("m");
    await recorder.locator(".mark-note input:focus").waitFor();
    await recorder.keyboard.type("Ask for the figures");
    await recorder.getByRole("heading", { name: "Board meeting" }).waitFor();
    await walk.inspect(recorder, "record-cockpit");
    await recorder.keyboard.press("Enter");
    await recorder.getByText(/^1 mark, the last at 00:\d\d Ask for the figures$/).waitFor();
    isDeaf = true;
    const heard = await seconds();
    await until(async () => (await seconds()) >= heard + 4, "sound that is not sent", 20_000);
    const recorded = await seconds();
    await recorder.close({ runBeforeUnload: false });
    const again = await recorder.context().newPage();
    // Who stays signed in in this browser is it here as well.
    await walk.goTo(again, "/");
    await again.getByText("“Board meeting” was cut off").waitFor();
    await walk.inspect(again, "record-cut-off");
    // It is asked about before somebody leaves, and is nobody else's.
    await again.getByRole("button", { name: "Your account" }).click();
    await again.getByRole("button", { name: "Sign out" }).click();
    await again.getByRole("button", { name: "Keep it, sign out" }).click();
    const other = await newOwner(service);
    await walk.signIn(again, other);
    await again.getByText(`A recording of ${account.email} is kept in this browser`).waitFor();
    expect(await again.getByRole("button", { name: "Finish it" }).count()).toBe(0);
    await again.getByRole("button", { name: "Your account" }).click();
    await again.getByRole("button", { name: "Sign out" }).click();
    await walk.signIn(again, account);
    await again.getByRole("button", { name: "Go on recording" }).click();
    await again.getByRole("timer").waitFor();
    await until(
      async () => Number((await again.getByRole("timer").textContent())?.split(":")[1]) > recorded,
      "the recording to go on",
      20_000,
    );
    await again.getByRole("button", { name: "Pause", exact: true }).click();
    await again.getByText("Paused").waitFor();
    await again.getByRole("button", { name: "Finish", exact: true }).click();
    await again.getByText("Completed", { exact: true }).waitFor();
    const id = /sessions\/([^/]+)/.exec(again.url())?.[1];
    const { body } = await call<{ duration_ms: number }>(service.api, "GET", `/sessions/${id}`, {
      token: account.token,
    });
    expect(body.duration_ms).toBeGreaterThan(recorded * 1_000);
    await again.getByRole("tab", { name: "Marks" }).click();
    await again.locator(".mark", { hasText: "Ask for the figures" }).waitFor();
    await walk.inspect(again, "session-marks", { everywhere: true });
    await again.getByRole("link", { name: "Record", exact: true }).click();
    await again.getByRole("button", { name: "Start recording" }).waitFor();
    expect(await again.getByText("was cut off").count()).toBe(0);
    await again.close();
  });

  it("page: says in words why there is no microphone", async () => {
    const refused = await walk.newPerson();
    await refused.addInitScript(
      'navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("no", "NotAllowedError"))',
    );
    await walk.signIn(refused, account);
    await refused.getByRole("link", { name: "Record", exact: true }).click();
    await refused.getByRole("button", { name: "Start recording" }).click();
    await refused.getByText("The browser does not let this page use the microphone.").waitFor();
    await walk.inspect(refused, "record-refused");
    expect(walk.errors).toEqual([]);
  });

  it("page: its owner deletes a session, and it is gone for the guest as well", async () => {
    await walk.goTo(owner, `/sessions/${device.sessionId}`);
    await owner.getByRole("button", { name: "Share" }).click();
    await owner.getByRole("button", { name: "Copy link" }).click();
    // It is told where it was done, as nothing beside a dialog is read out.
    await owner.getByRole("dialog").getByText("The link is copied.").waitFor();
    await walk.inspect(owner, "session-share");
    await owner.getByText("Guest links that end").click();
    await owner.getByLabel("How many guests").selectOption("5");
    await owner.getByRole("button", { name: "Make a guest link" }).click();
    await owner.getByText("0 of 5 came by it").waitFor();
    await walk.inspect(owner, "session-share-limits");
    await owner.keyboard.press("Escape");
    await owner.getByRole("button", { name: "More" }).click();
    await owner.getByRole("button", { name: "Delete" }).click();
    await owner.getByRole("button", { name: `Delete “${TITLE}”` }).click();
    await owner.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
    await guest.locator("article").first().waitFor({ state: "detached" });
    expect(walk.errors).toEqual([]);
  });
});

/** The device's own stream, which does not go through what is cut. */
function streamOf(service: WholeService, device: PairedDevice): AudioSender {
  return new AudioSender({
    url: `${service.ready.base_url.replace("http", "ws")}/api/devices/${device.id}/stream`,
    key: device.key,
    configuration: { session_id: device.sessionId, ...PCM },
    signal: new AbortController().signal,
  });
}

/** The page's live channels from now on: how many are followed, how many of these were cut. */
function socketsOf(page: Page): { now: number; cut: number } {
  const count = { now: 0, cut: 0 };
  page.on("websocket", (socket) => {
    let isFollowed = false;
    // One that is cut before it said anything was not there yet: the page waits longer after it.
    socket.on("framereceived", () => {
      count.now += isFollowed ? 0 : 1;
      isFollowed = true;
    });
    socket.on("close", () => {
      if (!isFollowed) return;
      count.now -= 1;
      count.cut += 1;
    });
  });
  return count;
}

/** The first label of a voice that is called so. */
function voice(page: Page, name: string) {
  return page.getByRole("button", { name: `${name}: who is this?` }).first();
}

/** What is final on the page, in order, without capitals and sentence marks. */
async function shown(page: Page): Promise<string[]> {
  const lines = page.locator('article[data-final="true"] .line-words');
  return (await lines.allTextContents()).map(plain);
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} ]/gu, "")
    .trim();
}
