import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { LiveViewer } from "../../src/cli/client/live-viewer.ts";
import { UserSession } from "../../src/cli/client/user-session.ts";
import { ApiClient } from "../../src/client/api-client.ts";
import type { ServerFrame } from "../../src/wire/live-frames.ts";
import type { ViewerFrame } from "../../src/wire/viewer-frames.ts";

type Act = (socket: WebSocket, subscribe: Extract<ViewerFrame, { type: "Subscribe" }>) => void;

/** A live channel that plays one act for each connection. */
class ScriptedChannel {
  readonly tokens: string[] = [];
  readonly subscriptions: (number | undefined)[] = [];
  acts: Act[] = [];
  readonly #http: Server = createServer((request, response) => {
    const fresh = request.url === "/api/auth/refresh-token";
    response.writeHead(fresh ? 200 : 404).end(JSON.stringify({ token: "fresh", message: "no" }));
  });
  readonly #sockets = new WebSocketServer({ server: this.#http, path: "/api/live" });

  async start(): Promise<string> {
    this.#sockets.on("connection", (socket, request) => {
      this.tokens.push(request.headers.authorization ?? "");
      socket.on("message", (data) => {
        const frame = JSON.parse(String(data)) as ViewerFrame;
        if (frame.type !== "Subscribe") return;
        this.subscriptions.push(frame.from_seq);
        this.acts.shift()?.(socket, frame);
      });
    });
    await new Promise<void>((done) => this.#http.listen(0, "127.0.0.1", done));
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}/api`;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#sockets.close();
    this.#http.closeAllConnections();
    await new Promise((done) => this.#http.close(done));
  }
}

const snapshot = (seq: number) => ({
  ...{ type: "Snapshot", session_id: "s", seq, speakers: [], segments: [] },
  session: { id: "s", status: "recording" },
});
const event = (seq: number) => ({ type: "Stub", session_id: "s", seq, at: "" });
const beat = (seq: number) => ({ type: "Heartbeat", session_id: "s", seq });
const end = (seq: number) => ({ type: "SessionEnded", session_id: "s", seq, status: "completed" });

let channel: ScriptedChannel;
let user: UserSession;
let seen: ServerFrame[];
beforeEach(async () => {
  channel = new ScriptedChannel();
  seen = [];
  const login = { email: "", token: "old", refresh_token: "refresh" };
  user = new UserSession(new ApiClient(await channel.start()), login, () => undefined);
});
afterEach(() => channel.stop());

const plays =
  (...frames: object[]): Act =>
  (socket) => {
    for (const frame of frames) socket.send(JSON.stringify(frame));
  };

const playsThenDrops =
  (...frames: object[]): Act =>
  (socket, subscribe) => {
    plays(...frames)(socket, subscribe);
    socket.close(4410, "too slow");
  };

function view(): Promise<void> {
  const onFrame = (frame: ServerFrame) => {
    seen.push(frame);
    return frame.type === "SessionEnded";
  };
  const { signal } = new AbortController();
  return new LiveViewer(user, { sessionId: "s", signal, onFrame }).run();
}

/** Of the snapshot and the durable events. */
const sequence = () =>
  seen.flatMap((frame) =>
    frame.type === "Snapshot" || ("at" in frame && "seq" in frame) ? [frame.seq] : [],
  );

describe("cli live viewer: against a scripted channel", () => {
  it("comes back with from_seq and shows each durable event once", async () => {
    channel.acts = [
      playsThenDrops(snapshot(2), event(3), event(3), event(4)),
      playsThenDrops(event(4), event(5)),
      plays(event(6), event(7), end(7)),
    ];
    await view();
    expect(channel.subscriptions).toEqual([undefined, 4, 5]);
    expect(sequence()).toEqual([2, 3, 4, 5, 6, 7]);
  });

  it("asks again when an event is missing in between", async () => {
    channel.acts = [
      plays(snapshot(0), event(1), event(3)),
      plays(event(2), event(3), event(4), end(4)),
    ];
    await view();
    expect(channel.subscriptions).toEqual([undefined, 1]);
    expect(sequence()).toEqual([0, 1, 2, 3, 4]);
  });

  it("notices a lost tail by the second heartbeat that counts it, not the first", async () => {
    channel.acts = [
      plays(snapshot(0), beat(1), event(1), beat(2), beat(2)),
      plays(event(2), event(3), end(3)),
    ];
    await view();
    expect(channel.subscriptions).toEqual([undefined, 1]);
    expect(sequence()).toEqual([0, 1, 2, 3]);
  });

  it("renews an access token that has run out", async () => {
    channel.acts = [(socket) => socket.close(4401, "expired"), plays(snapshot(0), end(0))];
    await view();
    expect(channel.tokens).toEqual(["Bearer old", "Bearer fresh"]);
  });

  it.each([
    [4403, /may not follow/],
    [4404, /no such session/],
  ])("gives up for good when it is closed with %d", async (code, message) => {
    channel.acts = [(socket) => socket.close(code)];
    await expect(view()).rejects.toThrow(message);
    expect(channel.subscriptions).toHaveLength(1);
  });

  it("is done with a session that has ended, and fetches first what it has not had", async () => {
    channel.acts = [plays(snapshot(3), end(3))];
    await view();
    channel.acts = [plays(snapshot(3), end(5)), plays(event(4), event(5), end(5))];
    await view();
    expect(channel.subscriptions).toEqual([undefined, undefined, 3]);
    expect(sequence()).toEqual([3, 3, 4, 5]);
  });

  it("gives up on an error that will not pass", async () => {
    const error = { type: "Error", message: "deleted", retryable: false };
    channel.acts = [plays({ ...error, code: "session_deleted" })];
    await expect(view()).rejects.toThrow("deleted");
  });
});
