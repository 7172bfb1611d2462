import { describe, expect, it } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { TurnPublisher } from "../../../src/live/turn-publisher.ts";
import type { SessionEvent } from "../../../src/session/event.ts";
import type { PublishedFrame } from "../../../src/wire/live-frames.ts";

const SESSION = "01980000-0000-7000-8000-000000000001";
const STOPPED: SessionEvent = { type: "SessionStopped", lastSequence: 3 };
const CLAIMED: SessionEvent = {
  type: "SpeakerClaimed",
  label: "S1",
  source: "self_claim",
  claimedUserId: "u",
  byUserId: "u",
};

function publish(isFollowed: boolean, ...events: SessionEvent[]): PublishedFrame[] {
  const published: PublishedFrame[] = [];
  const fanout = {
    isFollowed: () => isFollowed,
    publish: (_: string, frames: readonly PublishedFrame[]) => void published.push(...frames),
  };
  const publisher = new TurnPublisher({ sessionId: SESSION, fanout, log: silentLog });
  const numbered = events.map((event, n) => ({ seq: 7 + n, at: 0, event }));
  publisher.after({ events: numbered, writes: [] });
  return published;
}

describe("turn publisher", () => {
  it("publisher: what a turn holds goes out whole, what must be looked up only as its number", () => {
    expect(publish(true, STOPPED).map(({ type }) => type)).toEqual(["SessionStatus"]);
    expect(publish(true, CLAIMED)).toEqual([{ type: "Newest", session_id: SESSION, seq: 7 }]);
    // Who streams to the session reads no journal, and has to know at once that it is over.
    const [status, newest] = publish(true, CLAIMED, STOPPED, CLAIMED);
    expect(status).toMatchObject({ type: "SessionStatus", status: "processing", seq: 8 });
    expect(newest).toEqual({ type: "Newest", session_id: SESSION, seq: 9 });
  });

  it("publisher: where nobody is known to follow, only that there is something, and how the session stands", () => {
    const placed: SessionEvent = { type: "ChunkReceived", chunkId: SESSION, sequence: 0 } as never;
    expect(publish(false, placed)).toEqual([{ type: "Newest", session_id: SESSION, seq: 7 }]);
    expect(publish(false, placed, STOPPED).map(({ type }) => type)).toEqual([
      "SessionStatus",
      "Newest",
    ]);
    const frames: PublishedFrame[] = [];
    const fanout = { isFollowed: () => false, publish: () => void frames.push({} as never) };
    const publisher = new TurnPublisher({ sessionId: SESSION, fanout, log: silentLog });
    const nothing = { session_id: SESSION, seq: 1, audio_received: 0, audio_finalised: 0 };
    publisher.transient({ type: "Heartbeat", ...nothing, lag_ms: 0, gaps: 0 });
    expect(frames).toEqual([]);
  });

  it("publisher: a turn without events is shown to nobody, and a fault of the bus hurts nobody", () => {
    expect(publish(true)).toEqual([]);
    const fanout = {
      isFollowed: () => true,
      publish: () => {
        throw new Error("closed");
      },
    };
    const publisher = new TurnPublisher({ sessionId: SESSION, fanout, log: silentLog });
    const events = [{ seq: 1, at: 0, event: STOPPED }];
    expect(() => publisher.after({ events, writes: [] })).not.toThrow();
  });
});
