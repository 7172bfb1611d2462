import { randomUUID } from "node:crypto";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { PageWalk } from "../support/page-walk.ts";
import { adminToken, call, conversationPcm, PCM } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { WholeService } from "../support/whole-service.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

interface Item {
  readonly id?: string;
  readonly text: string;
  readonly done?: boolean;
  readonly owner?: string;
  readonly due?: string;
  readonly start_ms: number;
}
interface Notes {
  readonly items: readonly { summary_type: string; version: number; items: readonly Item[] }[];
  readonly pending: readonly object[];
}

describe("page: notes beside the words", () => {
  let service: WholeService;
  let owner: WorkspaceOwner;
  let reader: { id: string; email: string; password: string };
  let walk: PageWalk;
  let page: Page;
  let beside: Page;
  let session = "";

  beforeAll(async () => {
    service = WholeService.shared(inject("installation"));
    owner = await newOwner(service);
    reader = await newReader();
    walk = await PageWalk.start(service.ready.base_url);
  });
  afterEach(({ task }) => walk.explain(task, service));
  afterAll(() => walk?.stop());

  async function done<T>(method: string, path: string, more: Parameters<typeof call>[3] = {}) {
    const answer = await call<T>(service.api, method, path, { token: owner.token, ...more });
    expect([method, path, answer.status < 300, answer.body]).toEqual([
      ...[method, path, true, answer.body],
    ]);
    return answer.body;
  }

  /** An account to whom the session is given later. */
  async function newReader() {
    const who = { email: `${randomUUID()}@example.org`, password: owner.password };
    const body = { ...who, name: "Rita", role: "participant" };
    const token = await adminToken(service);
    const made = await call<{ id: string }>(service.api, "POST", "/users", { token, body });
    expect(made.status).toBe(201);
    return { ...who, id: made.body.id };
  }

  const notes = () => done<Notes>("GET", `/sessions/${session}/summaries`);
  async function tasks(): Promise<readonly Item[]> {
    const { items } = await notes();
    return items.find((each) => each.summary_type === "action_items")?.items ?? [];
  }
  const side = (on: Page) => on.locator(".session-side");
  const box = (on: Page) => side(on).getByRole("checkbox").first();
  const press = (name: string | RegExp) => page.getByRole("button", { name }).press("Enter");

  it("page: notes appear by themselves where the page is open, without a press", async () => {
    const about = { title: "Launch of the shop", workspace_id: owner.workspaceId };
    session = (await done<{ id: string }>("POST", "/sessions", { body: about })).id;
    page = await walk.newPerson();
    await walk.signIn(page, owner);
    await walk.goTo(page, `/sessions/${session}`);
    await side(page).getByText("Notes appear here by themselves").waitFor();
    await walk.inspect(page, "session-notes-none");
    await done("POST", `/sessions/${session}/uploads`, {
      ...{ bytes: conversationPcm(), headers: { "content-type": PCM } },
    });
    await page.getByText("Completed", { exact: true }).waitFor();
    await side(page).getByRole("heading", { name: "Open questions" }).waitFor();
    await until(async () => (await notes()).pending.length === 0, "the notes", 60_000);
    await side(page)
      .getByText(/^Made Today/)
      .waitFor();
    for (const { text } of await tasks()) await side(page).getByText(text).first().waitFor();
    expect((await tasks()).length).toBeGreaterThan(0);
    await walk.inspect(page, "session-notes", { everywhere: true });
  });

  it("page: each sentence leads to its moment by the keyboard, and the notes stay beside it", async () => {
    const [first] = await tasks();
    const link = side(page).locator(".action-item .note-link").first();
    await link.press("Enter");
    await page.locator('.transcript-row[data-shown="true"] .line-words').waitFor();
    const seconds = Math.floor((first?.start_ms ?? 0) / 1_000);
    const at = `00:${String(seconds).padStart(2, "0")}`;
    await page.locator(".player-clock", { hasText: at }).waitFor();
    await link.waitFor();
    // On a phone the words take the place of the notes, and the focus goes with them.
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole("tab", { name: "Notes" }).click();
    await walk.shoot(page, "session-notes-on-phone");
    expect(await walk.flawsOf(page, [320, 390])).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    await link.press("Enter");
    await page.locator('.transcript-row[data-shown="true"] .line-words').waitFor();
    await page.locator(".transcript-scroll:focus").waitFor();
    await page.getByRole("tab", { name: "Words", selected: true }).waitFor();
    await page.setViewportSize({ width: 1280, height: 1400 });
  });

  it("page: an action item is ticked, others see it at once, and it is undone", async () => {
    const invite = { user_id: reader.id };
    await done("POST", `/sessions/${session}/members`, { body: invite });
    beside = await walk.newPerson();
    await walk.signIn(beside, reader);
    await walk.goTo(beside, "/invitations");
    await beside.getByRole("button", { name: "Accept" }).click();
    await walk.goTo(beside, `/sessions/${session}`);
    await side(beside).getByText("Open", { exact: true }).first().waitFor();
    expect(await side(beside).getByRole("checkbox").count()).toBe(0);
    await box(page).press(" ");
    expect(await box(page).isChecked()).toBe(true);
    await page.getByText("Ticked as done.").waitFor();
    expect((await tasks())[0]?.done).toBe(true);
    await side(beside).getByText("Done", { exact: true }).waitFor();
    await side(page)
      .getByText(/^1 of \d+ done$/)
      .waitFor();
    await page.getByRole("heading", { level: 1 }).focus();
    await page.keyboard.press("Control+z");
    await until(async () => (await tasks())[0]?.done === false, "the tick to be undone");
    await side(beside).getByText("Done", { exact: true }).waitFor({ state: "detached" });
    expect(await box(page).isChecked()).toBe(false);
  });

  it("page: it gets an owner and a day by the keyboard, which stay", async () => {
    const item = side(page).locator(".action-item").first();
    await item.getByRole("button", { name: /^Change who does it/ }).press("Enter");
    await item.locator('input[name="owner"]:focus').waitFor();
    const offered = item.locator("datalist option");
    await until(async () => (await offered.count()) > 1, "names to choose from");
    await page.keyboard.press("Control+a");
    await page.keyboard.type("Rita");
    await page.getByLabel("By which day").fill("2020-03-02");
    await walk.inspect(page, "session-notes-owner");
    await item.locator('input[name="owner"]').press("Enter");
    await item.getByText("Rita", { exact: true }).waitFor();
    await item.getByRole("img", { name: "Overdue" }).waitFor();
    await item.locator("button:focus", { hasText: "Change" }).waitFor();
    await until(async () => (await tasks())[0]?.owner === "Rita", "the owner to be stored");
    expect((await tasks())[0]?.due).toBe("2020-03-02");
    await page.reload();
    await item.getByText("Rita", { exact: true }).waitFor();
    await walk.inspect(page, "session-notes-overdue");
  });

  it("page: what somebody else changed meanwhile stays, and is told", async () => {
    const [first] = await tasks();
    const path = `/sessions/${session}/action-items/${first?.id}`;
    // Between the page's reading of it and its change of it.
    let isFirst = true;
    await page.route("**/action-items/*", async (route) => {
      if (route.request().method() === "PATCH" && isFirst) {
        isFirst = false;
        await done("PATCH", path, { body: { owner: "Ben", done: true } });
        await done("PATCH", path, { body: { done: false } });
      }
      await route.continue();
    });
    await box(page).press(" ");
    await page.getByText("Somebody else has changed this action item meanwhile.").waitFor();
    await side(page).getByText("Ben", { exact: true }).waitFor();
    await until(async () => !(await box(page).isChecked()), "the box to be as it stands");
    expect((await tasks())[0]).toMatchObject({ owner: "Ben", done: false });
    await walk.inspect(page, "session-notes-conflict");
    await press("Change it all the same");
    await until(async () => (await tasks())[0]?.done === true, "the change");
    expect((await tasks())[0]?.owner).toBe("Ben");
  });

  it("page: a mark of somebody else appears at once, and stays after a reload", async () => {
    await page.getByRole("tab", { name: "Marks" }).click();
    await side(page).getByText("Nothing is marked yet.").waitFor();
    await beside.getByRole("heading", { level: 1 }).focus();
    await beside.keyboard.press("m");
    await beside.getByLabel("A few words about the moment").fill("Ask for the figures");
    await beside.keyboard.press("Enter");
    await side(page).getByText("Ask for the figures").waitFor();
    await side(page).getByText(/Rita$/).waitFor();
    for (const each of [page, beside]) {
      await each.reload();
      await each.getByRole("tab", { name: "Marks" }).click();
      await side(each).getByText("Ask for the figures").waitFor();
    }
    await side(beside)
      .getByRole("button", { name: /^Delete the mark/ })
      .click();
    await side(page).getByText("Nothing is marked yet.").waitFor();
  });

  it("page: after a correction they are made again, with what people noted", async () => {
    await page.getByRole("tab", { name: "Notes" }).click();
    await side(page)
      .getByText(/^Made Today/)
      .waitFor();
    const { items } = await done<{ items: { id: string; text: string }[] }>(
      ...(["GET", `/sessions/${session}/segments`] as const),
    );
    const before = (await notes()).items.map(({ version }) => version);
    await done("PATCH", `/sessions/${session}/speakers/S1`, { body: { display_name: "Amelia" } });
    const line = `/sessions/${session}/segments/${items[0]?.id}`;
    await done("PATCH", line, { body: { text: "Hello to everybody in the shop." } });
    await side(page)
      .getByText(/^The notes are being made/)
      .waitFor();
    await walk.inspect(page, "session-notes-being-made");
    await side(page)
      .getByText(/^Made Today/)
      .waitFor();
    const after = (await notes()).items.map(({ version }) => version);
    expect(after).toEqual(before.map((version) => version + 1));
    expect(await box(page).isChecked()).toBe(true);
    await side(page)
      .locator(".moment-at", { hasText: /^\d\d:\d\d Amelia$/ })
      .first()
      .waitFor();
  });

  it("page: another template is chosen where the notes are, and its sections appear", async () => {
    const field = side(page).getByLabel("Template");
    await field.waitFor();
    // Whoever only reads along has none to choose.
    expect(await side(beside).getByLabel("Template").count()).toBe(0);
    await field.focus();
    await field.selectOption("sales_call");
    const price = side(page).getByRole("region", { name: "Price and budget" });
    await price.locator(".note-link", { hasText: /price/i }).first().waitFor();
    await side(page)
      .getByRole("region", { name: "Competitors" })
      .getByText("Nothing was found for this.")
      .waitFor();
    await side(page)
      .getByRole("region", { name: "Next steps" })
      .getByRole("checkbox")
      .first()
      .waitFor();
    await side(page).getByRole("heading", { name: "Topics" }).waitFor({ state: "detached" });
    await side(page).locator("select:focus").waitFor();
    await walk.inspect(page, "session-notes-template", { everywhere: true });
    await page.reload();
    await price.waitFor();
  });

  it("page: a workspace makes its own version of a template by the keyboard", async () => {
    await side(page).getByRole("link", { name: "Change templates" }).press("Enter");
    const list = page.getByRole("list", { name: "Templates of notes" });
    await list.getByText("Sales call", { exact: true }).waitFor();
    await walk.inspect(page, "workspace-templates", { everywhere: true });
    await page.getByRole("button", { name: "Change Sales call" }).press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.locator('input[name="title"]:focus').waitFor();
    await walk.inspect(page, "workspace-template-form");
    await dialog.getByRole("button", { name: "Add a section" }).press("Enter");
    const last = dialog.getByRole("group").last();
    await last.getByLabel("Heading").fill("Needs");
    await last.getByLabel(/^What to look for/).fill("the final report");
    await dialog.getByRole("button", { name: "Save" }).press("Enter");
    await dialog.getByRole("alert").getByText("another section has this title").waitFor();
    await walk.inspect(page, "workspace-template-refused");
    await last.getByLabel("Heading").fill("Papers");
    const up = dialog.getByRole("button", { name: "Move Papers up" });
    for (let place = 0; place < 8; place += 1) await up.press("Enter");
    await dialog.getByRole("button", { name: "Remove Competitors" }).press("Enter");
    await dialog.getByRole("button", { name: "Save" }).press("Enter");
    await dialog.waitFor({ state: "detached" });
    await list.getByText("changed", { exact: true }).waitFor();
    const path = `/workspaces/${owner.workspaceId}/note-templates/sales_call`;
    const { sections } = await done<{ sections: { title: string }[] }>("GET", path);
    expect(sections.map(({ title }) => title)).toEqual([
      ...["Papers", "In brief", "Needs", "Price and budget", "Concerns"],
      ...["Agreed", "Next steps", "Open questions"],
    ]);
    await page.getByLabel("The usual one").selectOption("standup");
    await list.getByText("usual", { exact: true }).waitFor();
    await until(async () => {
      const found = await done<{ notes_template: string }>(
        "GET",
        `/workspaces/${owner.workspaceId}`,
      );
      return found.notes_template === "standup";
    }, "the choice to be stored");
  });

  it("page: what a template wants since is told as out of date, and made with a press", async () => {
    await walk.goTo(page, `/sessions/${session}`);
    await side(page).getByText("Out of date").waitFor();
    await press("Make them again");
    const papers = side(page).getByRole("region", { name: "Papers" });
    await papers
      .locator(".note-link", { hasText: /report/i })
      .first()
      .waitFor();
    await walk.goTo(page, `/workspaces/${owner.workspaceId}`);
    await page.getByRole("button", { name: "Take back the changes of Sales call" }).press("Enter");
    await page.getByRole("button", { name: "Take them back" }).press("Enter");
    await page.getByText("changed", { exact: true }).waitFor({ state: "detached" });
    await walk.goTo(page, `/sessions/${session}`);
    await side(page).getByLabel("Template").selectOption("general");
    await side(page).getByRole("heading", { name: "Topics" }).waitFor();
  });

  it("page: they are printed, and stand in Markdown", async () => {
    const [first] = await tasks();
    const path = `/sessions/${session}/transcript?format=md`;
    const markdown = await done<string>("GET", path);
    expect(markdown).toContain("## Notes\n\n### In brief\n");
    expect(markdown).toContain(`- [x] ${first?.text}`);
    await page.getByRole("button", { name: "Export" }).click();
    await page.getByRole("link", { name: "Print or PDF" }).click();
    const printed = page.locator(".printed-notes");
    await printed.getByRole("heading", { name: "Action items" }).waitFor();
    await printed.getByText(`☑ ${first?.text}`).waitFor();
    await walk.inspect(page, "session-print-notes");
    // Who chose the dark look has dark words on paper all the same.
    await page.evaluate("document.documentElement.dataset.theme = 'dark'");
    const ink = () =>
      page.evaluate<string>("getComputedStyle(document.querySelector('.printed-notes')).color");
    expect(await ink()).toBe("rgb(236, 236, 238)");
    await page.emulateMedia({ media: "print" });
    await printed.waitFor();
    expect(await ink()).toBe("rgb(27, 28, 31)");
    expect(walk.errors).toEqual([]);
  });
});
