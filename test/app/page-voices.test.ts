import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { PasswordHasher } from "../../src/tenancy/accounts/passwords.ts";
import { AttackedService, type Person } from "../support/attacked-service.ts";
import { PageWalk } from "../support/page-walk.ts";
import { until } from "../support/until.ts";

const PASSWORD = "violet harbour lantern";
/** Of ten people. */
const SAID = [
  ["S1", "good morning we have smyth here"],
  ["S2", "thank you for having me"],
  ["S1", "the first point is the budget of smyth"],
  ["S2", "smythe is another company"],
  ["S1", "we close it with smyth on friday"],
  ...Array.from({ length: 8 }, (_, n) => [`S${n + 3}`, `this is voice ${n + 3}`] as const),
] as const;

/** The buttons of the open menu whose middle is seen and can be pressed, without scrolling. */
const SEEN_IN_MENU = `[...document.querySelectorAll(".menu-list button")].filter((button) => {
  const { x, y, width, height } = button.getBoundingClientRect();
  return button.contains(document.elementFromPoint(x + width / 2, y + height / 2));
}).map((button) => button.textContent.trim())`;

interface Segment {
  readonly text: string;
  readonly speaker_label?: string;
}

describe("page: voices and corrections", () => {
  let service: AttackedService;
  let walk: PageWalk;
  let owner: Person;
  let page: Page;
  let reader: Page;
  let session: string;

  beforeAll(async () => {
    service = await AttackedService.open();
    const hash = await new PasswordHasher().hash(PASSWORD);
    owner = await service.addUser("participant", "olga@example.org", hash);
    const workspace = await service.addWorkspace(owner.id);
    const said = SAID.map(([label, text]) => ({ label, text }));
    session = await service.addTold(workspace, owner.id, said);
    walk = await PageWalk.start(service.api.replace(/\/api$/, ""));
    [page, reader] = [await open(), await open()];
  });
  afterEach(({ task }) => walk.explain(task));
  afterAll(async () => {
    await walk?.stop();
    await service?.close();
  });

  /** The session, in a browser of its own. */
  async function open(): Promise<Page> {
    const person = await walk.newPerson();
    await walk.signIn(person, { email: owner.email, password: PASSWORD });
    await walk.goTo(person, `/sessions/${session}`);
    await person
      .locator("article")
      .nth(SAID.length - 1)
      .waitFor();
    return person;
  }

  async function segments(): Promise<Segment[]> {
    const path = `/sessions/${session}/segments?limit=100`;
    return (await service.done("GET", path, owner.headers)).items as Segment[];
  }

  const labels = async () => (await segments()).map((each) => each.speaker_label).join(" ");
  const texts = async () => (await segments()).map(({ text }) => text);
  const voice = (on: Page, name: string) =>
    on.getByRole("button", { name: `${name}: who is this?` }).first();
  const press = (name: string | RegExp) =>
    page.getByRole("button", { name, exact: true }).press("Enter");

  /** Opens a voice's menu and chooses, by the keyboard alone. */
  async function choose(of: string, what: string, whom: string): Promise<void> {
    await voice(page, of).press("Enter");
    await page.getByRole("button", { name: what }).press("Enter");
    // The list has the focus, and nothing is done before a press.
    await page.locator(".voice-choices button:focus").waitFor();
    await page
      .locator(".voice-options")
      .getByRole("button", { name: whom, exact: true })
      .press("Enter");
  }

  async function undoByKey(): Promise<void> {
    await page.getByRole("heading", { level: 1 }).focus();
    await page.keyboard.press("Control+z");
  }

  it("page: voices are named, merged and split by the keyboard, and each is undone", async () => {
    const before = await labels();
    const areAsBefore = async () => (await labels()) === before;
    await walk.inspect(page, "session-ten-voices", { everywhere: true });
    await voice(page, "Speaker 2").press("Enter");
    await page.locator('.menu-list input:focus[list="names-S2"]').waitFor();
    await page.keyboard.type("Robert");
    await walk.inspect(page, "session-voice-menu");
    await page.keyboard.press("Enter");
    await voice(reader, "Robert").waitFor();
    await choose("Robert", "Merge with another", "Speaker 1");
    await voice(reader, "Robert").waitFor();
    await until(async () => !(await labels()).includes("S2"), "the voices to be one");
    await walk.inspect(page, "session-voice-merged");
    await press("Undo");
    await until(areAsBefore, "the merge to be taken back");
    await voice(reader, "Speaker 1").waitFor();
    await voice(page, "Speaker 1").press("Enter");
    await page.getByRole("button", { name: "Reassign from here on" }).press("Enter");
    await walk.inspect(page, "session-voice-choices");
    await page.getByRole("button", { name: "Back" }).press("Enter");
    await page.locator(".menu-list button:focus", { hasText: "Reassign from here on" }).waitFor();
    await page.keyboard.press("Escape");
    await choose("Speaker 1", "Reassign from here on", "A new speaker");
    await voice(reader, "Speaker 11").waitFor();
    await undoByKey();
    await until(areAsBefore, "the split to be taken back");
    await undoByKey();
    await voice(reader, "Speaker 2").waitFor();
  });

  it("page: the menu of a voice at the window's lower edge is whole, on a phone as well", async () => {
    for (const [width, height] of [
      [1280, 700],
      [390, 640],
    ] as const) {
      await page.setViewportSize({ width, height });
      const last = page.getByRole("button", { name: "Speaker 10: who is this?" });
      await last.scrollIntoViewIfNeeded();
      await last.press("Enter");
      await page.getByLabel("Call this voice").fill("Tamara");
      // Each is where one sees it: nothing lies over it, and nothing cuts it off.
      expect(await page.evaluate(SEEN_IN_MENU)).toEqual([
        ...["This is me", "Save the name", "Reassign this line …", "Reassign from here on …"],
        ...["Merge with another …", "Assign to a member …"],
      ]);
      await walk.shoot(page, `session-voice-menu-low-${width}`);
      await page.keyboard.press("Escape");
    }
    await page.setViewportSize({ width: 1280, height: 1400 });
  });

  it("page: a merge is taken back after a reload too, and not when somebody else was quicker", async () => {
    const before = await labels();
    const isOne = async () => !(await labels()).includes("S2");
    await choose("Speaker 2", "Merge with another", "Speaker 1");
    await until(isOne, "the voices to be one");
    await page.reload();
    await voice(page, "Speaker 1").press("Enter");
    await press("Set Speaker 2 apart again");
    await until(async () => (await labels()) === before, "the voices to be two");
    await undoByKey();
    await until(isOne, "the voices to be one again");
    const path = `/sessions/${session}/speakers/unmerge`;
    await service.done("POST", path, owner.headers, { from: "S2", into: "S1" });
    await page.getByRole("button", { name: "Redo the correction" }).press("Enter");
    await page.getByText("changed since by somebody else").waitFor();
    expect(await labels()).toBe(before);
  });

  it("page: a spelling is put right everywhere with one undo, and a line's changes are put back", async () => {
    const before = await texts();
    const count = async () => (await texts()).filter((text) => /\bsmith\b/i.test(text)).length;
    await page.getByRole("button", { name: /^Correct the line at 00:00/ }).press("Enter");
    const field = page.getByLabel("The line's words");
    await field.fill((await field.inputValue()).replace(/smyth/i, "Smith"));
    await page.keyboard.press("Enter");
    await page.getByText(/stands in 2 other lines/).waitFor();
    await walk.inspect(page, "session-correct-all");
    await press("Correct in 2 other lines");
    await until(async () => (await count()) === 3, "all lines to be corrected");
    await page.getByText("Corrected in 2 lines.").waitFor();
    expect((await texts())[3]).toBe(before[3]);
    await press("Undo");
    await until(async () => (await count()) === 1, "the others to be as they were");
    await page.getByRole("button", { name: /^Edited: .* 00:00$/ }).press("Enter");
    const changes = page.getByRole("region", { name: "Changes of this line" });
    await changes
      .getByText(/^You, /)
      .first()
      .waitFor();
    await walk.inspect(page, "session-line-changes");
    await changes.getByRole("button", { name: "Put back" }).first().press("Enter");
    await until(async () => (await count()) === 0, "the line to be put back");
    await page.keyboard.press("Escape");
    expect(await texts()).toEqual(before);
    expect(walk.errors).toEqual([]);
  });
});
