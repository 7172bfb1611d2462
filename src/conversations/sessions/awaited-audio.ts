import { type Static, Type } from "@sinclair/typebox";
import { toTimestamp } from "../../base/clock.ts";
import { timestamp } from "../../rest/schemas.ts";
import { GAP_WAIT } from "../../session/decide-audio.ts";
import type { Patience } from "../../session/limits.ts";

/** The chunks that a stopped session waits for. Times are milliseconds by the database's clock. */
export interface AwaitedChunks {
  /** Sequences in order; at least one. */
  sequences: readonly number[];
  /** Unix time. */
  now: number;
  stoppedAgo: number;
  heardAgo: number;
  /** Time since the newest chunk was stored; undefined when no chunk came. */
  chunkAgo: number | undefined;
}

export const waitingSchema = Type.Object(
  {
    chunk_sequences: Type.Array(Type.Integer()),
    device_heard_at: timestamp,
    given_up_at: Type.Unsafe<string>({
      ...timestamp,
      description:
        "Before this the session does not go on without them; it may be some seconds later, as it is looked for from time to time. Each sign of life of the device and each chunk moves it on",
    }),
    message: Type.String({
      description: "The same for people",
    }),
  },
  {
    $id: "AwaitedAudio",
    examples: [
      {
        chunk_sequences: [5, 6, 7],
        device_heard_at: "2026-01-31T09:31:00.000Z",
        given_up_at: "2026-01-31T09:32:00.000Z",
        message:
          "Waiting for chunks 5 to 7, which have not come. The device was last heard 12 s ago; once nothing was heard of it for 60 s, or no chunk came for 300 s, the session goes on without them.",
      },
    ],
    description:
      "While a stopped session waits for chunks that are missing, as its device may still send them. Absent when it waits for nothing",
  },
);

/** The awaited chunks, the longest time they are waited for, and the reason. */
export function presentWaiting(
  { sequences, now, stoppedAgo, heardAgo, chunkAgo }: AwaitedChunks,
  { silence, chunk }: Patience,
): Static<typeof waitingSchema> {
  const quiet = Math.min(stoppedAgo, chunkAgo ?? Number.POSITIVE_INFINITY);
  const left = Math.max(GAP_WAIT - stoppedAgo, Math.min(silence - heardAgo, chunk - quiet), 0);
  const [what, it] =
    sequences.length === 1
      ? [`chunk ${sequences[0]}, which has`, "it"]
      : [named(sequences), "them"];
  return {
    chunk_sequences: [...sequences],
    device_heard_at: toTimestamp(now - heardAgo),
    given_up_at: toTimestamp(now + left),
    message: `Waiting for ${what} not come. The device was last heard ${seconds(heardAgo)} ago; once nothing was heard of it for ${seconds(silence)}, or no chunk came for ${seconds(chunk)}, the session goes on without ${it}.`,
  };
}

function seconds(milliseconds: number): string {
  return `${Math.round(milliseconds / 1_000)} s`;
}

/** Most runs of sequences that a text lists. */
const MOST_RUNS = 4;

/** `chunks 3 and 5 to 9, which have`, or `12 chunks between 3 and 90, which have`. */
function named(sequences: readonly number[]): string {
  const runs: { from: number; to: number }[] = [];
  for (const sequence of sequences) {
    const last = runs.at(-1);
    if (last?.to === sequence - 1) last.to = sequence;
    else runs.push({ from: sequence, to: sequence });
  }
  if (runs.length > MOST_RUNS) {
    const [first, last] = [sequences[0], sequences.at(-1)];
    return `${sequences.length} chunks between ${first} and ${last}, which have`;
  }
  const texts = runs.map(({ from, to }) => (from === to ? String(from) : `${from} to ${to}`));
  const last = texts.pop();
  const all = texts.length === 0 ? last : `${texts.join(", ")} and ${last}`;
  return `chunks ${all}, which have`;
}
