import type { StreamNotices } from "../api/audio-streams.ts";
import type { LiveAudio, LivePieces } from "../api/stream-pieces.ts";
import { decodeJson, encodeJson } from "../wire/envelope.ts";
import { audioSubject, STREAMS_TAKEN } from "../wire/subjects.ts";
import { decodeAudio, encodeAudio } from "./audio-envelope.ts";
import type { Line } from "./line.ts";

/** Streamed audio from fronts to the actor of its session. At most once. */
export class BusAudio implements LivePieces {
  readonly #line: Line;

  constructor(line: Line) {
    this.#line = line;
  }

  publish(sessionId: string, audio: LiveAudio): void {
    this.#line.publish(audioSubject(sessionId), encodeAudio(audio));
  }

  /** Returns how to stop. */
  follow(sessionId: string, listener: (audio: LiveAudio) => void): () => void {
    return this.#line.subscribe(audioSubject(sessionId), (data) => {
      const audio = decodeAudio(data);
      if (audio !== undefined) listener(audio);
    });
  }
}

/** Which connection streams into a session, told to every front. */
export class BusStreamNotices implements StreamNotices {
  readonly #line: Line;

  constructor(line: Line) {
    this.#line = line;
  }

  taken(sessionId: string, epoch: number): void {
    this.#line.publish(STREAMS_TAKEN, encodeJson({ sessionId, epoch }));
  }

  onTaken(listener: (sessionId: string, epoch: number) => void): () => void {
    return this.#line.subscribe(STREAMS_TAKEN, (data) => {
      const notice = decodeJson(data) as { sessionId?: unknown; epoch?: unknown };
      if (typeof notice?.sessionId !== "string" || typeof notice.epoch !== "number") return;
      listener(notice.sessionId, notice.epoch);
    });
  }
}
