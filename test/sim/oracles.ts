import type { Word } from "../../src/session/write.ts";
import type { ChunkRow, SessionRow } from "../support/record/rows.ts";
import type { Blob } from "./blobs.ts";
import { BEGINNING } from "./kernel/machine.ts";
import { CELL_SAMPLES, decode, kindOf, type Run, runsOf, wordsOf } from "./speech.ts";
import { EDITED, isExcused, type Tables, tablesOf } from "./tables.ts";
import { trackRuns } from "./track.ts";
import { checkTrack } from "./track-oracles.ts";
import type { Wish } from "./wish.ts";
import type { SimSession, World } from "./world.ts";

/** A wish is carried out within this time of being asked for, or not; milliseconds. */
const WISH_MS = 25_000;
/** A host knows the record's time as exactly as its slowest answer, milliseconds. */
const CLOCK_MS = 3_000;

/** What is still open of a session; undefined when nothing is. */
export async function openWork(
  world: World,
  { id, viewers }: SimSession,
): Promise<string | undefined> {
  const { record } = world;
  if (world.isUnloadable(id)) return undefined;
  const { session, chunks } = await tablesOf(world, id);
  if (session === undefined || session.status === "deleted") return undefined;
  if (session.status === "recording" || session.status === "processing") {
    return `the session is ${session.status}`;
  }
  const [piece] = await record.rows("pieces", id);
  if (piece !== undefined) return `what was streamed of chunk ${piece.sequence} is not assembled`;
  const chunk = chunks.find(({ status }) => status === "pending" || status === "processing");
  if (chunk !== undefined) return `chunk ${chunk.sequence} is ${chunk.status}`;
  const job = (await record.rows("jobs", id)).find(
    ({ status }) => status === "queued" || status === "running",
  );
  if (job !== undefined) return `its ${job.kind} is ${job.status}`;
  const loud = await soundLeft(world, id, chunks);
  if (loud !== undefined) return loud;
  const [command] = await record.rows("outbox", id);
  if (command !== undefined) return `a command waits: ${command.command}`;
  const behind = viewers.find(({ isEnded, position }) => !isEnded && position !== session.seq);
  if (behind !== undefined) return `a viewer stands at ${behind.position} of ${session.seq}`;
  return undefined;
}

/** What of the stored sound was taken out and can still be heard. */
async function soundLeft(
  { record, blobs }: World,
  id: string,
  chunks: readonly ChunkRow[],
): Promise<string | undefined> {
  const redactions = await record.rows("redactions", id);
  for (const { start_sample: from, end_sample: to, label } of redactions) {
    if (label !== null) continue;
    for (const { sequence, sha256, start_sample: start, length_samples: length } of chunks) {
      if (start === null || length === null || start >= to || start + length <= from) continue;
      const blob = blobs.peek(id, sha256);
      if (blob === undefined) continue;
      for (const run of soundOf(blob)) {
        if (run.text === undefined) continue;
        const first = Math.max(from, start + run.start);
        const last = Math.min(to, start + Math.min(run.end, length));
        if (last - first < run.least) continue;
        return `sound that was taken out is still in chunk ${sequence}`;
      }
    }
  }
  return undefined;
}

/** Each with how much of it is silenced at once, in samples. */
function soundOf({ data, isTrack }: Blob): (Run & { least: number })[] {
  // A frame that is touched is silenced whole, and so is what is between two of them.
  if (isTrack) return trackRuns(data).map((run) => ({ ...run, least: 1 }));
  if (kindOf(data) !== "speech") return [];
  return decode(data).flatMap((cell, n) => {
    const at = n * CELL_SAMPLES;
    return runsOf([cell]).map((run) => ({
      ...run,
      start: at,
      end: at + CELL_SAMPLES,
      least: CELL_SAMPLES,
    }));
  });
}

/** Holds at every moment: where something was taken out, there are no words. */
export async function checkRedactions(world: World, { id }: SimSession): Promise<void> {
  const redactions = await world.record.rows("redactions", id);
  if (redactions.length === 0) return;
  const segments = await world.record.rows("segments", id);
  world.redactions.note(redactions);
  for (const { start_sample: from, end_sample: to, label } of redactions) {
    if (label !== null) continue;
    const shown = segments.find(
      (row) => row.start_sample < to && row.end_sample > from && !row.redacted,
    );
    if (shown === undefined) continue;
    world.fail(id, `words stand in the redacted ${from}-${to}: ${shown.text}`);
  }
}

