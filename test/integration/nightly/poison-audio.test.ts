import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { poisoned } from "../../support/poison-reader.ts";
import { BYTES, innocent, OUTCOME, PoisonedRecording } from "../../support/poisoned-recording.ts";
import type { ReadingFixture } from "../../support/reading-fixture.ts";
import { until } from "../../support/until.ts";

let recording: PoisonedRecording;
let bench: ReadingFixture;
beforeEach(async () => {
  recording = await PoisonedRecording.open();
  bench = recording.bench;
});
afterEach(() => recording?.close());

describe("poison audio", () => {
  it("poison audio: is tried three times, then failed alone", async () => {
    await bench.startWorker({ silenceMs: 1_000 });
    const { sessionId } = await bench.record(recording.chunks("exit"));
    await bench.completed(sessionId);
    expect(await bench.statuses(sessionId)).toEqual(OUTCOME);
    expect(recording.triesMade).toBe(3);
    // Its span was read as a gap: this reader makes an utterance of each second all the same.
    expect(await bench.words(sessionId)).toHaveLength(OUTCOME.length);
  });

  it("poison audio: is given up while it is still being streamed, and failed once it is a chunk", async () => {
    await bench.startWorker();
    const { device, sessionId } = await bench.begin();
    const begun = () =>
      bench.fixture.sql("select 1 from events where session_id = $1", [sessionId]);
    await until(async () => (await begun()).length > 0, "the session's start", 30_000);
    // Two pieces of what will be chunk 0; readings break at the second.
    const pieces = [innocent(0), poisoned("exit", recording.tries, BYTES)];
    for (const [piece, data] of pieces.entries()) {
      await bench.fixture.sql(
        `insert into audio_pieces (session_id, sequence, piece, media_type, frames, sample_rate, data)
         values ($1, 0, $2, 'audio/pcm;rate=16000;channels=1;encoding=s16le', $3, 16000, $4)`,
        [sessionId, piece, BYTES / 2, data],
      );
    }
    await bench.takeOver([sessionId]);
    const gaveUp = () =>
      bench.fixture.sql("select 1 from suspects where session_id = $1 and breaks = 3", [sessionId]);
    await until(async () => (await gaveUp()).length === 1, "three breaks", 60_000);
    await bench.fixture.sql("delete from audio_pieces where session_id = $1", [sessionId]);
    await bench.upload(device, sessionId, 0, Buffer.concat(pieces));
    await bench.upload(device, sessionId, 1, innocent(1));
    await bench.stop(device, 1);
    await bench.completed(sessionId);
    expect(await bench.statuses(sessionId)).toEqual(["failed", "completed"]);
    expect(recording.triesMade).toBe(3);
  });
});
