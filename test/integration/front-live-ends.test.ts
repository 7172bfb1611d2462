import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import type { TestFront } from "../support/front.ts";
import { knownSessionId, LiveFixture, upTo } from "../support/live-fixture.ts";
import { ManualClock, runtimeBy } from "../support/manual-clock.ts";
import { until } from "../support/until.ts";
import type { Viewer } from "../support/viewer.ts";

const fixture = new LiveFixture();
afterEach(() => fixture.close());

describe("front live: the end of a session", () => {
  const types = (viewer: Viewer, id: string) =>
    viewer.frames.filter(({ session_id }) => session_id === id).map(({ type }) => type);

  it("is told once, to those who were there and to those who come later", async () => {
    const front = await fixture.start();
    const id = knownSessionId();
    const early = await fixture.view(front).opened();
    early.send({ type: "Subscribe", session_id: id, from_seq: 0 });
    front.source.publish(id);
    await early.reached(1);
    front.source.fanOut(id, [front.source.appendStatus(id, "completed")]);
    expect(await early.received("SessionEnded")).toEqual({
      type: "SessionEnded",
      session_id: id,
      status: "completed",
      seq: 2,
    });
    const late = await fixture.view(front).opened();
    late.send({ type: "Subscribe", session_id: id });
    const again = await fixture.view(front).opened();
    again.send({ type: "Subscribe", session_id: id, from_seq: 2 });
    for (const viewer of [late, again]) {
      expect(await viewer.received("SessionEnded")).toMatchObject({ seq: 2 });
    }
    front.source.publish(id);
    for (const viewer of [early, late, again]) await viewer.reached(3);
    expect(types(early, id)).toEqual(["Results", "SessionStatus", "SessionEnded", "Results"]);
    expect(types(late, id)).toEqual(["Snapshot", "SessionEnded", "Results"]);
    expect(types(again, id)).toEqual(["SessionEnded", "Results"]);
  });

  it("is told for each session of a socket, and leaves the socket and the others alone", async () => {
    const front = await fixture.start();
    const [first, second] = [knownSessionId(), knownSessionId()];
    front.source.appendStatus(first, "failed");
    const viewer = await fixture.view(front).opened();
    for (const session_id of [first, second]) {
      viewer.send({ type: "Subscribe", session_id, from_seq: 0 });
    }
    const told = await viewer.received("SessionEnded");
    expect(told).toMatchObject({ session_id: first, status: "failed", seq: 1 });
    front.source.publish(second);
    await until(() => types(viewer, second).length > 0, "the other session");
    front.source.fanOut(second, [front.source.appendStatus(second, "completed")]);
    await until(() => types(viewer, second).includes("SessionEnded"), "its end");
    expect(types(viewer, first)).toEqual(["SessionStatus", "SessionEnded"]);
    expect(viewer.closeCode).toBeUndefined();
  });

  it("is followed by the refusal when the session is deleted after it", async () => {
    const front = await fixture.start();
    const id = knownSessionId();
    front.source.appendStatus(id, "completed");
    const viewer = await fixture.view(front).opened();
    viewer.send({ type: "Subscribe", session_id: id });
    await viewer.received("SessionEnded");
    front.source.fanOut(id, [front.source.appendStatus(id, "deleted")]);
    front.forbidden.add(id);
    front.revoke({ kind: "session", sessionId: id });
    expect(await viewer.closed()).toBe(4403);
    expect(types(viewer, id).filter((type) => type === "SessionEnded")).toHaveLength(1);
    expect(types(viewer, id).at(-1)).toBe("Error");
  });
});

