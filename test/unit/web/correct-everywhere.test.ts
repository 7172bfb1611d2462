import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

interface Stored {
  text: string;
  speaker: string;
  revision: number;
}

/** Lines of a session as the service has them, behind its HTTP interface. */
const lines = new Map<string, Stored>();
/** Done before the line with this id is changed for the first time. */
let meanwhile: { id: string; work: () => void } | undefined;

function answer(status: number, body: object, etag = ""): Response {
  return Response.json(body, { status, headers: { etag } });
}

async function serve(request: Request): Promise<Response> {
  const id = new URL(request.url).pathname.split("/").at(-1) ?? "";
  const line = lines.get(id);
  if (line === undefined) return answer(404, { message: "There is no segment with this id." });
  const tag = () => `"${line.revision}"`;
  if (request.method === "PATCH") {
    if (meanwhile?.id === id) meanwhile.work();
    const wanted = request.headers.get("if-match") ?? tag();
    if (wanted !== tag()) return answer(412, { message: "It changed." });
    const { text } = (await request.json()) as { text: string };
    Object.assign(line, { text, revision: line.revision + 1 });
  }
  return answer(200, { id, text: line.text, speaker_label: line.speaker }, tag());
}

async function open() {
  const { LineEditing } = await import("../../../src/web/views/session/model/line-editing.ts");
  const shown = [...lines].map(([id, { text, speaker }], n) => {
    return { id, text, speaker, start: n, end: n + 1, revision: 1, isFinal: true } as const;
  });
  return {
    lines: shown.map((line) => ({ ...line, isGuess: false, unclear: [] })),
    editing: new LineEditing({
      id: "s",
      lines: () =>
        // What was changed comes over the live channel.
        shown.map((line) => ({ ...line, ...lines.get(line.id), isGuess: false, unclear: [] })),
      textOf: ({ text }) => text,
      show: () => undefined,
    }),
  };
}

describe("a spelling that is corrected everywhere", () => {
  beforeEach(() => {
    vi.stubGlobal("document", { baseURI: "http://page.test/" });
    vi.stubGlobal("fetch", serve);
    lines.clear();
    for (const text of ["Smyth called", "Ms Smyth's desk", "Smythe is another", "ask Smyth"]) {
      lines.set(`l${lines.size}`, { text, speaker: "S1", revision: 1 });
    }
    meanwhile = undefined;
  });
  afterEach(() => vi.unstubAllGlobals());

  const texts = () => [...lines.values()].map(({ text }) => text);

  it("offers the lines where it stands, changes each by itself, and undoes them together", async () => {
    const { editing, lines: shown } = await open();
    await editing.correct(shown[0] as never, "Smyth called", "Smith called");
    const offer = editing.offer.value;
    expect(offer?.lineIds).toEqual(["l1", "l3"]);
    if (offer === undefined) throw new Error("nothing is offered");
    await editing.correctEverywhere(offer, () => undefined);
    expect(texts()).toEqual(["Smith called", "Ms Smith's desk", "Smythe is another", "ask Smith"]);
    expect(editing.offer.value).toBeUndefined();
    expect(await editing.history.undo()).toBe("Undone.");
    expect(texts()).toEqual(["Smith called", "Ms Smyth's desk", "Smythe is another", "ask Smyth"]);
    expect(await editing.history.redo()).toBe("Done again.");
    expect(texts()[3]).toBe("ask Smith");
  });

  it("leaves a line that somebody changes meanwhile, and one that is gone", async () => {
    const { editing, lines: shown } = await open();
    await editing.correct(shown[0] as never, "Smyth called", "Smith called");
    const offer = editing.offer.value;
    if (offer === undefined) throw new Error("nothing is offered");
    const work = () => Object.assign(lines.get("l1") ?? {}, { text: "theirs", revision: 2 });
    meanwhile = { id: "l1", work };
    lines.delete("l3");
    await editing.correctEverywhere(offer, () => undefined);
    expect(texts()).toEqual(["Smith called", "theirs", "Smythe is another"]);
    expect(await editing.history.undo()).toBe("Undone.");
    expect(texts()).toEqual(["Smyth called", "theirs", "Smythe is another"]);
  });

  it("undoes those that nobody else has changed since, and tells how many stay", async () => {
    const { editing, lines: shown } = await open();
    await editing.correct(shown[0] as never, "Smyth called", "Smith called");
    const offer = editing.offer.value;
    if (offer === undefined) throw new Error("nothing is offered");
    await editing.correctEverywhere(offer, () => undefined);
    Object.assign(lines.get("l1") ?? {}, { text: "theirs", revision: 9 });
    expect(await editing.history.undo()).toBe(
      "Undone. 1 line was changed since by somebody else, and stays.",
    );
    expect(texts()).toEqual(["Smith called", "theirs", "Smythe is another", "ask Smyth"]);
  });

  it("undoes no change of somebody else that has not come over the live channel yet", async () => {
    const { editing, lines: shown } = await open();
    await editing.change(shown[3] as never, { text: "ask Smith" });
    // The last read of it is the page's, right before it changes the line.
    const work = () => Object.assign(lines.get("l3") ?? {}, { text: "theirs", revision: 9 });
    meanwhile = { id: "l3", work };
    expect(await editing.history.undo()).toMatch(/stays/);
    expect(texts()[3]).toBe("theirs");
  });
});
