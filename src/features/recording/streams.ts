import type { DevicePrincipal, Principal } from "../../access/principal.ts";
import { isAppError } from "../../base/errors.ts";
import type { HeartbeatWriter } from "../devices/heartbeats.ts";
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

/** What a device wants to stream, and where to. */
export interface StreamOrder {
  /** The session that the device records, or a new one, unless told. */
  sessionId?: string | undefined;
  /** Absent: those of the connection before. */
  settings?: StreamSettings;
  /** The oldest byte of the stream that the device still has. */
  oldest?: number;
  /** The title of the session, if this begins one. */
  title?: string | undefined;
  language?: string | undefined;
  vocabulary?: string[] | undefined;
}

interface OpenedDeviceStream extends OpenedAudioStream {
  /** Its session is new. */
  begun: boolean;
}

/** The streams of devices: who may open one, and into which session it goes. */
export class DeviceStreams {
  readonly #ports: DeviceStreamRouteOptions;

  constructor(ports: DeviceStreamRouteOptions) {
    this.#ports = ports;
  }

  /** 404 for an unknown device, 403 for another than the caller. */
  admit(caller: Principal, deviceId: string): Promise<DevicePrincipal> {
    return requireSelf(this.#ports.sessions, caller, deviceId);
  }

  /**
   * Opens the stream of the session that is named, else of the one that the
   * device records, else of a new one. Throws `not_found`, `forbidden`,
   * `session_ended`, `session_deleted`, `bad_request`, `conflict`.
   */
  async open(
    device: DevicePrincipal,
    order: StreamOrder,
    events: AudioStreamEvents,
  ): Promise<OpenedDeviceStream> {
    const { sessionId, begun } = await this.#session(device, order);
    const { settings, oldest } = order;
    const opened = await this.#ports.streams.open({
      sessionId,
      settings,
      oldest: oldest ?? 0,
      events,
    });
    return { ...opened, begun };
  }

  /** Ends a session that `open` began, for which nothing came that is audio. */
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

  get heartbeats(): Pick<HeartbeatWriter, "hear" | "seen"> {
    return this.#ports.heartbeats;
  }

  async #session(
    device: DevicePrincipal,
    order: StreamOrder,
  ): Promise<{ sessionId: string; begun: boolean }> {
    const { directory, sessions } = this.#ports;
    if (order.sessionId !== undefined) {
      await requireSession(directory, device, order.sessionId, "session.upload");
      return { sessionId: order.sessionId, begun: false };
    }
    const running = await sessions.recording(device.id);
    if (running !== undefined) return { sessionId: running, begun: false };
    const { title, language, vocabulary } = order;
    try {
      const { id } = await startRecording(this.#ports, device, {
        ...(title === undefined ? {} : { title }),
        ...(language === undefined ? {} : { language }),
        ...(vocabulary === undefined ? {} : { vocabulary }),
      });
      return { sessionId: id, begun: true };
    } catch (error) {
      // Another connection of the device was quicker.
      const started = isAppError(error, "already_recording")
        ? await sessions.recording(device.id)
        : undefined;
      if (started === undefined) throw error;
      return { sessionId: started, begun: false };
    }
  }
}
