/**
 * A command that is sent to an actor. `id` identifies it permanently: an actor that has carried it
 * out repeats its answer and does nothing twice.
 */
export interface CommandEnvelope {
  v: 1;
  id: string;
  sessionId: string;
  /** The command; contains ids and numbers only. The session domain defines the shapes. */
  command: { type: string } & Record<string, unknown>;
  /**
   * Deadline by the database's clock, Unix milliseconds; after it the command must not be carried
   * out.
   */
  deadline?: number | undefined;
}

/** The answer to a command, sent when its events are durable. */
export type CommandReply =
  | { id: string; ok: true; value: unknown }
  | { id: string; ok: false; code: string; message: string };

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function encodeJson(value: unknown): Uint8Array {
  return encoder.encode(JSON.stringify(value));
}

/** Undefined when the bytes are not JSON. */
export function decodeJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    return undefined;
  }
}

/** The envelope, or undefined when it is malformed or of an unknown version. */
export function decodeEnvelope(bytes: Uint8Array): CommandEnvelope | undefined {
  const value = decodeJson(bytes) as Partial<CommandEnvelope> | undefined;
  if (value?.v !== 1 || typeof value.id !== "string" || typeof value.sessionId !== "string") {
    return undefined;
  }
  if (typeof value.command !== "object" || typeof value.command?.type !== "string") {
    return undefined;
  }
  if (value.deadline !== undefined && typeof value.deadline !== "number") return undefined;
  return value as CommandEnvelope;
}
