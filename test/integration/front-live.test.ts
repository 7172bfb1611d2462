import { afterEach, describe, expect, it } from "vitest";
import type { PublishedFrame } from "../../src/wire/live-frames.ts";
import { knownSessionId, LiveFixture, upTo } from "../support/live-fixture.ts";
import { until } from "../support/until.ts";
import type { Viewer } from "../support/viewer.ts";

const fixture = new LiveFixture();
afterEach(() => fixture.close());

function interim(session_id: string, segment_id: string, revision: number): PublishedFrame {
  return {
    type: "Results",
    session_id,
    segment_id,
    revision,
    is_final: false,
    stable_words: 0,
    // After the finals of the source.
    start: 100,
    duration: 1,
    transcript: `r${revision}`,
    confidence: 1,
    speaker: "UU",
    words: [],
  };
}

describe("front live: upgrade", () => {
  it("takes a bearer or a ticket, once, and refuses with the error body", async () => {
    const front = await fixture.start();
    await fixture.view(front).opened();
    front.tickets.set("once", front.callers.user("eve"));
    await fixture.view(front, {}, "?ticket=once").opened();
    for (const refused of [
      fixture.view(front, {}, "?ticket=once"),
      fixture.view(front, {}),
      fixture.view(front, {}, "?token=user-bob"),
    ]) {
      await until(() => refused.refused !== undefined, "the refusal");
      expect(refused.refused?.status).toBe(401);
      expect(Object.keys(JSON.parse(refused.refused?.body ?? ""))).toEqual(["success", "message"]);
    }
  });

  it("takes pages of its own host and of allowed origins only", async () => {
    const front = await fixture.start({ allowedOrigins: ["https://app.example"] });
    const authorization = "Bearer user-bob";
    await fixture.view(front, { authorization, origin: `http://127.0.0.1:${front.port}` }).opened();
    await fixture.view(front, { authorization, origin: "https://app.example" }).opened();
    for (const origin of ["https://evil.example", "null"]) {
      const refused = fixture.view(front, { authorization, origin });
      await until(() => refused.refused !== undefined, "the refusal");
      expect(refused.refused?.status).toBe(403);
    }
  });
});

describe("front live: bounds", () => {
  it("refuses more sockets than a caller may have with 429, than all may have with 503", async () => {
    const front = await fixture.start({ liveLimits: { socketsPerCaller: 2, sockets: 3 } });
    const bob = () => fixture.view(front, { authorization: "Bearer user-bob" });
    for (const viewer of [bob(), bob()]) await viewer.opened();
    const third = bob();
    await until(() => third.refused !== undefined, "the refusal");
    expect(third.refused?.status).toBe(429);
    await fixture.view(front, { authorization: "Bearer user-eve" }).opened();
    const fourth = fixture.view(front, { authorization: "Bearer user-ann" });
    await until(() => fourth.refused !== undefined, "the refusal");
    expect(fourth.refused?.status).toBe(503);
    const sockets = front.server.queues.find(({ queue }) => queue === "live_sockets");
    expect(sockets).toEqual({ queue: "live_sockets", length: 3, limit: 3, refused: 1 });
  });
});

