import type { NatsConnection, Subscription } from "nats";
import { decodeJson, encodeJson } from "../wire/envelope.ts";
import type { ServerFrame } from "../wire/live-frames.ts";
import { liveSubject } from "../wire/subjects.ts";

type Listener = (frames: ServerFrame[]) => void;

/**
 * Frames of sessions from their actor to every front. At most once: a front
 * that misses some sees the gap in `seq` and reads the journal.
 */
export class LiveFanout {
  readonly #connection: NatsConnection;
  readonly #followed = new Map<string, { listeners: Set<Listener>; subscription: Subscription }>();

  constructor(connection: NatsConnection) {
    this.#connection = connection;
  }

  /** Drops the frames when the bus is closed. */
  publish(sessionId: string, frames: readonly ServerFrame[]): void {
    if (frames.length === 0 || this.#connection.isClosed()) return;
    this.#connection.publish(liveSubject(sessionId), encodeJson(frames));
  }

  /** One subscription per session and process, however many listeners. Returns how to stop. */
  follow(sessionId: string, listener: Listener): () => void {
    const followed = this.#followed.get(sessionId) ?? this.#subscribe(sessionId);
    followed.listeners.add(listener);
    return () => {
      followed.listeners.delete(listener);
      if (followed.listeners.size > 0 || this.#followed.get(sessionId) !== followed) return;
      this.#followed.delete(sessionId);
      followed.subscription.unsubscribe();
    };
  }

  #subscribe(sessionId: string): { listeners: Set<Listener>; subscription: Subscription } {
    const listeners = new Set<Listener>();
    const subscription = this.#connection.subscribe(liveSubject(sessionId), {
      callback: (_error, message) => {
        const frames = decodeJson(message.data);
        if (!Array.isArray(frames)) return;
        for (const listener of listeners) listener(frames as ServerFrame[]);
      },
    });
    const followed = { listeners, subscription };
    this.#followed.set(sessionId, followed);
    return followed;
  }
}
