import { createHash } from "node:crypto";
import { renameSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { DevicePrincipal } from "../../src/access/principal.ts";
import { silentLog } from "../../src/base/log.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import { AudioScrub } from "../../src/conversations/recording/integrity/audio-scrub.ts";
import { AudioVerification } from "../../src/conversations/recording/integrity/audio-verification.ts";
import { StoredChunkStore } from "../../src/conversations/recording/integrity/stored-chunks-store.ts";
import { KeptLog } from "../support/kept-log.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import { verifiedAudio } from "../support/verified-audio.ts";

const MEDIA = { mediaType: "audio/pcm;rate=16000;channels=1;encoding=s16le" };
const BYTES = 2_000;
const CHUNKS = 100;

const sound = (sequence: number) => Buffer.alloc(BYTES, sequence + 1);

describe("audio scrub", () => {
  let fixture: SessionFixture;
  let device: DevicePrincipal;
  let sessionId: string;
  beforeAll(async () => {
    fixture = await SessionFixture.open();
    ({ device } = await fixture.ownDevice());
    sessionId = await fixture.start(device);
    // More than a page.
    for (let sequence = 0; sequence < CHUNKS; sequence += 1) {
      await fixture.upload(device, sessionId, sequence, sound(sequence), MEDIA);
    }
  });
  beforeEach(() => fixture.sql("delete from audio_scrub"));
  afterAll(() => fixture.close());

  const pathOf = (sequence: number) => {
    const name = createHash("sha256").update(sound(sequence)).digest("hex");
    return join(fixture.folder, sessionId, name);
  };

  function verification(): AudioVerification {
    const { pool, blobs } = fixture;
    const verified = verifiedAudio(pool, blobs);
    return new AudioVerification({
      chunks: new StoredChunkStore(pool),
      verified,
      clock: systemRuntime,
    });
  }

  /** Looks at `chunks` chunks at a time. */
  function scrub(chunks: number, log = silentLog): AudioScrub {
    return new AudioScrub({
      verification: verification(),
      rounds: new StoredChunkStore(fixture.pool),
      isOurs: () => true,
      bytesPerMinute: (chunks * BYTES - 1) * 6,
      log,
    });
  }

  it("goes on where it was, in another process too, and begins again after a day", async () => {
    const log = new KeptLog();
    let steps = 1;
    while (!(await scrub(30, log).step())) steps += 1;
    expect(steps).toBe(4);
    const figures = { chunks: CHUNKS, bytes: CHUNKS * BYTES, damaged: 0 };
    expect(log.lines).toMatchObject([{ ...figures, msg: "stored audio compared" }]);
    const again = scrub(1_000, log);
    expect([await again.step(), again.bytes]).toEqual([false, 0]);
    await fixture.sql("update audio_scrub set begun_at = now() - interval '25 hours'");
    expect([await again.step(), again.bytes]).toEqual([true, CHUNKS * BYTES]);
    expect(log.lines[1]).toMatchObject(figures);
  });

  it("finds what nobody reads, and what came back", async () => {
    const paths = [0, 50, CHUNKS - 1].map(pathOf);
    const [first = "", middle = "", last = ""] = paths;
    renameSync(first, `${first}.away`);
    truncateSync(middle, 100);
    rmSync(last);
    const expected = [
      { sessionId, sequence: 0, kind: "gone" },
      { sessionId, sequence: 50, kind: "cut" },
      { sessionId, sequence: CHUNKS - 1, kind: "gone" },
    ];
    const most = { bytes: 1_000_000, ms: 60_000 };
    const found = await verification().portion({ after: undefined, most });
    expect(found).toMatchObject({ checked: { chunks: CHUNKS, damaged: 3 }, damaged: expected });
    expect(found.next).toBeUndefined();
    renameSync(`${first}.away`, first);
    const later = await verification().portion({ after: undefined, sessionId, most });
    expect(later.damaged).toEqual(expected.slice(1));
    const noted = await fixture.sql(
      "select sequence from damaged_audio where mended_at is null order by 1",
    );
    expect(noted).toEqual([{ sequence: 50 }, { sequence: CHUNKS - 1 }]);
  });

  it("learns the digests of chunks of an earlier release, but of none that is shorter than it was", async () => {
    const known = async (sequence: number) => {
      const [row] = await fixture.sql<{ known: boolean }>(
        "select digest_known as known from chunks where session_id = $1 and sequence = $2",
        [sessionId, sequence],
      );
      return row?.known;
    };
    await fixture.sql("update chunks set digest_known = false where sequence in (1, 2, 3)");
    // A file that was decoded has the digest of what was sent for a name.
    await fixture.sql(
      "update chunks set media_type = 'audio/wav', sha256 = decode($1, 'hex') where sequence = 2",
      ["ab".repeat(32)],
    );
    renameSync(pathOf(2), join(fixture.folder, sessionId, "ab".repeat(32)));
    truncateSync(pathOf(3), 100);
    const most = { bytes: 1_000_000, ms: 60_000 };
    const { damaged } = await verification().portion({ after: { sessionId, sequence: 0 }, most });
    expect(damaged.filter(({ sequence }) => sequence < 4)).toMatchObject([{ sequence: 3 }]);
    expect([await known(1), await known(2), await known(3)]).toEqual([true, true, false]);
  });

  it("leaves deleted sessions alone", async () => {
    const total = await verification().total(sessionId);
    expect(total).toBeGreaterThan(0);
    await fixture.sql("update sessions set status = 'deleted' where id = $1", [sessionId]);
    const most = { bytes: 1_000_000, ms: 60_000 };
    const { checked } = await verification().portion({ after: undefined, most });
    expect(checked).toEqual({ chunks: 0, bytes: 0, damaged: 0 });
  });
});
