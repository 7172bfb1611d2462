import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { conversationPcm, cut, PairedDevice } from "../support/paired-device.ts";
import { Viewer } from "../support/viewer.ts";
import type { WholeService } from "../support/whole-service.ts";

const WORDS = resolve(import.meta.dirname, "../../deploy/demo/conversation.json");
const SECONDS = 20;
/** Of the words that were said; the recogniser gets all of them right. */
const SHARE = 0.9;

/**
 * What the service is for, once more: a device records the first seconds of the demo, a viewer
 * follows, and the transcript says what was said. Returns what is wrong, undefined when nothing is.
 */
export async function doMainJob(service: WholeService): Promise<string | undefined> {
  const device = await PairedDevice.pair(service);
  await device.start();
  const viewer = new Viewer(service.ready.live_url, { authorization: `Bearer ${device.token}` });
  await viewer.opened();
  viewer.send({ type: "Subscribe", session_id: device.sessionId, from_seq: 0 });
  const pieces = cut(5, conversationPcm().subarray(0, SECONDS * 32_000));
  for (const [sequence, pcm] of pieces.entries()) await device.upload(sequence, pcm);
  await device.stop(pieces.length - 1);
  await device.completed();
  await viewer.received("SessionEnded");
  viewer.socket.close();
  const said = (await device.segments()).map(({ text }) => text).join(" ");
  const lived = viewer.frames
    .filter(({ type, is_final }) => type === "Results" && is_final === true)
    .map(({ transcript }) => transcript)
    .join(" ");
  return missing("the transcript", said) ?? missing("the live channel", lived);
}

function missing(where: string, text: string): string | undefined {
  const heard = new Set(wordsOf(text));
  const expected = expectedWords();
  const found = expected.filter((word) => heard.has(word)).length;
  if (found >= SHARE * expected.length) return undefined;
  return `${where} has ${found} of ${expected.length} words at the end: "${text}"`;
}

function expectedWords(): string[] {
  const { words } = JSON.parse(readFileSync(WORDS, "utf8")) as {
    words: { word: string; end_ms: number }[];
  };
  // The last word may be cut off.
  const heard = words.filter(({ end_ms }) => end_ms < (SECONDS - 1) * 1_000);
  return heard.flatMap(({ word }) => wordsOf(word));
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[a-z']+/g) ?? [];
}
