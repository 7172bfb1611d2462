import { expect } from "vitest";
import type { PairedDevice } from "./paired-device.ts";
import { until } from "./until.ts";
import { type Frame, Viewer } from "./viewer.ts";

const PCM = { encoding: "pcm_s16le", sample_rate: 16_000, channels: 1 } as const;

/** A viewer of the device's session, from its beginning. */
export async function follow({ service, token, sessionId }: PairedDevice): Promise<Viewer> {
  const viewer = new Viewer(service.ready.live_url, { authorization: `Bearer ${token}` });
  await viewer.opened();
  viewer.send({ type: "Subscribe", session_id: sessionId, from_seq: 0 });
  return viewer;
}

export function resultsOf({ frames }: Viewer, isFinal: boolean): Frame[] {
  return frames.filter((frame) => frame.type === "Results" && frame.is_final === isFinal);
}

/** One connection; each part comes when the one before is stored. */
export async function streamParts(
  { service, id, key, sessionId }: PairedDevice,
  interim: boolean | undefined,
  parts: readonly Buffer[],
  beforeClose = async () => {},
): Promise<void> {
  const url = `${service.ready.base_url.replace("http", "ws")}/api/devices/${id}/stream`;
  const socket = await new Viewer(url, { "x-api-key": key }).opened();
  const wanted = interim === undefined ? {} : { interim_results: interim };
  socket.send({ type: "Configure", session_id: sessionId, ...PCM, ...wanted });
  let offset = Number((await socket.received("Begin")).audio_offset_bytes);
  for (const part of parts) {
    socket.socket.send(part);
    offset += part.byteLength;
    const isStored = () => socket.frames.some((frame) => frame.audio_offset_bytes === offset);
    await until(isStored, "the part to be stored", 30_000);
  }
  await beforeClose();
  socket.send({ type: "CloseStream" });
  expect(await socket.closed()).toBe(1000);
}
