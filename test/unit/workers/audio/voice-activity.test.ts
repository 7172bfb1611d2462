import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ACTIVITY_FRAME, VoiceActivity } from "../../../../workers/audio/voice-activity.ts";

const CONVERSATION = new URL("../../../../deploy/demo/conversation.wav", import.meta.url);
const HEADER_BYTES = 44;

function frames(): Int16Array[] {
  const file = readFileSync(CONVERSATION).subarray(HEADER_BYTES);
  const pcm = new Int16Array(file.buffer, file.byteOffset, file.byteLength / 2);
  const count = Math.floor(pcm.length / ACTIVITY_FRAME);
  return Array.from({ length: count }, (_, index) =>
    pcm.subarray(index * ACTIVITY_FRAME, (index + 1) * ACTIVITY_FRAME),
  );
}

describe("voice activity", () => {
  it("voice activity: silence is not voiced, speech is", async () => {
    const activity = await VoiceActivity.create();
    const silence = new Int16Array(ACTIVITY_FRAME);
    expect(Array.from({ length: 100 }, () => activity.isVoiced(silence))).not.toContain(true);
    const voiced = frames().filter((frame) => activity.isVoiced(frame)).length;
    expect(voiced).toBeGreaterThan(1_000);
    activity.close();
  });

  it("voice activity: a restored detector decides like the one it was saved from", async () => {
    const first = await VoiceActivity.create();
    const second = await VoiceActivity.create();
    const all = frames();
    for (const [index, frame] of all.entries()) {
      if (index % 251 === 0) second.restore(first.state());
      expect(second.isVoiced(frame)).toBe(first.isVoiced(frame));
      expect(Buffer.compare(second.state(), first.state())).toBe(0);
      if (index % 251 === 250) second.reset();
    }
    expect(() => second.restore(new Uint8Array(3))).toThrow(RangeError);
    first.close();
    second.close();
  });
});
