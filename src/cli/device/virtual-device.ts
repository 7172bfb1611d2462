import { randomUUID } from "node:crypto";
import type { ApiClient, CallOptions, Send } from "../../client/api-client.ts";
import type { Attempts } from "../../client/back-off.ts";
import { ApiError } from "../../client/errors.ts";
import type { UserSession } from "../client/user-session.ts";
import type { AudioChunk } from "./audio-chunks.ts";
import { AudioSender, type AudioSenderOptions } from "./audio-sender.ts";
import type { SavedDevice } from "./device-shelf.ts";

interface PairingRequest {
  readonly name: string;
  readonly workspaceId: string;
}

/** The data of a paired device. */
type Pairing = Pick<SavedDevice, "device_id" | "pairing_secret" | "api_key" | "expires_at">;

const MODEL = "simulator";
const UPLOAD_TIMEOUT_MS = 60_000;

/** What a session is started with. */
export interface SessionRequest {
  readonly title?: string;
  readonly language?: string;
}

/**
 * A virtual device: it pairs as hardware does and uses only the device's part of the interface,
 * with its own key. Every call is repeated a limited number of times while failures are temporary.
 */
export class VirtualDevice {
  readonly #api: ApiClient;
  readonly #onRetry: Attempts["onRetry"];
  #pairing: Pairing;

  /** Creates a device that was paired before. */
  constructor(api: ApiClient, pairing: Pairing, onRetry?: Attempts["onRetry"]) {
    this.#api = api;
    this.#pairing = pairing;
    this.#onRetry = onRetry;
  }

  get id(): string {
    return this.#pairing.device_id;
  }

  /** Data to store for the next run; contains secrets. */
  get pairing(): Pairing {
    return this.#pairing;
  }

  /** Pairs a new device: it publishes a code, the user enters it, the device fetches its key. */
  static async pair(
    user: UserSession,
    { name, workspaceId }: PairingRequest,
    onRetry?: Attempts["onRetry"],
  ): Promise<VirtualDevice> {
    const { api } = user;
    const serial = `SIM-${randomUUID().slice(0, 8)}`;
    const device = { device_serial: serial, name, model: MODEL };
    const published = await api.call((client) =>
      client.POST("/devices/pairing-codes", { body: device }),
    );
    const { code, device_id, pairing_secret } = published;
    const body = { code, workspace_id: workspaceId, name };
    await user.call((client) => client.POST("/devices/pair", { body }));
    const none = { api_key: "", expires_at: "" };
    const paired = new VirtualDevice(api, { device_id, pairing_secret, ...none }, onRetry);
    try {
      await paired.renewKey();
    } catch (error) {
      // The device could not be found again, so it is unpaired.
      await unpair(user, device_id).catch(() => undefined);
      throw error;
    }
    return paired;
  }

  /** Gets a fresh key; throws 401 when the device was unpaired. */
  async renewKey(): Promise<void> {
    const { api_key, expires_at } = await this.#api.call(
      (client) => client.POST("/devices/pair/claim-auth", { body: {} }),
      { headers: { Authorization: `Bearer ${this.#pairing.pairing_secret}` } },
    );
    this.#pairing = { ...this.#pairing, api_key, expires_at };
  }

  async heartbeat(telemetry: { battery_percent?: number; recording?: boolean }): Promise<void> {
    await this.#call((client) =>
      client.POST("/devices/{device_id}/heartbeat", { params: this.#params, body: telemetry }),
    );
  }

  /** Starts a session and returns its id; throws 409 when the device already records one. */
  async startSession(body: SessionRequest): Promise<string> {
    let isAnswerLost = false;
    const onRetry: Attempts["onRetry"] = (error, waitMs) => {
      isAnswerLost = true;
      this.#onRetry?.(error, waitMs);
    };
    try {
      const started = await this.#call(
        (client) =>
          client.POST("/devices/{device_id}/session/start", { params: this.#params, body }),
        { onRetry },
      );
      return started.session_id;
    } catch (error) {
      // If the answer of the first attempt was lost, the session is started; the refusal contains
      // its id.
      const isOwn = isAnswerLost && error instanceof ApiError && error.status === 409;
      const started = isOwn && uuidIn(error.said);
      if (started) return started;
      throw error;
    }
  }

  upload(sessionId: string, chunk: AudioChunk, signal?: AbortSignal) {
    const headers = {
      "Content-Type": chunk.mediaType,
      "X-Chunk-Sequence": String(chunk.sequence),
    };
    return this.#call(
      (client) =>
        client.POST("/sessions/{session_id}/upload-audio", {
          params: { path: { session_id: sessionId } },
          headers,
          // The OpenAPI document only declares binary content; the serialiser supplies it.
          body: "",
          bodySerializer: () => chunk.bytes,
        }),
      { timeoutMs: UPLOAD_TIMEOUT_MS, signal },
    );
  }

  /** Streams 16-bit PCM over one connection instead of uploading chunks. */
  stream(
    sessionId: string,
    { sampleRate, channels }: { sampleRate: number; channels: number },
    events: Pick<AudioSenderOptions, "signal" | "onStored">,
  ): AudioSender {
    const configuration = {
      session_id: sessionId,
      encoding: "pcm_s16le",
      sample_rate: sampleRate,
      channels,
    } as const;
    return new AudioSender({
      url: `${this.#api.baseUrl.replace(/^http/, "ws")}/devices/${this.id}/stream`,
      key: this.#pairing.api_key,
      configuration,
      backOff: this.#api.backOff,
      onReconnect: (reason, waitMs) => this.#onRetry?.(new Error(reason), waitMs),
      ...events,
    });
  }

  /**
   * Stops the session. `lastSequence` is the last chunk that the service may expect, -1 for none;
   * without it, the last chunk that the service has.
   */
  async stopSession(
    id: string,
    lastSequence: number | undefined,
    signal?: AbortSignal,
  ): Promise<void> {
    const last = lastSequence === undefined ? {} : { last_chunk_sequence: lastSequence };
    const body = { session_id: id, ...last };
    await this.#call(
      (client) => client.POST("/devices/{device_id}/session/stop", { params: this.#params, body }),
      { signal },
    );
  }

  get #params(): { path: { device_id: string } } {
    return { path: { device_id: this.id } };
  }

  #call<T>(send: Send<T>, options: CallOptions = {}): Promise<NonNullable<T>> {
    const headers = { "X-API-Key": this.#pairing.api_key };
    return this.#api.call(send, { onRetry: this.#onRetry, ...options, headers });
  }
}

/** Unpairs a device, as the user who paired it. */
export async function unpair(user: UserSession, deviceId: string): Promise<void> {
  const params = { path: { device_id: deviceId } };
  await user.call((client) => client.DELETE("/devices/{device_id}", { params }));
}

function uuidIn(text: string): string | undefined {
  return /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(text)?.[0];
}