describe("front live: following", () => {
  it("sends a snapshot, then what comes after it", async () => {
    const front = await fixture.start();
    const id = knownSessionId();
    for (let event = 0; event < 3; event += 1) front.source.append(id);
    const viewer = await fixture.view(front).opened();
    viewer.send({ type: "Subscribe", session_id: id });
    expect((await viewer.received("Snapshot")).seq).toBe(3);
    await until(() => front.source.replays > 0, "the read to the end");
    front.source.publish(id);
    await viewer.reached(4);
    expect(viewer.seqs()).toEqual([4]);
  });

  it("replays from a seq and goes live, none missing and none twice, while events come", async () => {
    const front = await fixture.start({ liveLimits: { recentFrames: 16, tickMs: 2 } });
    const id = knownSessionId();
    for (let event = 0; event < 1500; event += 1) front.source.append(id);
    front.source.beforeRead = () => new Promise((wake) => setTimeout(wake, 3));
    const late: [Viewer, number][] = [];
    for (let event = 1500; event < 3000; event += 1) {
      if (event % 100 === 0) {
        const fromSeq = (event * 7) % event;
        const viewer = await fixture.view(front).opened();
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
    const front = await fixture.start();
    const id = knownSessionId();
    front.source.append(id);
    const viewer = await fixture.view(front).opened();
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
    const front = await fixture.start();
    const id = knownSessionId();
    const viewer = await fixture.view(front).opened();
    viewer.send({ type: "Subscribe", session_id: id, from_seq: 0 });
    await until(() => front.source.replays >= 1, "the subscription");
    const frames = upTo(0, 6).map(() => front.source.append(id));
    for (const at of [0, 0, 2, 1, 4, 4, 5, 3]) front.source.fanOut(id, frames.slice(at, at + 1));
    await viewer.reached(6);
    expect(viewer.seqs()).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("warns about a seq that is not there yet and sends a snapshot", async () => {
    const front = await fixture.start();
    const id = knownSessionId();
    front.source.append(id);
    const viewer = await fixture.view(front).opened();
    viewer.send({ type: "Subscribe", session_id: id, from_seq: 99 });
    await viewer.received("Warning");
    expect((await viewer.received("Snapshot")).seq).toBe(1);
    await until(() => viewer.frames.length === 2, "both");
    front.source.publish(id);
    await viewer.reached(2);
  });

  it("warns about another event under the same seq, and goes on with the same one", async () => {
    const front = await fixture.start();
    const id = knownSessionId();
    const { at } = front.source.append(id);
    const viewer = await fixture.view(front).opened();
    const other = await fixture.view(front).opened();
    viewer.send({ type: "Subscribe", session_id: id, from_seq: 1, from_at: at });
    const wrong = "2026-01-01T00:00:00.001Z";
    other.send({ type: "Subscribe", session_id: id, from_seq: 1, from_at: wrong });
    await other.received("Warning");
    await other.received("Snapshot");
    front.source.publish(id);
    await viewer.reached(2);
    await other.reached(2);
    expect(viewer.seqs()).toEqual([2]);
    expect(viewer.frames.filter(({ type }) => type === "Warning")).toEqual([]);
  });

  it("sends the newest interim of a tick only, and none after its final", async () => {
    const front = await fixture.start({ liveLimits: { tickMs: 50 } });
    const id = knownSessionId();
    const viewer = await fixture.view(front).opened();
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
    const front = await fixture.start({ liveLimits: { subscriptionsPerSocket: 5 } });
    const ids = Array.from({ length: 5 }, () => knownSessionId());
    for (const [at, id] of ids.entries()) {
      for (let event = 0; event < 20 + at; event += 1) front.source.append(id);
    }
    const viewer = await fixture.view(front).opened();
    for (const [at, id] of ids.entries()) {
      viewer.send({ type: "Subscribe", session_id: id, from_seq: at * 3 });
    }
    const one = knownSessionId();
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
    const front = await fixture.start();
    const id = knownSessionId();
    const viewer = await fixture.view(front).opened();
    viewer.send({ type: "Subscribe", session_id: id });
    await viewer.received("Snapshot");
    const rest = { audio_received: 90, audio_finalised: 12, lag_ms: 78_000, gaps: 2 };
    front.source.fanOut(id, [{ type: "Heartbeat", session_id: id, seq: 0, ...rest }]);
    expect(await viewer.received("Heartbeat")).toMatchObject(rest);
    expect(viewer.problems).toEqual([]);
  });

  it("lets go of a session that nobody follows any more", async () => {
    const front = await fixture.start();
    const id = knownSessionId();
    const [first, second] = [
      await fixture.view(front).opened(),
      await fixture.view(front).opened(),
    ];
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
    const front = await fixture.start();
    const id = knownSessionId();
    front.source.append(id);
    const many = await Promise.all(Array.from({ length: 50 }, () => fixture.view(front).opened()));
    for (const viewer of many) viewer.send({ type: "Subscribe", session_id: id });
    for (const viewer of many) await viewer.received("Snapshot");
    expect(front.source.snapshots).toBeLessThan(5);
  });
});
