import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";

// Where the page is, which the client asks for when it is loaded.
vi.stubGlobal("document", { baseURI: "http://page.test/" });
const { account } = await import("../../../src/web/api/account.ts");
const { SessionMarks } = await import("../../../src/web/views/session/model/session-marks.ts");

const ME = { token: "t", isRemembered: false, id: "me", email: "me@example.org" } as const;

/** A service that keeps marks, and the answers that it gives instead, in order. */
class MarkService {
  readonly stored = new Map<string, { at_ms: number; text: string }>();
  readonly wishes: string[] = [];
  readonly instead: (() => Response)[] = [];

  readonly answer = async (request: Request): Promise<Response> => {
    const instead = this.instead.shift();
    const body = (await request.json()) as { at_ms?: number; text?: string };
    const id = request.method === "POST" ? "mark-1" : (request.url.split("/").at(-1) ?? "");
    this.wishes.push(request.headers.get("idempotency-key") ?? request.method);
    if (instead !== undefined) return instead();
    const mark = { at_ms: 0, text: "", ...this.stored.get(id), ...body };
    this.stored.set(id, mark);
    const author = { id: ME.id };
    return Response.json({ id, session_id: "s", ...mark, author });
  };
}

describe("marks on the page", () => {
  let service: MarkService;
  let marks: InstanceType<typeof SessionMarks>;

  // Other files run in this process after it.
  afterAll(() => vi.unstubAllGlobals());
  beforeEach(() => {
    vi.useFakeTimers();
    account.value = { kind: "user", role: "participant", ...ME };
    service = new MarkService();
    vi.stubGlobal("fetch", service.answer);
    marks = new SessionMarks("s");
  });
  afterEach(() => {
    marks.close();
    account.value = undefined;
    vi.useRealTimers();
  });

  const settled = () => vi.waitFor(() => expect(marks.list.value[0]?.id).toBe("mark-1"));

  it("show at once, and are stored with the words that are written meanwhile", async () => {
    marks.add(1_234.6);
    const [mark] = marks.list.value;
    expect(mark).toMatchObject({ atMs: 1_235, text: "", id: undefined, isMine: true });
    expect(marks.open.value).toBe(mark?.key);
    marks.write(mark?.key ?? "", " Ask for figures ");
    expect(marks.open.value).toBeUndefined();
    await settled();
    const stored = { at_ms: 1_235, text: "Ask for figures" };
    await vi.waitFor(() => expect(service.stored.get("mark-1")).toEqual(stored));
  });

  it("wait for a network that is away, under the same wish, with the moment of the press", async () => {
    const gone = () => {
      throw new TypeError("no network");
    };
    service.instead.push(gone, gone);
    marks.add(5_000);
    for (const tries of [1, 2]) {
      await vi.waitFor(() => expect(service.wishes).toHaveLength(tries));
      expect(marks.list.value).toMatchObject([{ id: undefined, atMs: 5_000 }]);
      await vi.advanceTimersByTimeAsync(3_000);
    }
    await settled();
    expect(new Set(service.wishes).size).toBe(1);
    expect(service.stored.get("mark-1")).toEqual({ at_ms: 5_000, text: "" });
  });

  it("go from the page where the service refuses them", async () => {
    service.instead.push(() => Response.json({ success: false, message: "No." }, { status: 409 }));
    marks.add(1);
    await vi.waitFor(() => expect(marks.list.value).toEqual([]));
  });
});
