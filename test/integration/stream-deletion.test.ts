import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDeferred } from "../../src/base/deferred.ts";
import type { AppError } from "../../src/base/errors.ts";
import { silentLog } from "../../src/base/log.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import { BlobSweep } from "../../src/conversations/recording/audio-files/blob-sweep-store.ts";
import { FragmentLogs } from "../../src/conversations/recording/audio-files/fragment-logs.ts";
import type { AudioStore } from "../../src/conversations/recording/audio-store/audio-store.ts";
import { ChunkAssembler } from "../../src/conversations/recording/chunk-assembler.ts";
import { PostgresOpenChunks } from "../../src/conversations/recording/open-chunks-store.ts";
import type { StreamSettings } from "../../src/conversations/recording/stream-records.ts";
import { AudioStreams } from "../../src/conversations/recording/stream-routes.ts";
import { PostgresAudioStreams } from "../../src/conversations/recording/stream-store.ts";
import { openFolder, openStartedS3, type StorePlace } from "../support/audio-store/store-places.ts";
import { PrivacyFixture } from "../support/privacy-fixture.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { until } from "../support/until.ts";
import { NO_MENDING } from "../support/verified-audio.ts";

const SESSIONS = 50;
const AT_ONCE = 10;
const SETTINGS: StreamSettings = {
  encoding: "pcm_s16le",
  sampleRate: 16_000,
  channels: 1,
  framing: "packet",
  interim: true,
};
const SECOND = 32_000;
const LONGEST_MS = 240_000;

/**
 * Sessions that are deleted while audio streams into them: nothing of it is left, neither what was there nor
 * what was on its way.
 */
describe.each([
  ["a folder", openFolder],
  ["a bucket", openStartedS3],
])("deletion in mid-stream, audio in %s", (_, openPlace) => {
  let privacy: PrivacyFixture;
  let place: StorePlace;
  let store: AudioStore;
  let streams: AudioStreams;
  /** How often the store did not take an entry in time. */
  let troubles: number;

  beforeAll(async () => {
    privacy = await PrivacyFixture.open();
    place = await openPlace();
    ({ store } = place);
    privacy.eraseAudio = (sessionId) => store.delete(sessionId);
    const { pool } = privacy.fixture;
    const [notifier, runtime, log] = [{ notify: () => {} }, systemRuntime, silentLog];
    troubles = 0;
    const warn = () => {
      troubles += 1;
    };
    const told = { ...log, warn };
    const logs = new FragmentLogs({ store, runtime, log: told });
    const assembler = new ChunkAssembler({
      ...{ openChunks: new PostgresOpenChunks(pool), blobs: store, logs, notifier, runtime, log },
      mending: NO_MENDING,
    });
    streams = new AudioStreams({
      ...{ store: new PostgresAudioStreams(pool), logs, assembler, notifier, runtime, log },
      live: { publish: () => {} },
      backlog: { check: () => {} },
      notices: { taken: () => {}, onTaken: () => () => {} },
    });
  });
  afterAll(async () => {
    await place?.close();
    await privacy?.close();
  });

  /** Streams on until it is refused; by which error. */
  async function streamOn(sessionId: string, from: (offset: number) => void): Promise<AppError> {
    let end: AppError | undefined;
    const { stream } = await streams.open({
      sessionId,
      settings: SETTINGS,
      events: {
        onStored: from,
        onEnd: (error) => {
          end = error;
        },
      },
    });
    await until(
      async () => {
        // Slower than it is stored, and faster than in real time, so that chunks end meanwhile.
        for (let n = 0; n < 4 && stream.buffered < 4 * SECOND; n += 1) {
          stream.push(Buffer.alloc(SECOND, 7));
        }
        return end !== undefined;
      },
      "the refusal",
      LONGEST_MS,
    );
    if (end === undefined) throw new Error("It ended without a reason.");
    return end;
  }

  async function leftOf(sessionId: string) {
    const files = [...(await store.files(sessionId)), ...(await store.logs(sessionId))];
    const rows = await privacy.fixture.sql(
      `select 1 from audio_pieces where session_id = $1
       union all select 2 from audio_streams where session_id = $1`,
      [sessionId],
    );
    return { files: files.length, rows: rows.length };
  }

  it(
    `deletion: of ${SESSIONS} sessions in mid-stream nothing is left`,
    async () => {
      const random = new SeededRandom(7);
      const { device, owner } = await privacy.fixture.ownDevice();
      const all = await Promise.all(
        Array.from({ length: SESSIONS }, async () => {
          const other = await privacy.fixture.device(device.workspaceId, owner.id);
          const sessionId = await privacy.fixture.start(other);
          return { sessionId, after: random.next() * 15 * SECOND };
        }),
      );
      let logs = 0;
      const refusals: AppError[] = [];
      for (let n = 0; n < SESSIONS; n += AT_ONCE) {
        const ended = all.slice(n, n + AT_ONCE).map(async ({ sessionId, after }) => {
          const time = createDeferred<void>();
          const refused = streamOn(sessionId, (offset) => {
            if (offset >= after) time.resolve();
          });
          await time.promise;
          logs += (await store.logs(sessionId)).length;
          await privacy.sessions.erase(sessionId, "session_deleted_by_owner", { kind: "system" });
          return refused;
        });
        refusals.push(...(await Promise.all(ended)));
      }
      // It went into the store, and was there.
      expect(logs).toBeGreaterThan(0);
      // On a machine that is busy for long the database may be away for one of them, as for any stream.
      const others = refusals.filter(
        ({ code }) => !["session_deleted", "not_found"].includes(code),
      );
      expect(others.filter(({ code }) => code !== "unavailable")).toEqual([]);
      troubles += others.length;
      await streams.stop();
      // An entry that took the store longer than a stream waits may come after the removal.
      if (troubles > 0) {
        const sweep = new BlobSweep(store, privacy.fixture.pool, silentLog);
        await sweep.pass();
      }
      const left = await Promise.all(all.map(({ sessionId }) => leftOf(sessionId)));
      expect(left.filter(({ files, rows }) => files + rows > 0)).toEqual([]);
      const ids: string[] = [];
      for await (const page of store.sessions()) ids.push(...page);
      expect(ids).toEqual([]);
    },
    2 * LONGEST_MS,
  );
});
