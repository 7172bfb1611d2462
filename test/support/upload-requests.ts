import { conversationWav } from "./compat-caller.ts";
import { conversationPcm } from "./paired-device.ts";
import { soundBytes } from "./sound-files.ts";

interface Schema {
  examples?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
}

interface Parameter {
  name: string;
  in: string;
  schema: Schema;
}

interface Operation {
  operationId: string;
  security: Record<string, unknown>[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

/** An upload as the document tells it, with sound of the kind that it names. */
export interface UploadRequest {
  operationId: string;
  mediaType: string;
  path: string;
  /** What authenticates it: the name of its security scheme. */
  scheme: string;
  headers: Record<string, string>;
  body: FormData | Uint8Array;
}

const SECONDS = 2;
const wav = (): Buffer => conversationWav(SECONDS);

/** Sound of the media types that the document names. */
const SOUNDS: Readonly<Record<string, () => Buffer>> = {
  "*/*": wav,
  "audio/*": wav,
  "video/*": () => soundBytes("mono.m4a"),
  "application/octet-stream": wav,
  "audio/wav": wav,
  "audio/pcm": () => conversationPcm().subarray(0, SECONDS * 32_000),
  "audio/ogg": () => soundBytes("mono.opus"),
  "audio/webm": () => soundBytes("left.webm"),
  "audio/mpeg": () => soundBytes("mono-44100.mp3"),
  "audio/flac": () => soundBytes("mono-16000.flac"),
  "audio/mp4": () => soundBytes("mono.m4a"),
};

/** A media type of each range that the document names. */
const TYPES: Readonly<Record<string, string>> = {
  "*/*": "audio/wav",
  "audio/*": "audio/wav",
  "video/*": "video/mp4",
};

/**
 * Every way to upload that the document has, with its examples as fields and headers and these ids in
 * its paths. Chunks are numbered from `first` on, so that each brings one of its own.
 */
export function uploadRequests(
  document: object,
  ids: Readonly<Record<string, string>>,
  first: number,
): UploadRequest[] {
  const { paths } = document as { paths: Record<string, { post?: Operation }> };
  const requests: UploadRequest[] = [];
  for (const [template, { post }] of Object.entries(paths)) {
    if (post?.requestBody === undefined || !isUpload(post.requestBody)) continue;
    const path = template.replaceAll(/\{(\w+)\}/g, (_all, name: string) => ids[name] ?? "");
    for (const [mediaType, { schema }] of Object.entries(post.requestBody.content)) {
      const sequence = String(first + requests.length);
      requests.push({
        operationId: post.operationId,
        mediaType,
        path,
        scheme: Object.keys(post.security[0] ?? {})[0] ?? "",
        ...(mediaType === "multipart/form-data"
          ? { headers: {}, body: formOf(schema, sequence) }
          : { headers: headersOf(post, mediaType, sequence), body: soundOf(mediaType) }),
      });
    }
  }
  return requests;
}

function isUpload({ content }: { content: object }): boolean {
  return "multipart/form-data" in content;
}

function soundOf(mediaType: string): Buffer {
  const sound = SOUNDS[mediaType.split(";")[0] ?? ""];
  if (sound === undefined) throw new Error(`There is no sound of the kind ${mediaType} to send.`);
  return sound();
}

function headersOf(
  { parameters = [] }: Operation,
  mediaType: string,
  sequence: string,
): Record<string, string> {
  const headers = parameters
    .filter((each) => each.in === "header" && each.schema?.examples !== undefined)
    .map(({ name, schema }) => [name, own(name, schema.examples?.[0], sequence)]);
  return { "content-type": TYPES[mediaType] ?? mediaType, ...Object.fromEntries(headers) };
}

function formOf({ properties = {}, required = [] }: Schema, sequence: string): FormData {
  const form = new FormData();
  for (const [name, { examples }] of Object.entries(properties)) {
    if (name === "file") continue;
    const [example] = examples ?? [];
    if (example === undefined && required.includes(name)) throw new Error(`${name}: no example`);
    const values = example === undefined ? [] : [example].flat();
    for (const value of values) form.append(name, own(name, value, sequence));
  }
  form.append("file", new Blob([wav()], { type: "audio/wav" }), "recording.wav");
  return form;
}

function own(name: string, example: unknown, sequence: string): string {
  return /^(x-)?chunk[-_]sequence$/i.test(name) ? sequence : String(example);
}
