import { describe, expect, it } from "vitest";
import { CallTimeline } from "../../../src/telephony/call-timeline.ts";
import type { Track } from "../../../src/telephony/twilio-messages.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const PER_MS = 8;
const SILENCE = 0xff;

/** A call whose messages are 20 ms of one value each. */
class Call {
  readonly clock = new ManualClock();
  readonly timeline: CallTimeline;
  #out: Uint8Array[] = [];

  constructor(...tracks: Track[]) {
    this.timeline = new CallTimeline(tracks, this.clock);
  }

  /** Returns how many milliseconds came out of one track's message. */
  add(track: Track, chunk: number, timestamp: number, value: number, ms = 20): number {
    const sound = new Uint8Array(ms * PER_MS).fill(value);
    const out = this.timeline.add({
      ...{ event: "media", streamSid: "MZ", track, chunk, timestamp, sound },
    });
    this.#out.push(out);
    return out.byteLength / PER_MS;
  }

  /** What came out in all, as `value × milliseconds` of runs, of one of `channels`. */
  runs(channels = 1, channel = 0): string {
    this.#out.push(this.timeline.flush());
    const all = Buffer.concat(this.#out);
    this.#out = [all];
    const runs: { value: number; length: number }[] = [];
    for (let at = channel; at < all.byteLength; at += channels) {
      const value = all[at] ?? 0;
      const last = runs.at(-1);
      if (last?.value === value) last.length += 1;
      else runs.push({ value, length: 1 });
    }
    const name = (value: number) => (value === SILENCE ? "-" : String(value));
    return runs.map(({ value, length }) => `${name(value)}×${length / PER_MS}`).join(" ");
  }
}

describe("the timeline of a telephone call", () => {
  it("passes on what comes in order at once, though its times are off by a little", () => {
    const call = new Call("inbound");
    for (const [index, timestamp] of [3, 31, 40, 58, 99].entries()) {
      expect(call.add("inbound", index + 1, timestamp, index)).toBe(20);
    }
    expect(call.runs()).toBe("0×20 1×20 2×20 3×20 4×20");
  });

  it("is silent where nothing was sent", () => {
    const call = new Call("inbound");
    call.add("inbound", 1, 0, 1);
    call.add("inbound", 2, 1_000, 2);
    expect(call.runs()).toBe("1×20 -×980 2×20");
  });

  it("keeps the time where the first messages, or one alone, are lost", () => {
    const first = new Call("inbound");
    first.add("inbound", 3, 40, 3);
    expect(first.runs()).toBe("-×40 3×20");
    const call = new Call("inbound");
    call.add("inbound", 1, 0, 1);
    for (let chunk = 3; chunk <= 20; chunk += 1) call.add("inbound", chunk, (chunk - 1) * 20, 2);
    expect(call.runs()).toBe("1×20 -×20 2×360");
  });

  it("puts what comes out of order into its place, and takes nothing twice", () => {
    const call = new Call("inbound");
    call.add("inbound", 1, 0, 1);
    expect(call.add("inbound", 4, 60, 4)).toBe(0);
    call.add("inbound", 3, 40, 3);
    call.add("inbound", 3, 40, 9);
    call.add("inbound", 4, 60, 9);
    expect(call.add("inbound", 2, 20, 2)).toBe(60);
    expect(call.runs()).toBe("1×20 2×20 3×20 4×20");
  });

  it("waits for a lost message no longer than 200 ms of sound", () => {
    const call = new Call("inbound");
    call.add("inbound", 1, 0, 1);
    let out = 0;
    for (let chunk = 3; chunk <= 14; chunk += 1) {
      out += call.add("inbound", chunk, (chunk - 1) * 20, 3);
    }
    // 280 ms have come; the place of the lost one has left.
    expect(out).toBe(260);
    call.add("inbound", 2, 20, 2);
    expect(call.runs()).toBe("1×20 -×20 3×240");
  });

  it("puts both tracks side by side, inbound first, whichever is told first", () => {
    const call = new Call("outbound", "inbound");
    expect(call.add("outbound", 1, 0, 7)).toBe(0);
    expect(call.add("inbound", 1, 0, 1)).toBe(40);
    call.add("inbound", 2, 20, 2);
    call.add("outbound", 2, 20, 8);
    expect(call.runs(2, 0)).toBe("1×20 2×20");
    expect(call.runs(2, 1)).toBe("7×20 8×20");
  });

  it("goes on with one track while the other is silent, which keeps its time later", () => {
    const call = new Call("inbound", "outbound");
    let out = 0;
    for (let chunk = 1; chunk <= 50; chunk += 1) {
      out += call.add("inbound", chunk, (chunk - 1) * 20, 1) / 2;
    }
    expect(out).toBe(800);
    call.add("outbound", 1, 900, 7);
    call.add("inbound", 51, 1_000, 1);
    expect(call.runs(2, 0)).toBe("1×1020");
    expect(call.runs(2, 1)).toBe("-×900 7×20 -×100");
  });

  it("loses nothing of a track that is too late for its place", () => {
    const call = new Call("inbound", "outbound");
    for (let chunk = 1; chunk <= 50; chunk += 1) call.add("inbound", chunk, (chunk - 1) * 20, 1);
    call.add("outbound", 1, 0, 7);
    call.add("outbound", 2, 20, 8);
    expect(call.runs(2, 1)).toBe("-×800 7×20 8×20 -×160");
  });

  it("refuses times that run away, however small the steps, and not those of a long call", () => {
    const call = new Call("inbound");
    call.add("inbound", 1, 60_000, 1);
    expect(() => call.add("inbound", 2, 60_100, 1)).toThrow("ahead of the sound");
    const far = new Call("inbound");
    expect(() => far.add("inbound", 1, 9_999_999_999, 1)).toThrow("ahead of the sound");
    const long = new Call("inbound");
    for (let minute = 1; minute <= 10; minute += 1) {
      long.clock.advance(60_000);
      long.add("inbound", minute, minute * 60_000, 1);
    }
    expect(long.runs()).toMatch(/^-×60000 1×20 -×59980 1×20 /);
  });

  it("takes no track that was not told", () => {
    const call = new Call("inbound");
    expect(() => call.add("outbound", 1, 0, 1)).toThrow("outbound");
  });
});