/** Holds at every moment after somebody heard that it is deleted. */
export async function checkDeletion(world: World, { id }: SimSession): Promise<void> {
  if (!world.erased.has(id)) return;
  const { session, segments } = await tablesOf(world, id);
  if (session === undefined) return;
  if (session.status !== "deleted") world.fail(id, `it is ${session.status} after its deletion`);
  const shown = segments.find(({ redacted, words }) => !redacted || words !== "[]");
  if (shown !== undefined) world.fail(id, `words stand after the deletion: ${shown.text}`);
}

/** Of a session in which nothing is open any more. */
export async function checkEnd(world: World, session: SimSession): Promise<void> {
  const { id } = session;
  if (world.isUnloadable(id)) return;
  const tables = await tablesOf(world, id);
  if (tables.session === undefined) {
    if (session.device.isStarted) world.fail(id, "the session is not on record");
    return;
  }
  if (tables.session.status === "deleted") {
    if (!world.deleted.has(id)) world.fail(id, "it is deleted, and nobody did that");
    return;
  }
  checkWords(world, session, tables);
  await checkEvents(world, id);
  await checkWishes(world, session);
  await checkEdits(world, session, tables);
  await checkClaims(world, session);
  await checkWebhooks(world, id);
  checkEpoch(world, session, tables.session);
}

function checkWords(world: World, session: SimSession, tables: Tables): void {
  const { id, device } = session;
  const { chunks, segments } = tables;
  const { recorded, acknowledged } = device.uploads;
  const heard = new Map<string, Word[]>();
  for (const segment of segments) {
    if (EDITED.test(segment.text)) continue;
    for (const word of JSON.parse(segment.words) as Word[]) {
      heard.set(word.text, [...(heard.get(word.text) ?? []), word]);
    }
  }
  for (const sound of recorded) {
    // A number that was not free to it is another's.
    const chunk = chunks.find(
      ({ sequence, media_type }) => sequence === sound.sequence && media_type === sound.mediaType,
    );
    if (chunk === undefined) {
      if (!acknowledged.has(sound.name)) continue;
      return world.fail(id, `chunk ${sound.sequence} was acknowledged and is not on record`);
    }
    if (sound.kind === "speech" && chunk.status === "failed" && sound.cells.length > 0) {
      // What was read when workers ended time and again may have been blamed for it.
      if (!world.mayBlame) {
        return world.fail(id, `chunk ${sound.sequence} failed: ${chunk.error}`);
      }
    }
    for (const word of wordsOf(sound)) {
      const found = heard.get(word.text) ?? [];
      const start = (chunk.start_sample ?? 0) + word.start;
      const end = (chunk.start_sample ?? 0) + word.end;
      if (found.length > 1) return world.fail(id, `${word.text} stands ${found.length} times`);
      const [only] = found;
      if (only !== undefined) {
        const isElsewhere = only.start !== start && !isRest(tables, { start, end }, only.start);
        if (isElsewhere && !("timesClamped" in only)) {
          return world.fail(id, `${word.text} stands at ${only.start}, not at ${start}`);
        }
        continue;
      }
      // Of sound that is longer than its place, all that has no room stands at its end.
      const last = (chunk.start_sample ?? 0) + Math.max(0, (chunk.length_samples ?? 0) - 1);
      const stood = { start: Math.min(start, last), end: Math.min(end, last + 1) };
      if (chunk.status === "failed" || isExcused(tables, stood.start, stood.end)) continue;
      return world.fail(
        id,
        `${word.text} (${start}-${end}) of an acknowledged chunk is not in the transcript`,
      );
    }
  }
  checkTrack(world, session, tables, heard);
}

/** Of a word that was cut by a redaction before it was read the rest may stand, right behind it. */
function isRest({ redactions }: Tables, word: Pick<Word, "start" | "end">, at: number): boolean {
  return redactions.some(
    ({ end_sample: to, label }) =>
      label === null && word.start < to && to <= at && at < Math.min(word.end, to + CELL_SAMPLES),
  );
}

/** What happened once is told once. */
async function checkEvents(world: World, id: string): Promise<void> {
  const events = await world.record.rows("events", id);
  const seen = new Set<string>();
  for (const { payload } of events) {
    const event = JSON.parse(payload) as Record<string, unknown>;
    const cause = event.editId ?? event.redactionId ?? event.concernId ?? event.guestId;
    const name =
      event.type === "SummaryUpdated"
        ? `SummaryUpdated of job ${event.jobId}`
        : cause === undefined
          ? undefined
          : `${event.type} of ${cause}`;
    if (name === undefined) continue;
    if (seen.has(name)) return world.fail(id, `${name} happened twice`);
    seen.add(name);
  }
}

