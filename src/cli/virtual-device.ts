import { randomUUID } from "node:crypto";
import { type ApiClient, ApiFailure, type JsonObject } from "./api-client.ts";
import type { AudioChunk } from "./audio-chunks.ts";
import type { Attempts } from "./back-off.ts";
import { stringField } from "./json-field.ts";
import type { UserSession } from "./user-session.ts";

export interface PairingRequest {
  readonly name: string;
  readonly workspaceId: string;
}

const MODEL = "simulator";
const UPLOAD_TIMEOUT_MS = 60_000;

/**
 * A device made of software: pairs as the hardware does and speaks only the device's part of the
 * interface, with its own key. Every call is repeated within bounds while failures are passing.
 */
export class VirtualDevice {
  readonly id: string;
  readonly #api: ApiClient;
  readonly #key: string;
  readonly #onRetry: Attempts["onRetry"];

  private constructor(api: ApiClient, id: string, key: string, onRetry: Attempts["onRetry"]) {
    this.#api = api;
    this.id = id;
    this.#key = key;
    this.#onRetry = onRetry;
  }

  /** The device publishes a code, the user enters it, the device collects its key. */
  static async pair(
    user: UserSession,
    { name, workspaceId }: PairingRequest,
    onRetry?: Attempts["onRetry"],
  ): Promise<VirtualDevice> {
    const { api } = user;
    const serial = `SIM-${randomUUID().slice(0, 8)}`;
    const offer = await api.call({
      method: "POST",
      path: "/devices/pairing-codes",
      json: { device_serial: serial, name, model: MODEL },
    });
    await user.call({
      method: "POST",
      path: "/devices/pair",
      json: { code: stringField(offer, "code"), workspace_id: workspaceId, name },
    });
    const grant = await api.call({
      method: "POST",
      path: "/devices/pair/claim-auth",
      headers: { Authorization: `Bearer ${stringField(offer, "pairing_secret")}` },
      json: {},
    });
    const id = stringField(grant, "device_id");
    return new VirtualDevice(api, id, stringField(grant, "api_key"), onRetry);
  }

  heartbeat(telemetry: JsonObject): Promise<JsonObject> {
    return this.#post(`/devices/${this.id}/heartbeat`, telemetry);
  }

  /** Starts a session and returns its id. */
  async startSession(options: { title?: string; language?: string }): Promise<string> {
    const path = `/devices/${this.id}/session/start`;
    try {
      return stringField(await this.#post(path, options), "session_id");
    } catch (error) {
      // A first attempt whose answer was lost did start it; the refusal names it.
      const started = error instanceof ApiFailure && error.status === 409 && uuidIn(error.said);
      if (started) return started;
      throw error;
    }
  }

  upload(sessionId: string, chunk: AudioChunk, signal?: AbortSignal): Promise<JsonObject> {
    const call = {
      method: "POST",
      path: `/sessions/${sessionId}/upload-audio`,
      headers: {
        "X-API-Key": this.#key,
        "Content-Type": chunk.mediaType,
        "X-Chunk-Sequence": String(chunk.sequence),
      },
      bytes: chunk.bytes,
      timeoutMs: UPLOAD_TIMEOUT_MS,
      signal,
    } as const;
    return this.#api.call(call, this.#onRetry);
  }

  /** Ends the session; `lastSequence` is the last chunk the service may expect, -1 for none. */
  stopSession(id: string, lastSequence: number, signal?: AbortSignal): Promise<JsonObject> {
    const json = { session_id: id, last_chunk_sequence: lastSequence };
    return this.#post(`/devices/${this.id}/session/stop`, json, signal);
  }

  #post(path: string, json: JsonObject, signal?: AbortSignal): Promise<JsonObject> {
    const headers = { "X-API-Key": this.#key };
    return this.#api.call({ method: "POST", path, headers, json, signal }, this.#onRetry);
  }
}

function uuidIn(text: string): string | undefined {
  return /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(text)?.[0];
}
