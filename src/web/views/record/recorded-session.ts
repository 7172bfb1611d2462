import { ApiFailure, call } from "../../api/client.ts";
import type { BrowserDevice } from "./browser-device.ts";
import type { KeptRecording, RestOfSound } from "./kept-sound.ts";

/** Begins a session of this browser, which ends one that was cut off and that nobody took up. */
export async function beginSession(
  device: BrowserDevice,
  { title, workshopId, language }: { title: string; workshopId: string; language: string },
): Promise<string> {
  const params = { path: { device_id: device.id } };
  const headers = { "x-api-key": device.key };
  const body = {
    ...(title === "" ? {} : { title }),
    ...(workshopId === "" ? {} : { workshop_id: workshopId }),
    ...(language === "" ? {} : { language }),
  };
  const begin = () =>
    call((api) => api.POST("/devices/{device_id}/session/start", { params, headers, body }));
  try {
    return (await begin()).session_id;
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status !== 409) throw error;
    await endSession(device, undefined);
    return (await begin()).session_id;
  }
}

export async function endSession(
  device: BrowserDevice,
  sessionId: string | undefined,
): Promise<void> {
  const params = { path: { device_id: device.id } };
  const headers = { "x-api-key": device.key };
  const body = sessionId === undefined ? {} : { session_id: sessionId };
  await call((api) => api.POST("/devices/{device_id}/session/stop", { params, headers, body }));
}

/** Least sound that is worth a session of its own, seconds. */
const LEAST_SECONDS = 1;
/** A file in one request is not larger, bytes. */
const MOST_BYTES = 60 * 1024 * 1024;

/** Keeps sound that its session takes no more as a session of its own, named after it. */
export async function keepRest(
  { workspaceId, title, sampleRate, language = "" }: KeptRecording,
  { bytes }: RestOfSound,
): Promise<void> {
  if (bytes.byteLength < LEAST_SECONDS * 2 * sampleRate) return;
  const name = title === "" ? "Rest of a recording" : `${title} (rest)`;
  const told = language === "" ? {} : { language };
  const body = { title: name.slice(-200), workspace_id: workspaceId, ...told };
  const { id } = await call((api) => api.POST("/sessions", { body }));
  const path = { session_id: id };
  // Whole samples each; the recording ends with the last of them.
  for (let from = 0; from < bytes.byteLength; from += MOST_BYTES) {
    const part = bytes.subarray(from, from + MOST_BYTES);
    const more = from + MOST_BYTES < bytes.byteLength;
    await call((api) =>
      api.POST("/sessions/{session_id}/uploads", {
        params: { path, ...(more && { query: { more } }) },
        headers: { "content-type": `audio/pcm;rate=${sampleRate};channels=1;encoding=s16le` },
        // The document describes JSON and bytes; the client sends what it is given.
        body: part as never,
        bodySerializer: () => part.slice(),
      }),
    );
  }
}
