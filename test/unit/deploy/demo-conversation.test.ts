import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { LINES, VOICES } from "../../../deploy/demo/conversation-lines.ts";
import { durationSeconds, readWave } from "../../../src/cli/device/wave-file.ts";
import { loadConversation } from "../../eval/recordings.ts";

const FOLDER = join(import.meta.dirname, "../../../deploy/demo");
const audio = readWave(join(FOLDER, "conversation.wav"));
const { reference, words = [], turns = [] } = loadConversation(FOLDER);

/** Root mean square of the samples between two times in seconds. */
function level(start: number, end: number): number {
  const [from, to] = [start, end].map((time) => Math.round(time * audio.sampleRate));
  let sum = 0;
  for (let i = from ?? 0; i < (to ?? 0); i++) sum += audio.data.readInt16LE(2 * i) ** 2;
  return Math.sqrt(sum / Math.max(1, (to ?? 0) - (from ?? 0)));
}

describe("demo conversation: what is shipped", () => {
  it("is 16 kHz mono PCM16 of about 40 s", () => {
    expect(audio).toMatchObject({ float: false, bitsPerSample: 16, channels: 1 });
    expect(audio.sampleRate).toBe(16_000);
    expect(durationSeconds(audio)).toBeGreaterThan(35);
    expect(durationSeconds(audio)).toBeLessThan(50);
  });

  it("has the turns, voices and words of its script", () => {
    const truth = JSON.parse(readFileSync(join(FOLDER, "conversation.json"), "utf8"));
    expect(truth.voices).toEqual(VOICES);
    expect(truth.turns.map(({ text }: { text: string }) => text)).toEqual(
      LINES.map(({ sentences }) => sentences.join(" ")),
    );
    expect(words.map(({ word }) => word)).toEqual(reference);
  });

  it("has turns apart from each other, with every word inside one of them", () => {
    for (const [i, turn] of turns.entries()) {
      expect(turn.start - (turns[i - 1]?.end ?? 0)).toBeGreaterThanOrEqual(0.35);
    }
    for (const { start, end } of words) {
      expect(turns.some((turn) => turn.start <= start && end <= turn.end)).toBe(true);
    }
    expect(turns.at(-1)?.end).toBeLessThan(durationSeconds(audio));
  });

  it("sounds where a turn is and is quiet between turns", () => {
    for (const [i, turn] of turns.entries()) {
      expect(level(turn.start, turn.end)).toBeGreaterThan(500);
      const next = turns[i + 1]?.start ?? durationSeconds(audio);
      expect(level(turn.end + 0.1, next - 0.1)).toBeLessThan(100);
    }
  });
});