/** An edit stands until somebody changes the same place again, or has all of it read anew. */
async function checkEdits(world: World, { id, people }: SimSession, tables: Tables): Promise<void> {
  const { wishes } = people;
  const carriedOut = await editTimes(world, id);
  for (const wish of wishes) {
    const { command, outcome, span, text } = wish;
    if (command.type !== "EditSegment" || outcome !== "done" || text === undefined) continue;
    if (span === undefined) continue;
    const at = carriedOut.get(command.editId ?? "") ?? 0;
    const isUndone =
      wishes.some((each) => each.command.type === "Redo" && each.outcome !== "refused") ||
      wishes.some((each) => each.command.type === "Redact") ||
      wishes.some((each) => each !== wish && mayFollow(each, at, span));
    if (isUndone) continue;
    const stands = tables.segments.some(
      (row) =>
        row.text === text && overlaps({ start: row.start_sample, end: row.end_sample }, span),
    );
    if (!stands) return world.fail(id, `the edit "${text}" at ${span.start} does not stand`);
  }
}

/** When each edit happened, milliseconds of the simulation. */
async function editTimes({ record }: World, id: string): Promise<Map<string, number>> {
  const times = new Map<string, number>();
  for (const { at, payload } of await record.rows("events", id)) {
    const { editId } = JSON.parse(payload) as { editId?: string };
    if (editId) times.set(editId, at - BEGINNING);
  }
  return times;
}

/** Whether it may have been carried out at the same place after what happened at `at`. */
function mayFollow(each: Wish, at: number, span: { start: number; end: number }): boolean {
  if (each.span === undefined || !overlaps(each.span, span)) return false;
  return each.asked.some((asked) => endOf(asked) > at - CLOCK_MS);
}

/**
 * Until when a wish may happen: he who heard that it did not is right. A host that stood still takes
 * it in hand when it goes on, whether anybody still waits for the answer or not.
 */
function endOf({ begunAt, heardAt, code }: Wish["asked"][number]): number {
  return code === "unavailable" ? heardAt : begunAt + WISH_MS;
}

/** Nothing that somebody asked for happens when he has long been told that it did not. */
async function checkWishes(world: World, { id, people }: SimSession): Promise<void> {
  for (const { at, payload } of await world.record.rows("events", id)) {
    const event = JSON.parse(payload) as { editId?: string; redactionId?: string };
    const wish = people.wishes.find(({ command }) => {
      if (command.type === "EditSegment") return event.editId === command.editId && event.editId;
      return command.type === "Redact" && event.redactionId === command.redactionId;
    });
    if (wish === undefined) continue;
    const happened = at - BEGINNING;
    const isWanted = wish.asked.some(
      (asked) => asked.at - CLOCK_MS < happened && happened < endOf(asked) + CLOCK_MS,
    );
    if (isWanted) continue;
    const times = wish.asked.map((asked) => `${Math.round(asked.at)}`).join(", ");
    world.fail(id, `a wish of ${times} ms was carried out at ${Math.round(happened)} ms`);
  }
}

function overlaps(a: { start: number; end: number }, b: { start: number; end: number }): boolean {
  return a.start < b.end && a.end > b.start;
}

/** The newest claim stands, where nobody did anything else about speakers afterwards. */
async function checkClaims(world: World, { id, people }: SimSession): Promise<void> {
  const about = people.wishes.filter(
    ({ command, outcome }) =>
      ["Claim", "Unclaim", "MergeSpeakers", "UnmergeSpeakers"].includes(command.type) &&
      outcome !== "refused",
  );
  const [only] = about;
  if (about.length !== 1 || only?.command.type !== "Claim" || only.outcome !== "done") return;
  const { claimedUserId } = only.command;
  const claims = await world.record.rows("claims", id);
  if (claims.some((row) => row.claimed_user_id === claimedUserId && row.revoked_at === null))
    return;
  world.fail(id, `the claim of ${claimedUserId} does not stand`);
}

async function checkWebhooks(world: World, id: string): Promise<void> {
  const seen = new Set<string>();
  for (const row of await world.record.rows("deliveries")) {
    const data = JSON.parse(row.data) as { session_id?: string; seq?: number };
    if (data.session_id !== id) continue;
    const name = `${row.event_type} of event ${data.seq}`;
    if (seen.has(name)) return world.fail(id, `webhook ${name} is told twice`);
    seen.add(name);
  }
}

/** Owners change when something went wrong, or when there is nothing to do, and not else. */
function checkEpoch(world: World, { id, people }: SimSession, { epoch }: SessionRow): void {
  const explained = 2 + world.plan.hosts + 2 * world.faults.count + people.wishes.length;
  if (epoch > explained) {
    world.fail(id, `it was taken over ${epoch} times, ${explained} can be explained`);
  }
}
