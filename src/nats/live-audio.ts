import type {
  LiveAudio,
  LiveFinalize,
  LiveFragment,
  LiveFragments,
} from "../conversations/recording/chunk-assembler.ts";
import type { StreamNotices } from "../conversations/recording/stream-routes.ts";
import { decodeJson, encodeJson } from "../wire/envelope.ts";
import { audioSubject, STREAMS_TAKEN } from "../wire/subjects.ts";
import type { MessageBus } from "./message-bus.ts";

const NEWLINE = 0x0a;

/** Sends streamed audio from fronts to the actor of its session, at most once. */
export class BusAudio implements LiveFragments {
  readonly #bus: MessageBus;

  constructor(bus: MessageBus) {
    this.#bus = bus;
  }

  publish(sessionId: string, audio: LiveAudio): void {
    this.#bus.publish(audioSubject(sessionId), encodeAudio(audio));
  }

  /** Receives the audio of a session. Returns a function that stops it. */
  follow(sessionId: string, listener: (audio: LiveAudio) => void): () => void {
    return this.#bus.subscribe(audioSubject(sessionId), (data) => {
      const audio = decodeAudio(data);
      if (audio !== undefined) listener(audio);
    });
  }
}

/** Notifies every front of the connection that streams into a session. */
export class BusStreamNotices implements StreamNotices {
  readonly #bus: MessageBus;

  constructor(bus: MessageBus) {
    this.#bus = bus;
  }

  taken(sessionId: string, epoch: number): void {
    this.#bus.publish(STREAMS_TAKEN, encodeJson({ sessionId, epoch }));
  }

  onTaken(listener: (sessionId: string, epoch: number) => void): () => void {
    return this.#bus.subscribe(STREAMS_TAKEN, (data) => {
      const notice = decodeJson(data) as { sessionId?: unknown; epoch?: unknown };
      if (typeof notice?.sessionId !== "string" || typeof notice.epoch !== "number") return;
      listener(notice.sessionId, notice.epoch);
    });
  }
}

/** Encodes audio as a line of JSON followed by its bytes. On the wire a fragment is a `piece`. */
function encodeAudio(audio: LiveAudio): Uint8Array {
  const { index: piece, ...named } = audio;
  if (named.kind === "finalize") return encodeJson({ ...named, piece });
  const { data, ...head } = named;
  const line = encodeJson({ ...head, kind: "piece", piece });
  const bytes = new Uint8Array(line.byteLength + 1 + data.byteLength);
  bytes.set(line);
  bytes[line.byteLength] = NEWLINE;
  bytes.set(data, line.byteLength + 1);
  return bytes;
}

/** Decodes audio; undefined when the bytes are something else. */
function decodeAudio(bytes: Uint8Array): LiveAudio | undefined {
  const end = bytes.indexOf(NEWLINE);
  const head = decodeJson(end < 0 ? bytes : bytes.subarray(0, end)) as
    | { kind?: string; sequence?: unknown; piece?: unknown }
    | undefined;
  if (typeof head?.sequence !== "number" || typeof head.piece !== "number") return undefined;
  const { piece: index, kind, ...rest } = head;
  if (kind === "finalize") return { ...(rest as LiveFinalize), kind, index };
  if (kind !== "piece" || end < 0) return undefined;
  return { ...(rest as LiveFragment), kind: "fragment", index, data: bytes.subarray(end + 1) };
}
