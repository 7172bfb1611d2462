/**
 * Port: messages between processes. Each comes at most once, in the order of its sender, to
 * whoever listens on its subject at that moment.
 */
export interface Line {
  /** Drops the message when the line is closed; what is sent during a break may go later or never. */
  publish(subject: string, data: Uint8Array): void;
  /** A subscription outlasts breaks. Returns how to stop. */
  subscribe(subject: string, onMessage: (data: Uint8Array) => void): () => void;
  /**
   * Asks whoever serves the subject. Rejects with `unavailable` when certainly nobody was asked,
   * with `timeout` when there is no answer after `ms`.
   */
  request(subject: string, data: Uint8Array, ms: number): Promise<Uint8Array>;
  /** Answers what is asked, and hears what is published; `onRequest` never rejects. Returns how to stop. */
  serve(subject: string, onRequest: OnRequest): () => void;
  /** Resolves when the other end has all that was sent and subscribed before. Rejects when closed. */
  flush(): Promise<void>;
  isClosed(): boolean;
  /** `listener` is called each time the line stands again after a break. */
  onBack(listener: () => void): void;
}

/** Answers a request. Where it resolves to undefined nothing is sent, and the asker's time runs out. */
export type OnRequest = (data: Uint8Array) => Promise<Uint8Array | undefined>;
