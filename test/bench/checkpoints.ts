import { SessionJournal } from "../../src/journal/session-journal.ts";
import { createPool } from "../../src/postgres/pool.ts";
import type { CheckpointWrite, Voices } from "../../src/session/write.ts";
import { SessionTracker } from "../../workers/speakers/session-tracker.ts";
import { CheckpointPace } from "../../workers/speech/checkpoint-pace.ts";
import { encodeReaderState } from "../../workers/speech/reader-state.ts";
import { CodedVoices, codedSound } from "../support/coded-voices.ts";
import { BenchFixture } from "./bench-fixture.ts";
import type { BenchRow, BenchScale } from "./row.ts";

const RATE = 16_000;
/** As many finals an hour as the review of the first release counted with. */
const AN_HOUR = 700;
const SPACING = Math.floor((3_600 * RATE) / AN_HOUR);
const LENGTHS = [50, 200, 700, 3_000];
/** State of the recogniser's channel and of the voice detector, in bytes: as our engine's is. */
const ACTIVITY = 1_292;

const VOICES = 4;

/** How large checkpoints get with the session, and what an hour of them costs the database's log. */
export async function measureCheckpoints(scale: BenchScale): Promise<BenchRow[]> {
  const lengths = LENGTHS.filter((length) => length <= 3_000 * Math.max(scale.size, 0.25));
  const talk = new Talk();
  const rows: BenchRow[] = [];
  const hour: CheckpointWrite[] = [];
  for (const length of lengths) {
    while (talk.segments < length) {
      const checkpoint = talk.next();
      if (checkpoint !== undefined && talk.segments <= AN_HOUR) hour.push(checkpoint);
    }
    rows.push(sizeRow(talk));
  }
  return [...rows, await logRow(hour)];
}

function sizeRow(talk: Talk): BenchRow {
  const { recogniser, speakers, voices } = talk.checkpoint();
  const voicesBytes = JSON.stringify(voices).length;
  return {
    figure: `checkpoint after ${talk.segments} segments`,
    unit: "bytes",
    ours: recogniser.length + speakers.length + voicesBytes,
    mark: "",
    detail: `recogniser ${recogniser.length}, speakers ${speakers.length}, voices ${voicesBytes}; written ${talk.written} times so far`,
  };
}

/** The checkpoints of one hour through the journal, as the actor has them stored. */
async function logRow(hour: readonly CheckpointWrite[]): Promise<BenchRow> {
  const fixture = await BenchFixture.open();
  const pool = await createPool(fixture.database.serviceUrl, { maximumPoolSize: 2 });
  try {
    const sessionId = await fixture.addSession(await fixture.addUser());
    const journal = new SessionJournal(pool);
    const loaded = await journal.activate(sessionId);
    if (loaded === undefined) throw new Error("The session is not there.");
    const { epoch, seq: expectedSeq } = loaded;
    const turn = { id: sessionId, epoch, expectedSeq, events: [], commandIds: [], outcomes: [] };
    const position = async () =>
      Number(
        (
          await fixture.owner.query(
            "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as at",
          )
        ).rows[0].at,
      );
    const before = await position();
    for (const write of hour) await journal.append({ ...turn, writes: [write] });
    const bytes = (await position()) - before;
    return {
      figure: "log of checkpoints, an hour of a session",
      unit: "MB",
      ours: bytes / 1e6,
      mark: "",
      detail: `${hour.length} checkpoints of ${AN_HOUR} finals, each a transaction of its own; pg_current_wal_insert_lsn before and after, full pages included`,
    };
  } finally {
    await pool.end();
    await fixture.close();
  }
}

/** A conversation of four voices, one utterance after the other. */
class Talk {
  segments = 0;
  written = 0;
  readonly #tracker = new SessionTracker(new CodedVoices());
  readonly #pace = new CheckpointPace(0);
  readonly #clusters = new Set<number>();
  #end = 0;

  /** The next utterance; its checkpoint when one is due. */
  next(): CheckpointWrite | undefined {
    const seconds = 1 + ((this.segments * 4_001) % (2 * RATE)) / RATE;
    const pcm = codedSound(seconds, { voice: (this.segments >> 1) % VOICES, seed: this.segments });
    const start = this.segments * SPACING;
    this.#end = start + pcm.length;
    this.#tracker.begin(start);
    this.#tracker.push(start, pcm);
    this.#tracker.settle(start, this.#end);
    const turns = this.#tracker.turns(start, this.#end);
    this.#tracker.commit(turns, this.#end);
    this.#tracker.revisions();
    for (const { cluster } of turns) this.#clusters.add(cluster);
    this.segments += 1;
    if (!this.#pace.isDue(this.#end)) return undefined;
    this.#pace.given(this.#end);
    this.written += 1;
    return this.checkpoint();
  }

  checkpoint(): CheckpointWrite {
    const voices: Voices = Object.fromEntries([...this.#clusters].map((id) => [id, id]));
    const recogniser = encodeReaderState({
      activity: new Uint8Array(ACTIVITY),
      phases: [],
      pauses: { wait: 400_000, gap: -1 },
    });
    const position = this.#end;
    const keep = [position - RATE, Number.MAX_SAFE_INTEGER];
    const speakers = this.#tracker.checkpoint();
    return { type: "Checkpoint", attempt: 1, position, recogniser, speakers, voices, keep };
  }
}
