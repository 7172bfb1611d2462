import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AppFixture } from "../support/app-fixture.ts";
import { type Answer, call, PairedDevice, scriptedChunks } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { runVoice } from "../support/voice-run.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

interface Template {
  id: string;
  title: string;
  sections: { title: string; kind: string; instruction?: string }[];
  is_changed: boolean;
}
interface Summary {
  summary_type: string;
  version: number;
  stale: boolean;
  items: { text: string; section?: string; segment_ids: string[] }[];
}
interface Page {
  items: Summary[];
  pending: object[];
  template: Template;
}
interface Failure {
  message: string;
}

const PRICE = { title: "What it costs", kind: "custom", instruction: "the price" };
const PETS = { title: "Pets", kind: "custom", instruction: "cats and dogs" };
const SECTIONS = [PRICE, { title: "To do", kind: "action_items" }, PETS];
const BODY = { title: "Our calls", sections: SECTIONS };

describe("templates of notes", () => {
  let service: AppFixture;
  let owner: WorkspaceOwner;
  let device: PairedDevice;
  let folder: string;
  let path: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "voice-cli-"));
    service = await AppFixture.shared();
    owner = await newOwner(service);
    path = `/workspaces/${owner.workspaceId}/note-templates`;
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const send = <T>(method: string, to: string, body?: object, headers = {}): Promise<Answer<T>> =>
    call<T>(service.api, method, to, { token: owner.token, headers, ...(body && { body }) });
  const page = async () => (await device.get<Page>("/summaries")).body;
  const custom = (found: Page) =>
    found.items.find(({ summary_type }) => summary_type === "custom_sections");
  const markdown = async () => (await device.get<string>("/transcript?format=md")).body;
  const voice = (...args: string[]) =>
    runVoice(
      ["summary", device.sessionId, ...args, "--base-url", service.api, "--token", owner.token],
      { folder },
    );

  it("templates: five are there, and a workspace has its own version of one", async () => {
    const { body } = await send<{ items: Template[] }>("GET", path);
    expect(body.items.map(({ id, is_changed }) => [id, is_changed])).toEqual([
      ["general", false],
      ["interview", false],
      ["standup", false],
      ["sales_call", false],
      ["lecture", false],
    ]);
    const { headers } = await send<Template>("GET", `${path}/sales_call`);
    const tag = { "if-match": headers.get("etag") ?? "" };
    const spaced = { ...BODY, title: "  Our calls " };
    const made = await send<Template>("PUT", `${path}/sales_call`, spaced, tag);
    expect([made.status, made.body]).toEqual([
      200,
      {
        ...{ id: "sales_call", ...BODY, is_changed: true },
        updated_at: expect.stringMatching(/Z$/),
      },
    ]);
    expect((await send("PUT", `${path}/sales_call`, BODY, tag)).status).toBe(412);
    expect((await send("DELETE", `${path}/sales_call`, undefined, tag)).status).toBe(412);
  });

  it.each([
    ["no section", { ...BODY, sections: [] }],
    ["no title", { sections: SECTIONS }],
    ["a title of blanks", { ...BODY, title: "   " }],
    ["a title of two lines", { ...BODY, title: "One\nTwo" }],
    ["a heading that is too long", { ...BODY, sections: [{ ...PRICE, title: "x".repeat(81) }] }],
    ["an unknown kind", { ...BODY, sections: [{ title: "A", kind: "poem" }] }],
    ["too long words", { ...BODY, sections: [{ ...PRICE, instruction: "x".repeat(501) }] }],
    ["13 sections", { ...BODY, sections: Array.from({ length: 13 }, () => PRICE) }],
    ["two of one heading", { ...BODY, sections: [PRICE, { ...PETS, title: "WHAT IT COSTS" }] }],
    ["two of one kind", { ...BODY, sections: [...SECTIONS, { ...SECTIONS[1], title: "More" }] }],
    ["a custom one without words", { ...BODY, sections: [{ title: "A", kind: "custom" }] }],
  ])("templates: %s is refused, and nothing is changed", async (_what, body) => {
    const { status, body: told } = await send<Failure>("PUT", `${path}/sales_call`, body);
    expect([status, told.message.length > 10]).toEqual([400, true]);
    expect((await send<Template>("GET", `${path}/sales_call`)).body).toMatchObject(BODY);
  });

  it("templates: others read and change nothing, and there is no other", async () => {
    const stranger = await newOwner(service);
    for (const [method, body] of [
      ["GET", undefined],
      ["PUT", BODY],
      ["DELETE", undefined],
    ] as const) {
      const options = { token: stranger.token, ...(body && { body }) };
      expect((await call(service.api, method, `${path}/sales_call`, options)).status).toBe(403);
    }
    const { status, body } = await send<Failure>("GET", `${path}/poem`);
    expect([status, body.message]).toEqual([404, expect.stringContaining("sales_call")]);
  });

  it("templates: a session's notes are made and arranged by its workspace's", async () => {
    const usual = { notes_template: "sales_call" };
    expect((await send("PATCH", `/workspaces/${owner.workspaceId}`, usual)).body).toMatchObject(
      usual,
    );
    device = await PairedDevice.pair(service, owner);
    await device.start();
    const chunks = scriptedChunks(4);
    for (const [sequence, pcm] of chunks.entries()) await device.upload(sequence, pcm);
    await device.stop(chunks.length - 1);
    await device.completed();
    await until(async () => custom(await page()) !== undefined, "the notes", 60_000);
    await until(async () => (await page()).pending.length === 0, "the notes", 60_000);
    const found = await page();
    expect(found.template).toEqual({ id: "sales_call", ...BODY });
    const segments = await device.segments();
    const prices = segments.filter(({ text }) => text.includes("price")).map(({ id }) => id);
    const made = custom(found);
    expect(made).toMatchObject({ version: 1, stale: false });
    expect(made?.items.length).toBeGreaterThan(0);
    for (const { section, segment_ids } of made?.items ?? []) {
      expect(section).toBe(PRICE.title);
      expect(segment_ids.every((id) => prices.includes(id))).toBe(true);
    }
    const text = await markdown();
    expect(text).toMatch(/## Notes\n\n### What it costs\n\n- .*price.*\n\n### To do\n/i);
    expect(text).not.toMatch(/### (Pets|In brief)/);
  });

  it("voice summary --template: shows all of them under their headings, and chooses for good", async () => {
    const shown = await voice("--template", "sales_call");
    expect([shown.code, shown.stderr]).toEqual([0, ""]);
    expect(shown.stdout).toMatch(
      /^What it costs\n- .*price.*\n\nTo do\n- [\s\S]*\n\nPets\nNothing was found for this\.\n$/i,
    );
    const json = await voice("--template", "standup", "--json");
    expect(json.json[0]).toMatchObject({
      template: { id: "standup", title: "Standup" },
      sections: [{ title: "Done", kind: "custom" }, { title: "Next" }, {}, {}, {}],
    });
    expect((await device.get("")).body).toMatchObject({ notes_template: "standup" });
    expect((await voice("--template", "poem")).code).toBe(2);
    expect((await voice("--template", "standup", "--type", "brief")).code).toBe(2);
  });

  it("templates: what is changed is stale until it is made again, and is taken back", async () => {
    await voice("--template", "sales_call");
    const before = custom(await page());
    expect(before?.stale).toBe(false);
    const report = { ...PRICE, title: "Papers", instruction: "the final report" };
    const changed = { ...BODY, sections: [report, { title: "Agreed", kind: "decisions" }] };
    expect((await send("PUT", `${path}/sales_call`, changed)).status).toBe(200);
    expect(custom(await page())?.stale).toBe(true);
    expect((await voice("--template", "sales_call")).stdout).toMatch(/^Papers\n- .*report/i);
    expect(custom(await page())).toMatchObject({
      ...{ version: (before?.version ?? 0) + 1, stale: false },
    });
    expect((await send("DELETE", `${path}/sales_call`)).status).toBe(200);
    const { body } = await send<Template>("GET", `${path}/sales_call`);
    expect(body).toMatchObject({ title: "Sales call", is_changed: false });
  });

  it("templates: one without words of its own asks for none", async () => {
    const general = { notes_template: "general" };
    await send("PATCH", `/sessions/${device.sessionId}`, general);
    const wanted = { summary_type: "custom_sections" };
    const asked = await send("POST", `/sessions/${device.sessionId}/summaries`, wanted);
    expect(asked.status).toBe(409);
    expect(await markdown()).toContain("## Notes\n\n### In brief\n");
    await send("PATCH", `/sessions/${device.sessionId}`, { notes_template: null });
    expect((await page()).template.id).toBe("sales_call");
    const refused = { notes_template: "poem" };
    expect((await send("PATCH", `/sessions/${device.sessionId}`, refused)).status).toBe(400);
  });
});
