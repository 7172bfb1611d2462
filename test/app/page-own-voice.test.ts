import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { PasswordHasher } from "../../src/tenancy/accounts/passwords.ts";
import type { Person } from "../support/attacked-service.ts";
import { halfOf } from "../support/demo-voices.ts";
import { PageWalk } from "../support/page-walk.ts";
import { until } from "../support/until.ts";
import { VoiceHouse } from "../support/voice-house.ts";

const PASSWORD = "violet harbour lantern";

/** What the page shows of a person's own voice, given, renewed, forgotten and asked for anew. */
describe("page: one's own voice", () => {
  let house: VoiceHouse;
  let walk: PageWalk;
  let anna: Person;
  let workspace: string;
  let first: string;
  let later: string;
  let page: Page;

  beforeAll(async () => {
    house = await VoiceHouse.open();
    const { service } = house;
    const hash = await new PasswordHasher().hash(PASSWORD);
    anna = await service.addUser("participant", "anna@example.org", hash);
    workspace = await service.addWorkspace(anna.id);
    const memo = (half: 0 | 1) =>
      house.addHeard(workspace, anna.id, [{ label: "S1", sound: halfOf("Anna", half) }]);
    first = await memo(0);
    later = await memo(1);
    await service.sql("update workspaces set name = 'Ensemble' where id = $1", [workspace]);
    await service.sql("update sessions set title = 'First memo' where id = $1", [first]);
    await service.sql("update sessions set title = 'Later memo' where id = $1", [later]);
    walk = await PageWalk.start(service.api.replace(/\/api$/, ""));
    page = await walk.newPerson();
    await walk.signIn(page, { email: anna.email, password: PASSWORD });
  });
  afterEach(({ task }) => walk.explain(task));
  afterAll(async () => {
    await walk?.stop();
    await house?.close();
  });

  const remembered = async () =>
    (await house.service.done("GET", "/users/me/voice", anna.headers)) as {
      items: Record<string, unknown>[];
      lapsed: unknown[];
    };
  const press = (name: string | RegExp) =>
    page.getByRole("button", { name, exact: true }).press("Enter");
  const claim = (session: string) =>
    house.service.done("POST", `/sessions/${session}/speaker-claims`, anna.headers, {
      ...{ speaker_label: "S1", source: "self_claim" },
    });

  async function give(session: string): Promise<void> {
    const voice = page.getByRole("combobox", { name: "Of which voice?" });
    await voice.selectOption({ label: (await voice.getByText(session).textContent()) ?? "" });
    await press("Remember my voice");
    expect((await remembered()).items, "without consent").not.toMatchObject([{ label: session }]);
    await page.getByRole("checkbox", { name: /^I agree/ }).press("Space");
    await press("Remember my voice");
    await page.getByText(/^Your voice is remembered, of \d+ s of speech\.$/).waitFor();
  }

  it("page: who has no voice yet is led to one, and gives it with consent alone", async () => {
    await press("Your account");
    await page.getByRole("link", { name: "Your voice" }).press("Enter");
    await page.getByText("Nothing is remembered of your voice").waitFor();
    await walk.inspect(page, "voice-none", { everywhere: true });
    await press("Have my voice remembered");
    await page.getByText("No voice of a session is yours yet.").waitFor();
    await page.getByRole("link", { name: "Record myself" }).waitFor();
    await page.keyboard.press("Escape");
    await Promise.all([claim(first), claim(later)]);
    await press("Have my voice remembered");
    await page.getByRole("checkbox", { name: /^I agree/ }).waitFor();
    await walk.inspect(page, "voice-give", { everywhere: true });
    await give("First memo");
    expect((await remembered()).items).toMatchObject([
      { session_id: first, keep_after_deletion: false },
    ]);
    const row = page.getByRole("list", { name: "Where your voice is remembered" });
    await row.getByText("Ensemble", { exact: true }).waitFor();
    await row.getByText(/^since Today/).waitFor();
    await row.getByText(/^network: campplus/).waitFor();
    await row.getByRole("link", { name: "First memo" }).waitFor();
    await walk.inspect(page, "voice", { everywhere: true });
  });

  it("page: it is renewed from another session, and kept beyond it on wish", async () => {
    await press("What to do in Ensemble");
    await press("Renew");
    await page.getByRole("checkbox", { name: /^Keep it also/ }).press("Space");
    await give("Later memo");
    await page.getByRole("link", { name: "Later memo" }).waitFor();
    expect((await remembered()).items).toMatchObject([
      { session_id: later, keep_after_deletion: true },
    ]);
    await page.getByText(/^It stays when the sound/).waitFor();
  });

  it("page: it is forgotten after a question", async () => {
    await press("What to do in Ensemble");
    await press("Forget");
    await page.getByRole("dialog", { name: "Forget your voice?" }).waitFor();
    await walk.inspect(page, "voice-forget");
    await press("Forget it in “Ensemble”");
    await page.getByText("Nothing is remembered of your voice").waitFor();
    expect((await remembered()).items).toEqual([]);
  });

  it("page: an old print that went is told in the list of sessions, and asked for once", async () => {
    const { service } = house;
    await service.sql("insert into lapsed_voices (workspace_id, user_id) values ($1, $2)", [
      ...[workspace, anna.id],
    ]);
    await walk.goTo(page, "/");
    await page.getByRole("link", { name: "Give a new one, or leave it" }).waitFor();
    await walk.inspect(page, "voice-lapsed-notice");
    await page.getByRole("link", { name: "Give a new one, or leave it" }).press("Enter");
    await page.getByText("not remembered any more").waitFor();
    await walk.inspect(page, "voice-lapsed", { everywhere: true });
    await press("No, leave it");
    await page.getByText("Nothing is remembered of your voice").waitFor();
    await until(async () => (await remembered()).lapsed.length === 0, "the answer to be kept");
    await walk.goTo(page, "/");
    await page.getByText("Later memo").first().waitFor();
    expect(await page.getByText("Give a new one, or leave it").count()).toBe(0);
    expect(walk.errors).toEqual([]);
  });
});
