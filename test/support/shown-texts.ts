import { credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import {
  type ListSegmentsResponse,
  SessionServiceClient,
  type TranscriptEvent,
} from "../../src/wire/gen/voice/v1/sessions.ts";
import { UNCLEAR_LEGEND } from "../../src/wire/unclear-words.ts";
import type { PairedDevice } from "./paired-device.ts";
import type { Frame } from "./viewer.ts";

interface TextWithWords {
  text: string;
  words?: readonly { text?: string; word?: string }[];
}

/** The texts of the finals among live frames, each in its newest form, in their order in time. */
export function textsOfFrames(frames: readonly Frame[]): string[] {
  const finals = new Map<unknown, Frame>();
  for (const frame of frames) {
    if (frame.type === "Results" && frame.is_final === true) finals.set(frame.segment_id, frame);
  }
  return [...finals.values()]
    .sort((one, other) => Number(one.start) - Number(other.start))
    .map((frame) => checked({ ...(frame as object), text: String(frame.transcript) }));
}

/** The text of the words is that of the segment, or this throws. */
function checked({ text, words }: TextWithWords): string {
  const joined = words?.map((each) => each.text ?? each.word).join(" ");
  if (joined !== undefined && joined !== text)
    throw new Error(`words: "${joined}", text: "${text}"`);
  return text;
}

/** What a session's segments say over REST, by address and format. */
export async function textsOverRest(
  device: PairedDevice,
): Promise<Record<"segments" | "json" | "txt" | "md" | "srt" | "vtt", string[]>> {
  const fileOf = async (format: string) =>
    String((await device.get<string>(`/transcript?format=${format}`)).body);
  const json = await device.get<{ segments: TextWithWords[] }>("/transcript?words=true");
  const [txt, md, srt, vtt] = await Promise.all(["txt", "md", "srt", "vtt"].map(fileOf));
  return {
    segments: (await device.segments()).map(({ text }) => text),
    json: json.body.segments.map(checked),
    // Title, facts and an empty line, then lines such as "[00:12] Anna: words".
    txt: [(txt ?? "").replace(/^.*\n.*\n\n/, "").replace(/^\[[\d:]+\] [^:\n]+: /gm, "")],
    md: [wordsOfMarkdown(md ?? "")],
    srt: [(srt ?? "").replace(/^\d+$|^[\d:,]+ --> .*$/gm, "").replace(/^[^:\n]+: /gm, "")],
    vtt: [(vtt ?? "").replace(/^WEBVTT.*$|^.* --> .*$|^NOTE.*$/gm, "").replace(/<[^>]+>/g, "")],
  };
}

/** Without the title, the line of facts, notes, and who speaks when. */
function wordsOfMarkdown(document: string): string {
  const [, words = document] = document.split("## Transcript\n");
  return words
    .replace(/^# .*\n\n.*UTC.*\n/, "")
    .replace(/^#.*$/gm, "")
    .replace(/\*\*[^*]+\*\*( \([\d:]+\))?:?|[*_]/g, "");
}

/** The same over gRPC: listed, and watched from the first event on. */
export async function textsOverGrpc(
  address: string,
  key: string,
  sessionId: string,
): Promise<Record<"listed" | "watched", string[]>> {
  const client = new SessionServiceClient(address, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set("x-api-key", key);
  const listed = await new Promise<ListSegmentsResponse>((resolve, reject) => {
    const request = { sessionId, pageSize: 500, pageToken: "", words: true };
    client.listSegments(request, metadata, (error: ServiceError | null, answer) =>
      error === null ? resolve(answer) : reject(error),
    );
  });
  const events = await new Promise<TranscriptEvent[]>((resolve, reject) => {
    const seen: TranscriptEvent[] = [];
    const watch = client.watchTranscript({ sessionId, fromSeq: 0, durableOnly: true }, metadata);
    watch.on("error", reject);
    watch.on("data", (event: TranscriptEvent) => {
      seen.push(event);
      if (event.event?.$case !== "sessionStatus" || event.event.value.status !== "completed")
        return;
      resolve(seen);
      watch.on("error", () => {}).cancel();
    });
  });
  client.close();
  const watched = new Map<string, string>();
  for (const { event } of events) {
    if (event?.$case === "finalSegment") watched.set(event.value.id, event.value.text);
  }
  return { listed: listed.segments.map(checked), watched: [...watched.values()] };
}

/** Words alone, whatever lines they stand in; doubts such as "[tunisia?]" without their marks. */
export function plainWords(texts: readonly string[]): string {
  return texts
    .join(" ")
    .replace(UNCLEAR_LEGEND, "")
    .replace(/\[([^\]]*?)\?\]/g, "$1")
    .replace(/\s+/g, " ")
    .trim();
}
