import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import type { ServerFrame } from "../../src/wire/live-frames.ts";
import { startFront, type TestFront, type TestFrontOptions } from "../support/front.ts";
import { until } from "../support/until.ts";
import { Viewer } from "../support/viewer.ts";

let front: TestFront | undefined;
const viewers: Viewer[] = [];

afterEach(async () => {
  for (const viewer of viewers.splice(0)) viewer.socket.terminate();
  await front?.stop();
  front = undefined;
});

async function start(options: Partial<TestFrontOptions> = {}): Promise<TestFront> {
  front = await startFront({ routes: [], ...options });
  return front;
}

function view(
  { port }: TestFront,
  headers: Record<string, string> = { authorization: "Bearer user-bob" },
  query = "",
): Viewer {
  const viewer = new Viewer(`ws://127.0.0.1:${port}/api/live${query}`, headers);
  viewers.push(viewer);
  return viewer;
}

/** A session that the test policy knows: one whose id does not end in 0. */
function sessionId(): string {
  return `${newId().slice(0, -1)}1`;
}

function upTo(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index + 1);
}

function interim(session_id: string, segment_id: string, revision: number): ServerFrame {
  return {
    type: "Results",
    session_id,
    segment_id,
    revision,
    is_final: false,
    stable_words: 0,
    start: 0,
    duration: 1,
    transcript: `r${revision}`,
    confidence: 1,
    speaker: "UU",
    words: [],
  };
}

describe("front live: upgrade", () => {
  it("takes a bearer or a ticket, once, and refuses with the error body", async () => {
    const front = await start();
    await view(front).opened();
    front.tickets.set("once", front.callers.user("eve"));
    await view(front, {}, "?ticket=once").opened();
    for (const refused of [
      view(front, {}, "?ticket=once"),
      view(front, {}),
      view(front, {}, "?token=user-bob"),
    ]) {
      await until(() => refused.refused !== undefined, "the refusal");
      expect(refused.refused?.status).toBe(401);
      expect(Object.keys(JSON.parse(refused.refused?.body ?? ""))).toEqual(["success", "message"]);
    }
  });

  it("takes pages of its own host and of allowed origins only", async () => {
    const front = await start({ allowedOrigins: ["https://app.example"] });
    const authorization = "Bearer user-bob";
    await view(front, { authorization, origin: `http://127.0.0.1:${front.port}` }).opened();
    await view(front, { authorization, origin: "https://app.example" }).opened();
    for (const origin of ["https://evil.example", "null"]) {
      const refused = view(front, { authorization, origin });
      await until(() => refused.refused !== undefined, "the refusal");
      expect(refused.refused?.status).toBe(403);
    }
  });
});

describe("front live: bounds", () => {
  it("refuses more sockets than a caller may have with 429, than all may have with 503", async () => {
    const front = await start({ liveLimits: { socketsPerCaller: 2, sockets: 3 } });
    const bob = () => view(front, { authorization: "Bearer user-bob" });
    for (const viewer of [bob(), bob()]) await viewer.opened();
    const third = bob();
    await until(() => third.refused !== undefined, "the refusal");
    expect(third.refused?.status).toBe(429);
    await view(front, { authorization: "Bearer user-eve" }).opened();
    const fourth = view(front, { authorization: "Bearer user-ann" });
    await until(() => fourth.refused !== undefined, "the refusal");
    expect(fourth.refused?.status).toBe(503);
    const sockets = front.server.queues.find(({ queue }) => queue === "live_sockets");
    expect(sockets).toEqual({ queue: "live_sockets", length: 3, limit: 3, refused: 1 });
  });
});