describe("front live: ends", () => {
  it("answers unknown and forbidden sessions with Error and closes an idle socket", async () => {
    const front = await fixture.start();
    const unknown = await fixture.view(front).opened();
    unknown.send({ type: "Subscribe", session_id: `${newId().slice(0, -1)}0` });
    expect((await unknown.received("Error")).code).toBe("not_found");
    expect(await unknown.closed()).toBe(4404);
    const odd = await fixture.view(front).opened();
    odd.send({ type: "Subscribe", session_id: "voice.>" });
    expect(await odd.closed()).toBe(4404);
    expect(front.source.followers("voice.>")).toBe(0);
    const id = knownSessionId();
    front.forbidden.add(id);
    const both = await fixture.view(front).opened();
    const other = knownSessionId();
    both.send({ type: "Subscribe", session_id: other });
    await both.received("Snapshot");
    both.send({ type: "Subscribe", session_id: id });
    expect((await both.received("Error")).code).toBe("forbidden");
    front.source.publish(other);
    await both.reached(1);
    expect(both.closeCode).toBeUndefined();
  });

  it("answers malformed frames with Error and closes when they go on", async () => {
    const front = await fixture.start();
    const viewer = await fixture.view(front).opened();
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
    const large = await fixture.view(front).opened();
    large.send("x".repeat(65_537));
    expect(await large.closed()).toBe(1009);
    const flood = await fixture.view(front).opened();
    for (let frame = 0; frame < 100; frame += 1) flood.send({ type: "KeepAlive" });
    expect(await flood.closed()).toBe(4429);
  });

  async function following(front: TestFront, id: string, user = "bob"): Promise<Viewer> {
    const viewer = await fixture.view(front, { authorization: `Bearer user-${user}` }).opened();
    viewer.send({ type: "Subscribe", session_id: id });
    await viewer.received("Snapshot");
    return viewer;
  }

  const asked = (front: TestFront, id: string) =>
    front.checks.filter((check) => check.sessionId === id).map(({ again }) => again);

  it("closes when rights end: of a session, and of a caller", async () => {
    const front = await fixture.start();
    const id = knownSessionId();
    const viewer = await following(front, id);
    front.forbidden.add(id);
    front.revoke({ kind: "session", sessionId: id });
    expect(await viewer.closed()).toBe(4403);
    const told = await fixture.view(front, { authorization: "Bearer user-eve" }).opened();
    front.callers.revoked.add("eve");
    front.revoke({ kind: "user", userId: "eve" });
    expect(await told.closed()).toBe(4401);
  });

  it("checks anew whom it concerns and nobody else; everybody when it is not known", async () => {
    const front = await fixture.start();
    const [id, other] = [knownSessionId(), knownSessionId()];
    await following(front, id);
    await following(front, other, "eve");
    front.revoke({ kind: "user", userId: "somebody" });
    front.revoke({ kind: "session", sessionId: knownSessionId() });
    front.revoke({ kind: "user", userId: "bob" });
    await until(() => asked(front, id).length > 1, "the right to be checked again");
    expect([asked(front, id), asked(front, other)]).toEqual([[false, true], [false]]);
    front.revoke({ kind: "unknown" });
    await until(() => asked(front, other).length > 1, "the other's right to be checked again");
  });

  it("a check without an answer takes no right away, and is made again until there is one", async () => {
    const front = await fixture.start({ liveLimits: { pingMs: 40 } });
    const id = knownSessionId();
    const viewer = await following(front, id);
    front.away.add(id);
    front.revoke({ kind: "session", sessionId: id });
    await until(() => asked(front, id).length > 3, "the right to be asked for again");
    expect(viewer.closeCode).toBeUndefined();
    front.forbidden.add(id);
    front.away.delete(id);
    expect(await viewer.closed()).toBe(4403);
  });

  it("a right that ends with time is checked then, and ends even when there is no answer", async () => {
    const clock = new ManualClock(Date.now());
    const front = await fixture.start({ liveLimits: { pingMs: 40 }, runtime: runtimeBy(clock) });
    const [id, other] = [knownSessionId(), knownSessionId()];
    for (const each of [id, other]) front.rightsEnd.set(each, clock.now() + 1_000);
    const viewer = await following(front, id);
    const cut = await following(front, other);
    front.rightsEnd.set(id, clock.now() + 600_000);
    front.away.add(other);
    clock.advance(1_000);
    await until(() => asked(front, id).length > 1, "the right to be checked again");
    expect((await cut.received("Error")).code).toBe("unavailable");
    await cut.closed();
    expect(asked(front, id)).toEqual([false, true]);
    expect(viewer.closeCode).toBeUndefined();
  });

  it("what ends while a viewer comes in is not missed", async () => {
    const front = await fixture.start();
    const { authenticate } = front.callers;
    front.callers.authenticate = async (...given) => {
      const principal = await authenticate.apply(front.callers, given);
      front.callers.revoked.add(principal.id);
      front.revoke({ kind: "user", userId: principal.id });
      return principal;
    };
    expect(await fixture.view(front).closed()).toBe(4401);
  });

  it("closes when the token expires", async () => {
    const front = await fixture.start();
    front.callers.expiresAt = Date.now() + 300;
    const viewer = await fixture.view(front).opened();
    expect(await viewer.closed()).toBe(4401);
  });

  it("closes a socket that nothing is heard from", async () => {
    const front = await fixture.start({ liveLimits: { pingMs: 50, idleMs: 400 } });
    const alive = await fixture.view(front).opened();
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
    const front = await fixture.start({ liveLimits: { bufferedBytes: 256 * 1024, tickMs: 1 } });
    const id = knownSessionId();
    const [slow, quick] = [await fixture.view(front).opened(), await fixture.view(front).opened()];
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
    const again = await fixture.view(front).opened();
    again.send({ type: "Subscribe", session_id: id, from_seq: got.length });
    await again.reached(published);
    expect(again.seqs()).toEqual(upTo(got.length, published));
  });

  it("does not close a viewer for a long replay, and sends it no faster than it reads", async () => {
    const front = await fixture.start({
      liveLimits: { bufferedBytes: 2_000_000, recentFrames: 8 },
    });
    const id = knownSessionId();
    for (let event = 0; event < 5000; event += 1) front.source.append(id, "x".repeat(5000));
    const viewer = await fixture.view(front).opened();
    viewer.send({ type: "Subscribe", session_id: id, from_seq: 0 });
    await viewer.reached(5000);
    expect(viewer.seqs()).toEqual(upTo(0, 5000));
  });

  it("drains: over a while, each viewer is told when to come back", async () => {
    const front = await fixture.start();
    const viewers = await Promise.all(
      Array.from({ length: 5 }, () => fixture.view(front).opened()),
    );
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
    const front = await fixture.start();
    const viewer = await fixture.view(front).opened();
    await front.server.drain();
    expect(await viewer.closed()).toBe(1001);
  });
});
