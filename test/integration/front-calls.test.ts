import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { AppError } from "../../src/base/errors.ts";
import { silentLog } from "../../src/base/log.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import type { ChannelContext } from "../../src/http/sockets/channel.ts";
import { DEFAULT_LIVE_LIMITS, type LiveLimits } from "../../src/http/sockets/live-limits.ts";
import { CallChannel, type CallOptions } from "../../src/telephony/call-channel.ts";
import { startFront, type TestFront } from "../support/front.ts";
import { PhoneLine } from "../support/phone-line.ts";
import { serviceKey } from "../support/service-principal.ts";
import { until } from "../support/until.ts";

const WORKSPACE = "01a20000-0000-7000-8000-000000000002";
const SESSION = "01a20000-0000-7000-8000-000000000001";
const FRAME = new Uint8Array(160);

/** A front whose calls are stored nowhere: `ticket of <name>` is one of the key of that name. */
class CallFront {
  readonly front: TestFront;
  readonly #done: string[];

  private constructor(front: TestFront, done: string[]) {
    this.front = front;
    this.#done = done;
  }

  static async start(liveLimits: Partial<LiveLimits> = {}): Promise<CallFront> {
    const done: string[] = [];
    const stream = {
      sessionId: SESSION,
      push: () => void done.push("sound"),
      close: async () => {},
    };
    const calls = {
      tickets: {
        async redeemForCall(ticket: string) {
          const name = /^ticket of (\w+)$/.exec(ticket)?.[1];
          if (name === undefined) throw new AppError("invalid_token", "No such ticket.");
          const key = serviceKey(WORKSPACE, name, ["sessions:write"]);
          return { principal: { ...key, id: name }, sessionId: SESSION };
        },
      },
      directory: {
        facts: async () => ({
          ...{ kind: "session", id: SESSION, workspaceId: WORKSPACE, deleted: false },
        }),
        recordContentRead: async () => {},
      },
      streams: { open: async () => ({ stream }) },
      sessions: {
        async stop() {
          done.push("stop");
          return { outbox: [] };
        },
      },
      notifier: { notify() {} },
      ...{ runtime: systemRuntime, log: silentLog },
      ...{ twilioToken: undefined, publicUrl: undefined },
    } as unknown as CallOptions;
    const channels = [(common: ChannelContext) => new CallChannel({ ...common, calls })];
    return new CallFront(await startFront({ routes: [], channels, liveLimits }), done);
  }

  get url(): string {
    return `ws://127.0.0.1:${this.front.port}/api/compat/twilio/stream`;
  }

  count(step: string): number {
    return this.#done.filter((each) => each === step).length;
  }

  /** A call of that key from which sound has come. */
  async call(name: string): Promise<PhoneLine> {
    const line = await PhoneLine.open(this.url);
    const before = this.count("sound");
    line.start(`ticket of ${name}`, "inbound");
    line.media("inbound", 0, FRAME);
    await until(() => this.count("sound") > before, "the first sound");
    return line;
  }

  /** Of the queue of this name. */
  figures(queue: string): { length: number; limit: number } | undefined {
    return this.front.server.queues.find((each) => each.queue === queue);
  }
}

let service: CallFront | undefined;

async function start(limits?: Partial<LiveLimits>): Promise<CallFront> {
  service = await CallFront.start(limits);
  return service;
}

afterEach(async () => {
  await service?.front.stop();
  service = undefined;
});

describe("sockets of telephone calls", () => {
  it("are counted while they wait for a ticket, and after it", async () => {
    const calls = await start();
    const waiting = await PhoneLine.open(calls.url);
    await until(() => calls.figures("calls_without_a_ticket")?.length === 1, "the waiting call");
    const line = await calls.call("anna");
    expect(calls.figures("calls_without_a_ticket")?.length).toBe(1);
    expect(calls.figures("call_sockets")?.length).toBe(2);
    waiting.socket.close();
    line.stop();
    expect((await line.closed).code).toBe(1000);
    await until(() => calls.figures("call_sockets")?.length === 0, "their places to be free");
    expect(calls.figures("calls_without_a_ticket")?.length).toBe(0);
    expect(calls.count("stop")).toBe(1);
  });

  it("end when no sound comes, whatever else does, and their recording with them", async () => {
    const calls = await start({ idleMs: 400, pingMs: 100 });
    const line = await calls.call("anna");
    const chatter = setInterval(() => line.send({ event: "mark", mark: { name: "m" } }), 20);
    expect(await line.closed).toMatchObject({ code: 4408 });
    clearInterval(chatter);
    await until(() => calls.count("stop") === 1, "the end of the recording");
  });

  it("are no more of a workspace than it may have", async () => {
    const calls = await start({ shares: { ...DEFAULT_LIVE_LIMITS.shares, workspace: 2 } });
    const first = await calls.call("anna");
    await calls.call("ben");
    const third = await PhoneLine.open(calls.url);
    third.start("ticket of carla", "inbound");
    expect((await third.closed).code).toBe(4429);
    first.stop();
    await first.closed;
    await until(() => calls.figures("call_sockets")?.length === 1, "the first place to be free");
    await calls.call("carla");
  });

  it("are no more of an address without a ticket than it may have", async () => {
    const calls = await start();
    const waiting = await Promise.all(Array.from({ length: 100 }, () => PhoneLine.open(calls.url)));
    const limit = () => calls.figures("calls_without_a_ticket")?.length === 100;
    await until(limit, "as many as may wait");
    const last = await PhoneLine.open(calls.url);
    expect((await last.closed).code).toBe(4429);
    for (const { socket } of waiting) socket.close();
  });

  it("are not opened by pages of other origins", async () => {
    const calls = await start();
    const socket = new WebSocket(calls.url, { origin: "https://evil.example" });
    socket.on("error", () => {});
    const [, response] = await once(socket, "unexpected-response");
    expect(response.statusCode).toBe(403);
    socket.terminate();
  });

  it("are closed when the service stops, and their recordings end", async () => {
    const calls = await start();
    const line = await calls.call("anna");
    const waiting = await PhoneLine.open(calls.url);
    await until(() => calls.figures("calls_without_a_ticket")?.length === 1, "the waiting call");
    await calls.front.server.drain();
    expect((await line.closed).code).toBe(1001);
    expect(calls.count("stop")).toBe(1);
    waiting.start("ticket of ben", "inbound");
    expect((await waiting.closed).code).toBe(1001);
  });

  it("end when the right of whoever made the ticket does", async () => {
    const calls = await start();
    const line = await calls.call("anna");
    calls.front.callers.revoked.add("anna");
    calls.front.revoke({ kind: "service_key", keyId: "anna" });
    expect((await line.closed).code).toBe(4401);
    await until(() => calls.count("stop") === 1, "the end of the recording");
  });
});
