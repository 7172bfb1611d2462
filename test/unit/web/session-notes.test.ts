import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";

// Where the page is, which the client asks for when it is loaded.
vi.stubGlobal("document", { baseURI: "http://page.test/" });
const { SessionNotes } = await import("../../../src/web/views/session/model/session-notes.ts");

type Item = { id: string; text: string; done: boolean; owner?: string; due?: string };
type Kept = Parameters<ConstructorParameters<typeof SessionNotes>[0]["keep"]>;

/** A service with one action item, which somebody else may change. */
class NotesService {
  item: Item = { id: "i", text: "Send it.", done: false, owner: "Ben" };
  pending: object[] = [];
  template: object = {
    id: "general",
    title: "General",
    sections: [{ title: "Action items", kind: "action_items" }],
  };
  readonly patches: object[] = [];
  readonly asked: string[] = [];
  /** Summaries that the page asked for. */
  readonly wanted: string[] = [];
  /** Done once, after the item was read and before it is changed. */
  between: (() => void) | undefined;
  #version = 1;

  readonly answer = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    this.asked.push(`${request.method} ${pathname.split("/").at(-1)}`);
    if (pathname.endsWith("/summaries")) {
      if (request.method === "POST") {
        this.wanted.push(((await request.json()) as { summary_type: string }).summary_type);
        return Response.json({}, { status: 202 });
      }
      const items = [{ ...this.item, segment_ids: [], start_ms: 0 }];
      const summary = { summary_type: "action_items", stale: false, items };
      const { pending, template } = this;
      return Response.json({ items: [summary], next_cursor: null, pending, template });
    }
    if (request.method === "GET") {
      const reply = Response.json(this.item, { headers: { etag: `"${this.#version}"` } });
      this.between?.();
      this.between = undefined;
      return reply;
    }
    if (request.headers.get("if-match") !== `"${this.#version}"`) {
      return Response.json({ success: false, message: "Changed." }, { status: 412 });
    }
    this.patches.push(await request.json());
    this.become(this.patches.at(-1) ?? {});
    return Response.json(this.item);
  };

  become(change: Partial<Item>): void {
    this.item = { ...this.item, ...change };
    this.#version += 1;
  }
}

describe("notes on the page", () => {
  let service: NotesService;
  let notes: InstanceType<typeof SessionNotes>;
  let kept: Kept[];

  // Other files run in this process after it.
  afterAll(() => vi.unstubAllGlobals());
  beforeEach(async () => {
    vi.useFakeTimers();
    service = new NotesService();
    kept = [];
    vi.stubGlobal("fetch", service.answer);
    notes = new SessionNotes({ id: "s", keep: (...each) => kept.push(each) });
    notes.open();
    await vi.waitFor(() => expect(notes.page.value).toBeDefined());
  });
  afterEach(() => {
    notes.close();
    vi.useRealTimers();
  });

  const item = () => {
    const found = notes.of("action_items")?.items[0];
    if (found === undefined) throw new Error("The item is not shown.");
    return found;
  };

  it("a tick shows at once, is stored, and is undone and done again", async () => {
    const ticking = notes.change(item(), { done: true }, "Ticked.");
    expect(item().done).toBe(true);
    expect(service.item.done).toBe(false);
    await ticking;
    expect([service.item.done, item().done]).toEqual([true, true]);
    const [[change, said] = []] = kept;
    expect(said).toBe("Ticked.");
    expect(await change?.revert("undo")).toMatchObject({ isDone: true });
    expect([service.item.done, item().done]).toEqual([false, false]);
    expect(await change?.revert("redo")).toMatchObject({ isDone: true });
    expect(service.item.done).toBe(true);
  });

  it.each([
    ["before it was read", () => service.become({ owner: "Carl" })],
    [
      "between reading and changing it",
      () => {
        service.between = () => service.become({ owner: "Carl" });
      },
    ],
  ])("what somebody else changed %s stays, and is shown", async (_when, change) => {
    change();
    await notes.change(item(), { owner: "Ada" }, "Changed.");
    expect(service.item.owner).toBe("Carl");
    expect(item().owner).toBe("Carl");
    expect([kept, service.patches]).toEqual([[], []]);
    await notes.change(item(), { owner: "Ada" }, "Changed.");
    expect(service.item.owner).toBe("Ada");
  });

  it("what somebody else changed since is not undone", async () => {
    await notes.change(item(), { owner: "Ada" }, "Changed.");
    service.become({ owner: "Carl" });
    expect(await kept[0]?.[0].revert("undo")).toMatchObject({ isDone: false });
    expect(service.item.owner).toBe("Carl");
    // Another member of it hinders nothing.
    await notes.change(item(), { done: true }, "Ticked.");
    service.become({ owner: "Dora" });
    expect(await kept[1]?.[0].revert("undo")).toMatchObject({ isDone: true });
    expect(service.item).toMatchObject({ owner: "Dora", done: false });
  });

  it("two quick changes of one item come one after the other", async () => {
    await Promise.all([
      notes.change(item(), { done: true }, "Ticked."),
      notes.change({ ...item(), done: true }, { done: false }, "Not done."),
    ]);
    expect(service.patches).toEqual([{ done: true }, { done: false }]);
  });

  it("are made of what the template has, and of what another one wants besides", async () => {
    expect(notes.kinds.value).toEqual(["action_items"]);
    expect(notes.wanted).toEqual([]);
    const custom = (title: string) => ({ title, kind: "custom", instruction: "the price" });
    const sections = [
      custom("Prices"),
      { title: "To do", kind: "action_items" },
      custom("Costs"),
      { title: "In brief", kind: "brief" },
    ];
    service.template = { id: "sales_call", title: "Sales call", sections };
    service.pending = [{ summary_type: "brief", status: "queued", progress: 0 }];
    await notes.rearrange();
    expect(notes.sections.value.map(({ title }) => title)).toEqual([
      ...["Prices", "To do", "Costs", "In brief"],
    ]);
    expect(notes.kinds.value).toEqual(["custom_sections", "action_items", "brief"]);
    // What is being made already is not asked for once more.
    expect(service.wanted).toEqual(["custom_sections"]);
  });

  it("what is being made is looked at until it is there", async () => {
    service.pending = [{ summary_type: "brief", status: "running", progress: 0.5 }];
    notes.news();
    await vi.waitFor(() => expect(notes.progressOf("brief")).toBe(0.5));
    service.pending = [];
    await vi.advanceTimersByTimeAsync(1_000);
    await vi.waitFor(() => expect(notes.progressOf("brief")).toBeUndefined());
    const looks = service.asked.length;
    await vi.advanceTimersByTimeAsync(600_000);
    expect(service.asked).toHaveLength(looks);
  });

  it("are made by kind when somebody asks for them", async () => {
    await notes.make(["brief", "topics"]);
    expect(service.asked.filter((each) => each === "POST summaries")).toHaveLength(2);
  });
});
