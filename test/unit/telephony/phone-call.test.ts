import { describe, expect, it } from "vitest";
import { createDeferred } from "../../../src/base/deferred.ts";
import { AppError } from "../../../src/base/errors.ts";
import { silentLog } from "../../../src/base/log.ts";
import { systemRuntime } from "../../../src/base/runtime.ts";
import { PhoneCall, type PhoneCallPorts } from "../../../src/telephony/phone-call.ts";
import { serviceKey } from "../../support/service-principal.ts";
import { until } from "../../support/until.ts";

const SESSION = "01a20000-0000-7000-8000-000000000001";
const WORKSPACE = "01a20000-0000-7000-8000-000000000002";
const STREAM = "MZ1";
const KEY = serviceKey(WORKSPACE, "01a20000-0000-7000-8000-000000000003", ["sessions:write"]);

const mediaFormat = { encoding: "audio/x-mulaw", sampleRate: 8000, channels: 1 };
const start = {
  event: "start",
  start: { streamSid: STREAM, tracks: ["inbound"], mediaFormat, customParameters: { ticket: "T" } },
};
const stop = { event: "stop", streamSid: STREAM };

function media(chunk: number, streamSid = STREAM): object {
  const payload = Buffer.alloc(160, chunk).toString("base64");
  const sound = { track: "inbound", chunk: `${chunk}`, timestamp: `${(chunk - 1) * 20}`, payload };
  return { event: "media", streamSid, media: sound };
}

/** A call whose stream is opened when the test says so. */
function call() {
  const done: string[] = [];
  const opening = createDeferred<void>();
  let onEnd: (error: AppError | undefined) => void = () => {};
  const stream = {
    sessionId: SESSION,
    push: (bytes: Uint8Array) => void done.push(`sound ${bytes.byteLength}`),
    close: async () => void done.push("close"),
  };
  const ports = {
    tickets: {
      async redeemForCall(ticket: string) {
        if (ticket === "T") return { principal: KEY, sessionId: SESSION };
        throw new AppError("invalid_token", "The ticket is unknown, used or expired.");
      },
    },
    directory: {
      facts: async () => ({ kind: "session", id: SESSION, workspaceId: WORKSPACE, deleted: false }),
      recordContentRead: async () => {},
    },
    streams: {
      async open({ events }: { events: { onEnd: typeof onEnd } }) {
        ({ onEnd } = events);
        done.push("open");
        await opening.promise;
        return { stream };
      },
    },
    sessions: {
      async stop({ sessionId }: { sessionId: string }) {
        done.push(sessionId === SESSION ? "stop" : "stop of another");
        return { outbox: [] };
      },
    },
    notifier: { notify() {} },
    ...{ runtime: systemRuntime, log: silentLog },
  } as unknown as PhoneCallPorts;
  const phone = new PhoneCall(ports, {
    admitted: (caller, sessionId) =>
      void done.push(caller === KEY && sessionId === SESSION ? "admitted" : "admitted as another"),
    ended: (error) => void done.push(`ended ${error?.code ?? "well"}`),
  });
  return {
    phone,
    done,
    /** Returns whether the last message was sound. */
    say: (...messages: object[]) =>
      messages.map((each) => phone.take(Buffer.from(JSON.stringify(each)))).at(-1),
    opened: () => opening.resolve(),
    endStream: (error: AppError) => onEnd(error),
    reached: (step: string) => until(() => done.includes(step), step),
  };
}

describe("telephone calls", () => {
  it("stream what comes behind a good ticket, and end with their recording", async () => {
    const { say, done, opened, reached } = call();
    expect(say({ event: "connected" })).toBe(false);
    expect(say(start, media(1))).toBe(true);
    await reached("open");
    expect(done).toEqual(["admitted", "open"]);
    opened();
    await reached("sound 160");
    expect(say(media(2), { event: "mark" }, media(3))).toBe(true);
    expect(say(stop)).toBe(false);
    expect(say(media(4))).toBe(false);
    await reached("ended well");
    expect(done.slice(2)).toEqual([
      ...["sound 160", "sound 160", "sound 160", "close", "stop", "ended well"],
    ]);
  });

  it("are stored whole where they stop before their stream is open", async () => {
    const { say, done, opened, reached } = call();
    say(start, media(1), media(2), stop, media(3));
    await reached("open");
    opened();
    await reached("ended well");
    expect(done.slice(2)).toEqual(["sound 160", "sound 160", "close", "stop", "ended well"]);
  });

  it("keep what came when the connection breaks, also what was held for a missing message", async () => {
    const { phone, say, done, opened, reached } = call();
    say(start, media(1));
    await reached("open");
    opened();
    await reached("sound 160");
    say(media(3));
    phone.closed();
    await reached("stop");
    expect(done.slice(2)).toEqual(["sound 160", "sound 320", "close", "stop"]);
    expect(say(media(4))).toBe(false);
  });

  it("end the recording when the connection breaks while the stream is being opened", async () => {
    const { phone, say, done, opened, reached } = call();
    say(start, media(1));
    await reached("open");
    phone.closed();
    opened();
    await reached("stop");
    expect(done.slice(2)).toEqual(["close", "stop"]);
  });

  it("take nothing before the ticket, nor with a bad one or without one", async () => {
    for (const message of [media(1), stop]) {
      const early = call();
      early.say(message, start);
      expect(early.done).toEqual(["ended bad_request"]);
    }
    const { customParameters: _ticket, ...bare } = start.start;
    const without = call();
    without.say({ ...start, start: bare }, media(1));
    expect(without.done).toEqual(["ended unauthorized"]);
    const bad = call();
    bad.say({ ...start, start: { ...bare, customParameters: { ticket: "X" } } }, media(1));
    await bad.reached("ended invalid_token");
    expect(bad.done).toEqual(["ended invalid_token"]);
  });

  it("hold no more than 32 s of both tracks while the ticket is looked at", () => {
    const { say, done } = call();
    const long = Buffer.alloc(16_000).toString("base64");
    const much = { track: "inbound", chunk: "1", timestamp: "0", payload: long };
    say(start, ...Array.from({ length: 32 }, () => ({ ...media(1), media: much })));
    expect(done).toEqual([]);
    say({ ...media(1), media: much });
    expect(done).toEqual(["ended overloaded"]);
  });

  it("end for a second start, and for sound of another stream", async () => {
    for (const message of [start, media(2, "MZ2"), { event: "stop", streamSid: "MZ2" }]) {
      const { say, done, opened, reached } = call();
      say(start, media(1));
      await reached("open");
      opened();
      await reached("sound 160");
      say(message);
      await reached("stop");
      expect(done.slice(3)).toEqual(["close", "ended bad_request", "stop"]);
    }
  });

  it("leave the recording to the stream that took their place", async () => {
    const { say, done, opened, endStream, reached } = call();
    say(start, media(1));
    await reached("open");
    opened();
    await reached("sound 160");
    endStream(new AppError("superseded", "A newer connection took the stream over."));
    await new Promise(setImmediate);
    expect(done.slice(3)).toEqual(["ended superseded"]);
  });
});
