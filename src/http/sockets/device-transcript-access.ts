import { withTimeout } from "../../base/deferred.ts";
import { AppError, toAppError } from "../../base/errors.ts";
import type { StreamPort } from "../../conversations/recording/streams.ts";
import type { ConfigureFrame } from "../../wire/device-frames.ts";
import {
  DeviceTranscript,
  type DeviceTranscriptOptions,
  type Reader,
} from "./device-transcript.ts";

export interface DeviceTranscriptAccessOptions extends DeviceTranscriptOptions {
  streams: Pick<StreamPort, "mayRead">;
}

/** What Configure and Resume ask for besides the stream. */
export type TranscriptRequest = Pick<ConfigureFrame, "transcript" | "from_seq">;

interface ReadingDevice extends Omit<Reader, "sessionId"> {
  /** It gets no more words, for this reason; its recording goes on. */
  onEnd(error: AppError): void;
}

/** Whether a device's socket gets words, from when on, and until when. */
export class DeviceTranscriptAccess {
  readonly #options: DeviceTranscriptAccessOptions;
  readonly #device: ReadingDevice;
  #sessionId = "";
  #transcript: DeviceTranscript | undefined;

  constructor(options: DeviceTranscriptAccessOptions, device: ReadingDevice) {
    this.#options = options;
    this.#device = device;
  }

  /** Whether its owner lets the device read this session now. */
  mayRead(sessionId: string): Promise<boolean> {
    const { streams, limits, runtime } = this.#options;
    const asked = streams.mayRead(this.#device.deviceId, sessionId);
    return withTimeout(asked, limits.readTimeoutMs, "Checking who may read", runtime);
  }

  /**
   * Begins after the seq that the device has, by default with what is new.
   *
   * @param newest seq of the session when its stream was opened
   */
  start(sessionId: string, newest: number, fromSeq = newest): void {
    const transcript = new DeviceTranscript(this.#options, { ...this.#device, sessionId });
    this.#sessionId = sessionId;
    this.#transcript = transcript;
    const fail = (error: unknown): void => {
      if (this.#transcript === transcript) this.#end(toAppError(error));
    };
    // The recording goes on, whatever keeps the words away.
    transcript.start(Math.min(fromSeq, newest)).catch(fail);
    // The right may have been taken back while there was nothing yet that could be ended.
    this.recheck().catch(fail);
  }

  /** Ends it when the right has ended; rejects when that is not known. */
  async recheck(): Promise<void> {
    const transcript = this.#transcript;
    if (transcript === undefined || (await this.mayRead(this.#sessionId))) return;
    if (this.#transcript === transcript) this.#end(noReader());
  }

  #end(error: AppError): void {
    this.stop();
    this.#device.onEnd(error);
  }

  /** The transport has written some of the waiting bytes. */
  drained(): void {
    this.#transcript?.drained();
  }

  stop(): void {
    this.#transcript?.stop();
    this.#transcript = undefined;
  }
}

export function noReader(): AppError {
  return new AppError(
    "forbidden",
    "This stream gets no words: the device's owner has not set `may_read`, or the session is not theirs or not recording. The recording goes on.",
  );
}
