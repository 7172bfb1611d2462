import type { NatsConnection, Subscription } from "nats";
import type { StreamNotices } from "../api/audio-streams.ts";
import type { LiveAudio, LivePieces } from "../api/stream-pieces.ts";
import { decodeJson, encodeJson } from "../wire/envelope.ts";
import { audioSubject, STREAMS_TAKEN } from "../wire/subjects.ts";
import { decodeAudio, encodeAudio } from "./audio-envelope.ts";

/** Streamed audio from fronts to the actor of its session. At most once. */
export class BusAudio implements LivePieces {
  readonly #connection: NatsConnection;

  constructor(connection: NatsConnection) {
    this.#connection = connection;
  }

  publish(sessionId: string, audio: LiveAudio): void {
    if (this.#connection.isClosed()) return;
    this.#connection.publish(audioSubject(sessionId), encodeAudio(audio));
  }

  /** Returns how to stop. */
  follow(sessionId: string, listener: (audio: LiveAudio) => void): () => void {
    const subscription = this.#connection.subscribe(audioSubject(sessionId), {
      callback: (_error, message) => {
        const audio = decodeAudio(message.data);
        if (audio !== undefined) listener(audio);
      },
    });
    return () => subscription.unsubscribe();
  }
}

/** Which connection streams into a session, told to every front. */
export class BusStreamNotices implements StreamNotices {
  readonly #connection: NatsConnection;

  constructor(connection: NatsConnection) {
    this.#connection = connection;
  }

  taken(sessionId: string, epoch: number): void {
    if (this.#connection.isClosed()) return;
    this.#connection.publish(STREAMS_TAKEN, encodeJson({ sessionId, epoch }));
  }

  onTaken(listener: (sessionId: string, epoch: number) => void): () => void {
    const subscription: Subscription = this.#connection.subscribe(STREAMS_TAKEN, {
      callback: (_error, message) => {
        const notice = decodeJson(message.data) as { sessionId?: unknown; epoch?: unknown };
        if (typeof notice?.sessionId !== "string" || typeof notice.epoch !== "number") return;
        listener(notice.sessionId, notice.epoch);
      },
    });
    return () => subscription.unsubscribe();
  }
}
