import type { ServerFrame } from "../../wire/live-frames.ts";

/** The frames of one WebSocket message: an object, or an array of several; others are left out. */
export function parseFrames(text: string): ServerFrame[] {
  const content: unknown = parseJson(text);
  const items = Array.isArray(content) ? content : [content];
  return items.filter(isFrame);
}

/** Unknown types pass: a newer service may send what this client only hands on. */
function isFrame(value: unknown): value is ServerFrame {
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