describe("front live: following", () => {
  it("sends a snapshot, then what comes after it", async () => {
    const front = await start();
    const id = sessionId();
    for (let event = 0; event < 3; event += 1) front.source.append(id);
    const viewer = await view(front).opened();
    viewer.send({ type: "Subscribe", session_id: id });
    expect((await viewer.received("Snapshot")).seq).toBe(3);
    await until(() => front.source.replays > 0, "the read to the end");
    front.source.publish(id);
    await viewer.reached(4);
    expect(viewer.seqs()).toEqual([4]);
  });

  it("replays from a seq and goes live, none missing and none twice, while events come", async () => {
    const front = await start({ liveLimits: { recentFrames: 16, tickMs: 2 } });
    const id = sessionId();
    for (let event = 0; event < 1500; event += 1) front.source.append(id);
    front.source.beforeRead = () => new Promise((wake) => setTimeout(wake, 3));
    const late: [Viewer, number][] = [];
    for (let event = 1500; event < 3000; event += 1) {
      if (event % 100 === 0) {
        const fromSeq = (event * 7) % event;
        const viewer = await view(front).opened();
        viewer.send({ type: "Subscribe", session_id: id, from_seq: fromSeq });
        late.push([viewer, fromSeq]);
      }
      const frame = front.source.append(id);
      // Every ninth is lost on its way.
      if (event % 9 !== 0) front.source.fanOut(id, [frame]);
      if (event % 10 === 0) await new Promise((wake) => setImmediate(wake));
    }
    front.source.publish(id);
    for (const [viewer, fromSeq] of late) {
      await viewer.reached(3001);
      expect(viewer.seqs()).toEqual(upTo(fromSeq, 3001));
    }
  });

  it("fetches a lost tail when a heartbeat tells of it", async () => {
    const front = await start();
    const id = sessionId();
    front.source.append(id);
    const viewer = await view(front).opened();
    viewer.send({ type: "Subscribe", session_id: id, from_seq: 0 });
    await viewer.reached(1);
    for (let event = 0; event < 4; event += 1) front.source.append(id);
    const rest = { audio_received: 1, audio_finalised: 1, lag_ms: 0, gaps: 0 };
    front.source.fanOut(id, [{ type: "Heartbeat", session_id: id, seq: 5, ...rest }]);
    await viewer.reached(5);
    expect(viewer.seqs()).toEqual([1, 2, 3, 4, 5]);
    await viewer.received("Heartbeat");
  });

  it("drops what is published twice and puts into order what overtakes", async () => {
    const front = await start();
    const id = sessionId();
    const viewer = await view(front).opened();
    viewer.send({ type: "Subscribe", session_id: id, from_seq: 0 });
    await until(() => front.source.replays >= 2, "the subscription");
    const frames = upTo(0, 6).map(() => front.source.append(id));
    for (const at of [0, 0, 2, 1, 4, 4, 5, 3]) front.source.fanOut(id, frames.slice(at, at + 1));
    await viewer.reached(6);
    expect(viewer.seqs()).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("warns about a seq that is not there yet and sends a snapshot", async () => {
    const front = await start();
    const id = sessionId();
    front.source.append(id);
    const viewer = await view(front).opened();
    viewer.send({ type: "Subscribe", session_id: id, from_seq: 99 });
    await viewer.received("Warning");
    expect((await viewer.received("Snapshot")).seq).toBe(1);
    await until(() => viewer.frames.length === 2, "both");
    front.source.publish(id);
    await viewer.reached(2);
  });

  it("sends the newest interim of a tick only, and none after its final", async () => {
    const front = await start({ liveLimits: { tickMs: 50 } });
    const id = sessionId();
    const viewer = await view(front).opened();
    viewer.send({ type: "Subscribe", session_id: id });
    await viewer.received("Snapshot");
    front.source.publish(id);
    await viewer.reached(1);
    front.source.fanOut(id, [interim(id, "a", 1), interim(id, "a", 3), interim(id, "a", 2)]);
    await until(() => viewer.frames.some(({ is_final }) => is_final === false), "the interim");
    front.source.fanOut(id, [interim(id, "segment-2", 1)]);
    front.source.publish(id);
    await viewer.reached(2);
    const interims = viewer.frames.filter(({ is_final }) => is_final === false);
    expect(interims.map(({ transcript }) => transcript)).toEqual(["r3"]);
  });

  it("carries many sessions over one socket, each from its own seq, up to a bound", async () => {
    const front = await start({ liveLimits: { subscriptionsPerSocket: 5 } });
    const ids = Array.from({ length: 5 }, () => sessionId());
    for (const [at, id] of ids.entries()) {
      for (let event = 0; event < 20 + at; event += 1) front.source.append(id);
    }
    const viewer = await view(front).opened();
    for (const [at, id] of ids.entries()) {
      viewer.send({ type: "Subscribe", session_id: id, from_seq: at * 3 });
    }
    const one = sessionId();
    viewer.send({ type: "Subscribe", session_id: one });
    expect((await viewer.received("Error")).code).toBe("bad_request");
    for (let event = 0; event < 30; event += 1) for (const id of ids) front.source.publish(id);
    const seqsOf = (id: string) =>
      viewer.frames.filter((frame) => frame.session_id === id).flatMap(({ seq }) => seq ?? []);
    for (const [at, id] of ids.entries()) {
      const newest = 50 + at;
      await until(() => (seqsOf(id).at(-1) ?? 0) >= newest, "the newest event");
      expect(seqsOf(id)).toEqual(upTo(at * 3, newest));
    }
    expect(front.source.followers(one)).toBe(0);
    // One given up makes room for another, and says no more.
    const [first = ""] = ids;
    viewer.send({ type: "Unsubscribe", session_id: first });
    viewer.send({ type: "Subscribe", session_id: one });
    await viewer.received("Snapshot");
    const before = seqsOf(first).length;
    front.source.publish(first);
    front.source.publish(one);
    await until(() => seqsOf(one).length > 1, "the event of the other");
    expect(seqsOf(first)).toHaveLength(before);
  });

  it("tells a lag as its actor does", async () => {
    const front = await start();
    const id = sessionId();
    const viewer = await view(front).opened();
    viewer.send({ type: "Subscribe", session_id: id });
    await viewer.received("Snapshot");
    const rest = { audio_received: 90, audio_finalised: 12, lag_ms: 78_000, gaps: 2 };
    front.source.fanOut(id, [{ type: "Heartbeat", session_id: id, seq: 0, ...rest }]);
    expect(await viewer.received("Heartbeat")).toMatchObject(rest);
    expect(viewer.problems).toEqual([]);
  });

  it("lets go of a session that nobody follows any more", async () => {
    const front = await start();
    const id = sessionId();
    const [first, second] = [await view(front).opened(), await view(front).opened()];
    for (const viewer of [first, second]) {
      viewer.send({ type: "Subscribe", session_id: id });
      await viewer.received("Snapshot");
    }
    expect(front.source.followers(id)).toBe(1);
    first.send({ type: "Unsubscribe", session_id: id });
    second.socket.close();
    await until(() => front.source.followers(id) === 0, "the release");
  });

  it("reads a snapshot once for many who come at once", async () => {
    const front = await start();
    const id = sessionId();
    front.source.append(id);
    const many = await Promise.all(Array.from({ length: 50 }, () => view(front).opened()));
    for (const viewer of many) viewer.send({ type: "Subscribe", session_id: id });
    for (const viewer of many) await viewer.received("Snapshot");
    expect(front.source.snapshots).toBeLessThan(5);
  });
});

describe("front live: ends", () => {
  it("answers unknown and forbidden sessions with Error and closes an idle socket", async () => {
    const front = await start();
    const unknown = await view(front).opened();
    unknown.send({ type: "Subscribe", session_id: `${newId().slice(0, -1)}0` });
    expect((await unknown.received("Error")).code).toBe("not_found");
    expect(await unknown.closed()).toBe(4404);
    const odd = await view(front).opened();
    odd.send({ type: "Subscribe", session_id: "voice.>" });
    expect(await odd.closed()).toBe(4404);
    expect(front.source.followers("voice.>")).toBe(0);
    const id = sessionId();
    front.forbidden.add(id);
    const both = await view(front).opened();
    const other = sessionId();
    both.send({ type: "Subscribe", session_id: other });
    await both.received("Snapshot");
    both.send({ type: "Subscribe", session_id: id });
    expect((await both.received("Error")).code).toBe("forbidden");
    front.source.publish(other);
    await both.reached(1);
    expect(both.closeCode).toBeUndefined();
  });

  it("answers malformed frames with Error and closes when they go on", async () => {
    const front = await start();
    const viewer = await view(front).opened();
    const bad = [
      "{",
      "[]",
      '{"type":"Nope"}',
      '{"type":"Subscribe"}',
      '{"type":"Subscribe","session_id":"x","from_seq":-1}',
    ];
    for (const frame of bad) viewer.send(frame);
    expect(await viewer.closed()).toBe(4400);
    expect(viewer.frames.filter(({ type }) => type === "Error").length).toBe(5);
    const large = await view(front).opened();
    large.send("x".repeat(65_537));
    expect(await large.closed()).toBe(1009);
    const flood = await view(front).opened();
    for (let frame = 0; frame < 100; frame += 1) flood.send({ type: "KeepAlive" });
    expect(await flood.closed()).toBe(4429);
  });

  it("closes when rights end: at once when told, else at the next check", async () => {
    const front = await start({ liveLimits: { recheckMs: 60 } });
    const id = sessionId();
    const viewer = await view(front).opened();
    viewer.send({ type: "Subscribe", session_id: id });
    await viewer.received("Snapshot");
    front.forbidden.add(id);
    expect(await viewer.closed()).toBe(4403);
    const told = await view(front, { authorization: "Bearer user-eve" }).opened();
    front.callers.revoked.add("eve");
    front.revoke({ kind: "user", userId: "eve" });
    expect(await told.closed()).toBe(4401);
  });

  it("tells the first check of a subscription from those that follow", async () => {
    const front = await start({ liveLimits: { recheckMs: 40 } });
    const id = sessionId();
    const viewer = await view(front).opened();
    viewer.send({ type: "Subscribe", session_id: id });
    const asked = () => front.checks.filter((check) => check.sessionId === id);
    await until(() => asked().length >= 3, "the right to be checked again");
    expect(
      asked()
        .map(({ again }) => again)
        .slice(0, 3),
    ).toEqual([false, true, true]);
  });

  it("closes when the token expires", async () => {
    const front = await start({ liveLimits: { recheckMs: 60 } });
    front.callers.expiresAt = Date.now() + 300;
    const viewer = await view(front).opened();
    expect(await viewer.closed()).toBe(4401);
  });

  it("closes a socket that nothing is heard from", async () => {
    const front = await start({ liveLimits: { recheckMs: 40, pingMs: 50, idleMs: 400 } });
    const alive = await view(front).opened();
    const silent = connect(front.port, "127.0.0.1");
    let got = Buffer.alloc(0);
    silent.on("data", (data) => {
      got = Buffer.concat([got, data]);
    });
    silent.write(
      "GET /api/live HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer user-bob\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    );
    // 0x88: a close frame; 4408 is 0x1138.
    await until(() => got.includes(Buffer.from([0x11, 0x38])), "the close frame");
    silent.destroy();
    expect(alive.closeCode).toBeUndefined();
  });

  it("closes a viewer that cannot keep up and lets the others go on", async () => {
    const front = await start({ liveLimits: { bufferedBytes: 256 * 1024, tickMs: 1 } });
    const id = sessionId();
    const [slow, quick] = [await view(front).opened(), await view(front).opened()];
    for (const viewer of [slow, quick]) {
      viewer.send({ type: "Subscribe", session_id: id });
      await viewer.received("Snapshot");
    }
    slow.socket.pause();
    const text = "x".repeat(20_000);
    let published = 0;
    await until(() => {
      for (let event = 0; event < 5; event += 1) front.source.publish(id, text);
      published += 5;
      return front.server.sockets === 1 || published > 5000;
    }, "the close of the slow one");
    expect(front.server.sockets).toBe(1);
    await quick.reached(published);
    expect(quick.seqs()).toEqual(upTo(0, published));
    slow.socket.resume();
    expect(await slow.closed()).toBe(4410);
    const got = slow.seqs();
    expect(got).toEqual(upTo(0, got.length));
    const again = await view(front).opened();
    again.send({ type: "Subscribe", session_id: id, from_seq: got.length });
    await again.reached(published);
    expect(again.seqs()).toEqual(upTo(got.length, published));
  });

  it("does not close a viewer for a long replay, and sends it no faster than it reads", async () => {
    const front = await start({ liveLimits: { bufferedBytes: 2_000_000, recentFrames: 8 } });
    const id = sessionId();
    for (let event = 0; event < 5000; event += 1) front.source.append(id, "x".repeat(5000));
    const viewer = await view(front).opened();
    viewer.send({ type: "Subscribe", session_id: id, from_seq: 0 });
    await viewer.reached(5000);
    expect(viewer.seqs()).toEqual(upTo(0, 5000));
  });

  it("drains: over a while, each viewer is told when to come back", async () => {
    const front = await start();
    const viewers = await Promise.all(Array.from({ length: 5 }, () => view(front).opened()));
    const reasons: string[] = [];
    for (const { socket } of viewers) {
      socket.on("close", (_code, reason) => reasons.push(reason.toString()));
    }
    await front.server.drain(200);
    for (const viewer of viewers) expect(await viewer.closed()).toBe(1001);
    for (const reason of reasons) expect(reason).toMatch(/please reconnect in \d+ ms\.$/);
    expect(new Set(reasons).size).toBeGreaterThan(1);
  });

  it("drains: sends viewers elsewhere with 1001", async () => {
    const front = await start();
    const viewer = await view(front).opened();
    await front.server.drain();
    expect(await viewer.closed()).toBe(1001);
  });
});
