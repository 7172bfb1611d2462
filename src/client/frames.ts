import type { components } from "./gen/live-schema.ts";

type Schemas = components["schemas"];

/** A frame of the live channel. Times are seconds from the start of the session's audio. */
export type ServerFrame = Schemas["ServerFrame"];

/** A frame that a stream of audio receives; only those that `transcript` asks for contain words. */
export type StreamServerFrame = Schemas["StreamServerFrame"];

/** What is streamed: encoding, rate, channels, and what is told back. */
export type StreamConfiguration = Omit<Schemas["ConfigureOrder"], "type">;

export type StreamFrame = Schemas["StreamFrame"];
export type ViewerFrame = Schemas["ViewerFrame"];
export type WebhookMessage = Schemas["WebhookMessage"];

/** Parses the frames of one WebSocket message: an object, or an array of several; else none. */
export function parseFrames<F extends { type: string } = ServerFrame>(text: string): F[] {
  const content = parseJson(text);
  const items = Array.isArray(content) ? content : [content];
  return items.filter((each): each is F => isFrame(each));
}

/** Accepts unknown types too: a newer service may send frames that this client only passes on. */
function isFrame(value: unknown): value is { type: string } {
  return (
    typeof value === "object" && value !== null && "type" in value && typeof value.type === "string"
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
