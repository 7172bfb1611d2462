import { Access } from "../../../client/access.ts";
import type { Send } from "../../../client/api-client.ts";
import { ApiError } from "../../../client/errors.ts";
import { FileUpload } from "../../../client/upload.ts";
import { api, apiOf, call } from "../../api/client.ts";
import type { BrowserDevice } from "./browser-device.ts";
import type { SavedRecording, UnsentAudio } from "./saved-audio.ts";

/** Begins a session of this browser, which ends one that was cut off and that nobody took up. */
export async function beginSession(
  device: BrowserDevice,
  { title, workshopId, language }: { title: string; workshopId: string; language: string },
): Promise<string> {
  const params = { path: { device_id: device.id } };
  const body = {
    ...(title === "" ? {} : { title }),
    ...(workshopId === "" ? {} : { workshop_id: workshopId }),
    ...(language === "" ? {} : { language }),
  };
  const begin = () =>
    callAs(device, (api) => api.POST("/devices/{device_id}/session/start", { params, body }));
  try {
    return (await begin()).session_id;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error;
    await endSession(device, undefined);
    return (await begin()).session_id;
  }
}

export async function endSession(
  device: BrowserDevice,
  sessionId: string | undefined,
): Promise<void> {
  const params = { path: { device_id: device.id } };
  const body = sessionId === undefined ? {} : { session_id: sessionId };
  await callAs(device, (api) => api.POST("/devices/{device_id}/session/stop", { params, body }));
}

function callAs<T>({ key }: BrowserDevice, send: Send<T>): Promise<NonNullable<T>> {
  return apiOf(new Access({ apiKey: key })).call(send);
}

/** Least sound that is worth a session of its own, seconds. */
const LEAST_SECONDS = 1;

/** Keeps sound that its session takes no more as a session of its own, named after it. */
export async function storeUnsent(
  { workspaceId, title, sampleRate, language = "" }: SavedRecording,
  { bytes }: UnsentAudio,
): Promise<void> {
  if (bytes.byteLength < LEAST_SECONDS * 2 * sampleRate) return;
  const name = title === "" ? "Rest of a recording" : `${title} (rest)`;
  const options = language === "" ? {} : { language };
  const body = { title: name.slice(-200), workspace_id: workspaceId, ...options };
  const { id } = await call((api) => api.POST("/sessions", { body }));
  const mediaType = `audio/pcm;rate=${sampleRate};channels=1;encoding=s16le`;
  await new FileUpload(api, id, new Blob([bytes.slice()]), { mediaType, filename: name }).run();
}
