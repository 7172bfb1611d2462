import type { DevicePrincipal, Principal, ServicePrincipal } from "../../access/principal.ts";
import { isAppError } from "../../base/errors.ts";
import type { HeartbeatCommand, HeartbeatWriter } from "../../tenancy/devices/heartbeats.ts";
import { requireSession } from "../sessions/access.ts";
import type { SessionStore } from "../sessions/store.ts";
import { type DeviceSessionOptions, requireSelf, startRecording } from "./device-sessions.ts";
import type { AudioStreamEvents } from "./stream.ts";
import type { StreamSettings } from "./stream-records.ts";
import type { AudioStreams, OpenedAudioStream } from "./stream-routes.ts";

interface DeviceStreamRouteOptions extends DeviceSessionOptions {
  directory: SessionStore;
  streams: AudioStreams;
  heartbeats: Pick<HeartbeatWriter, "hear" | "seen">;
}

/** A device's request for a stream. */
export interface StreamOrder {
  /** When absent: the session that the device is recording, or a new one. */
  sessionId?: string | undefined;
  /** Settings of the previous connection when absent. */
  settings?: StreamSettings;
  /** The oldest byte of the stream that the device still has. */
  oldest?: number;
  /** Title of the session, if a new one is created. */
  title?: string | undefined;
  language?: string | undefined;
  engine?: string | undefined;
  vocabulary?: string[] | undefined;
}

export interface OpenedDeviceStream extends OpenedAudioStream {
  /** True when the session is new. */
  begun: boolean;
  /** Why no engine may read the new session's language, a sentence. */
  warning?: string | undefined;
}

/** Who streams audio: a device into a session of its own, or a service key into one of its workspace. */
export type StreamCaller = DevicePrincipal | ServicePrincipal;

/** What the socket of a stream does for its caller. */
export interface StreamPort {
  /** Rejects with why the caller may not stream there, or cannot just now. */
  open(
    caller: StreamCaller,
    order: StreamOrder,
    events: AudioStreamEvents,
  ): Promise<OpenedDeviceStream>;
  /** Stops a session that `open` created and that received no audio. */
  discard(caller: StreamCaller, sessionId: string): Promise<void>;
  /** Whether the caller gets the session's words on its stream. */
  mayRead(callerId: string, sessionId: string): Promise<boolean>;
  readonly heartbeats: {
    hear(caller: StreamCaller, telemetry: object): Promise<readonly HeartbeatCommand[]>;
    seen(callerId: string): void;
  };
}

/** Decides which device may open a stream, and into which session it goes. */
export class DeviceStreams implements StreamPort {
  readonly #ports: DeviceStreamRouteOptions;

  constructor(ports: DeviceStreamRouteOptions) {
    this.#ports = ports;
  }

  /** Throws 404 for an unknown device, 403 for another device than the caller. */
  admit(caller: Principal, deviceId: string): Promise<DevicePrincipal> {
    return requireSelf(this.#ports.sessions, caller, deviceId);
  }

  /**
   * Opens the stream of the named session, else of the one that the device is recording, else of a
   * new one. Throws `not_found`, `forbidden`, `session_ended`, `session_deleted`, `bad_request`,
   * `conflict`.
   */
  async open(
    device: DevicePrincipal,
    order: StreamOrder,
    events: AudioStreamEvents,
  ): Promise<OpenedDeviceStream> {
    const { sessionId, begun, warning } = await this.#session(device, order);
    const { settings, oldest } = order;
    const opened = await this.#ports.streams.open({
      sessionId,
      settings,
      oldest: oldest ?? 0,
      events,
    });
    return { ...opened, begun, warning };
  }

  /** Stops a session that `open` created and that received no audio. */
  async discard(device: DevicePrincipal, sessionId: string): Promise<void> {
    const { sessions, notifier } = this.#ports;
    const { outbox } = await sessions.stop({
      deviceId: device.id,
      sessionId,
      lastSequence: undefined,
      reason: "not_audio",
    });
    notifier.notify(outbox);
  }

  /** Whether the device's owner lets it read the session, which must be theirs and be recording. */
  mayRead(deviceId: string, sessionId: string): Promise<boolean> {
    return this.#ports.sessions.mayRead(deviceId, sessionId);
  }

  get heartbeats(): Pick<HeartbeatWriter, "hear" | "seen"> {
    return this.#ports.heartbeats;
  }

  async #session(
    device: DevicePrincipal,
    order: StreamOrder,
  ): Promise<{ sessionId: string; begun: boolean; warning?: string | undefined }> {
    const { directory, sessions } = this.#ports;
    if (order.sessionId !== undefined) {
      await requireSession(directory, device, order.sessionId, "session.upload");
      return { sessionId: order.sessionId, begun: false };
    }
    const running = await sessions.recording(device.id);
    if (running !== undefined) return { sessionId: running, begun: false };
    const { title, language, engine, vocabulary } = order;
    try {
      const { id, warning } = await startRecording(this.#ports, device, {
        ...(title === undefined ? {} : { title }),
        ...(language === undefined ? {} : { language }),
        ...(engine === undefined ? {} : { engine }),
        ...(vocabulary === undefined ? {} : { vocabulary }),
      });
      return { sessionId: id, begun: true, warning };
    } catch (error) {
      // Another connection of the device started a session first.
      const started = isAppError(error, "already_recording")
        ? await sessions.recording(device.id)
        : undefined;
      if (started === undefined) throw error;
      return { sessionId: started, begun: false };
    }
  }
}
