import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { WebSocket } from "ws";
import { ChannelError } from "../../../src/client/errors.ts";
import type { Cursor, Follower } from "../../../src/client/follow.ts";
import type { ServerFrame } from "../../../src/client/frames.ts";
import { VoiceClient } from "../../../src/client/node.ts";
import { ScriptedService } from "../../support/scripted-service.ts";

const QUICK = { attempts: 4, firstMs: 1, longestMs: 2 };
const at = (seq: number) => `at ${seq}`;
const snapshot = (seq: number) => ({
  ...{ type: "Snapshot", session_id: "s", seq, seq_at: at(seq), speakers: [], segments: [] },
  session: { id: "s", status: "recording" },
});
const event = (seq: number) => ({ type: "Stub", session_id: "s", seq, at: at(seq) });
const end = (seq: number) => ({ type: "SessionEnded", session_id: "s", seq, status: "completed" });

describe("followers", () => {
  let service: ScriptedService;
  let voice: VoiceClient;
  /** What each connection is told after its Subscribe, and the code it is closed with. */
  let acts: { frames: readonly (object | string)[]; code?: number }[];
  let subscribed: Record<string, unknown>[];
  beforeEach(async () => {
    service = await ScriptedService.start();
    voice = new VoiceClient({ baseUrl: service.url, apiKey: "vsk_1" });
    [acts, subscribed] = [[], []];
    service.play = (socket: WebSocket) => {
      socket.once("message", (data) => {
        subscribed.push(JSON.parse(String(data)));
        const { frames = [], code = undefined } = acts.shift() ?? {};
        for (const frame of frames) {
          socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
        }
        if (code === 1006) socket.terminate();
        else if (code !== undefined) socket.close(code);
      });
    };
  });
  afterEach(() => service.stop());

  const follow = (cursor?: Cursor) =>
    voice.follow("s", { backOff: QUICK, ...(cursor && { cursor }) });

  async function toEnd(follower: Follower): Promise<ServerFrame[]> {
    const seen: ServerFrame[] = [];
    for await (const frame of follower) {
      seen.push(frame);
      if (frame.type === "SessionEnded") break;
    }
    return seen;
  }
  const seqs = (frames: readonly ServerFrame[]) =>
    frames.flatMap((frame) => ("at" in frame ? [frame.seq] : []));

  it("follow: cut three times, each event comes once and in order", async () => {
    acts = [
      { frames: [event(1), event(2)], code: 1006 },
      { frames: [event(2), [event(3), event(4)], event(4)], code: 4410 },
      { frames: ["no frame", event(5)], code: 1001 },
      { frames: [event(6), end(6)] },
    ];
    const seen = await toEnd(follow({ seq: 0 }));
    expect(seqs(seen)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(subscribed.map(({ from_seq }) => from_seq)).toEqual([0, 2, 4, 5]);
    expect(subscribed[1]).toEqual({
      ...{ type: "Subscribe", session_id: "s", from_seq: 2, from_at: at(2) },
    });
    expect(service.upgrades[0]?.url).toBe("/api/live");
    expect(service.upgrades[0]?.headers["x-api-key"]).toBe("vsk_1");
  });

  it("follow: a cursor names the newest event that was given, not what lies in wait", async () => {
    acts = [{ frames: [snapshot(4), event(5), event(6), event(7)] }];
    const first = follow();
    expect(first.cursor).toBeUndefined();
    for await (const frame of first) if ("at" in frame && frame.seq === 5) break;
    const kept = JSON.parse(JSON.stringify(first.cursor)) as Cursor;
    expect(kept).toEqual({ seq: 5, at: at(5) });
    acts = [{ frames: [event(6), event(7), end(7)] }];
    expect(seqs(await toEnd(follow(kept)))).toEqual([6, 7]);
    expect(subscribed.at(-1)).toMatchObject({ from_seq: 5, from_at: at(5) });
  });

  it("follow: what came together is given together, and what is missing behind it is fetched", async () => {
    acts = [
      {
        frames: [
          [event(1), event(2), event(2)],
          [event(3), event(5)],
        ],
      },
      { frames: [[event(4), event(5), end(5)]] },
    ];
    const batches: number[][] = [];
    const cursors: (number | undefined)[] = [];
    const follower = follow({ seq: 0 });
    for await (const frames of follower.together()) {
      batches.push(seqs(frames));
      cursors.push(follower.cursor?.seq);
      if (frames.some(({ type }) => type === "SessionEnded")) break;
    }
    expect(batches).toEqual([[1, 2], [3], [4, 5]]);
    expect(cursors).toEqual([2, 3, 5]);
    acts = [{ frames: [[event(6), event(7)]] }];
    const single = follow(follower.cursor);
    for await (const _frame of single) break;
    expect(single.cursor).toEqual({ seq: 6, at: at(6) });
  });

  it("follow: an event that is missing is fetched before later ones are given", async () => {
    acts = [
      { frames: [event(1), event(3)] },
      { frames: [event(2), event(3), end(5)] },
      { frames: [event(4), event(5), end(5)] },
    ];
    expect(seqs(await toEnd(follow({ seq: 0 })))).toEqual([1, 2, 3, 4, 5]);
    expect(subscribed.map(({ from_seq }) => from_seq)).toEqual([0, 1, 3]);
  });

  it.each([
    [4403, "forbidden", /may not follow/],
    [4404, "not_found", /no such session/],
    [4400, "bad_request", /did not understand/],
    [4401, "unauthorized", /lost/],
  ])("follow: closed with %d it is over", async (code, name, message) => {
    acts = [{ frames: [], code }];
    const error = await toEnd(follow()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ChannelError);
    expect(error).toMatchObject({ code: name, closeCode: code, isRetryable: false });
    expect(String(error)).toMatch(message);
    expect(subscribed).toHaveLength(1);
  });

  it("follow: an error frame that will not pass is thrown with its code, another is given", async () => {
    const error = { type: "Error", message: "Deleted.", code: "session_deleted", retryable: false };
    acts = [{ frames: [{ ...error, code: "overloaded", retryable: true }, error] }];
    const seen: ServerFrame[] = [];
    const all = (async () => {
      for await (const frame of follow()) seen.push(frame);
    })();
    await expect(all).rejects.toMatchObject({ code: "session_deleted" });
    expect(seen.map(({ type }) => type)).toEqual(["Error"]);
  });

  it("follow: a token that has run out is renewed, at the upgrade and later", async () => {
    const tokens: string[] = [];
    const person = new VoiceClient({
      baseUrl: service.url,
      token: (isRefused) => (isRefused ? `fresh ${tokens.push("")}` : "old"),
    });
    service.refuse = (number) => (number === 1 ? { status: 401 } : undefined);
    acts = [{ frames: [snapshot(0)], code: 4401 }, { frames: [end(0)] }];
    await toEnd(person.follow("s", { backOff: QUICK }));
    expect(service.upgrades.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer old",
      "Bearer fresh 1",
      "Bearer fresh 2",
    ]);
  });

  it("follow: it gives up after connections in a row that brought nothing", async () => {
    acts = [{ frames: [event(1)], code: 1006 }];
    service.refuse = (number) => (number > 1 ? { status: 503 } : undefined);
    const error = await toEnd(follow({ seq: 0 })).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "unreachable", isRetryable: true });
    expect(service.upgrades).toHaveLength(QUICK.attempts);
  });

  it("follow: leaving closes the connection, and so does the signal, with its reason", async () => {
    const closed: number[] = [];
    const { play } = service;
    service.play = (socket, number) => {
      socket.on("close", (code) => closed.push(code));
      play(socket, number);
    };
    acts = [{ frames: [event(1)] }, { frames: [event(1)] }];
    for await (const _frame of follow({ seq: 0 })) break;
    await expect.poll(() => closed).toEqual([1000]);
    const stop = new AbortController();
    const all = (async () => {
      for await (const _frame of voice.follow("s", { cursor: { seq: 0 }, signal: stop.signal })) {
        setTimeout(() => stop.abort(new Error("enough")), 5);
      }
    })();
    await expect(all).rejects.toThrow("enough");
    await expect.poll(() => closed).toEqual([1000, 1000]);
  });
});
