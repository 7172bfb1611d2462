import type { AppError } from "../../base/errors.ts";
import type { OpenedAudioStream } from "../../conversations/recording/stream-routes.ts";
import { CLOSE, type CloseCode } from "../../wire/close-codes.ts";
import type { DeviceServerFrame } from "../../wire/device-frames.ts";
import { closeCodeOf } from "../server/problem.ts";

/** True when anything else on this connection would not be audio either. */
export function isNoAudio({ code }: AppError): boolean {
  return code === "not_audio" || code === "unsupported_media_type";
}

/** The answer to Configure and Resume; `transcript` is whether it gets words. */
export function beginFrame(
  { stream, settings, offset, seq }: OpenedAudioStream,
  transcript: boolean,
): DeviceServerFrame {
  return {
    type: "Begin",
    session_id: stream.sessionId,
    seq,
    audio_offset_bytes: offset,
    chunk_sequence: stream.nextSequence,
    configuration: {
      encoding: settings.encoding,
      sample_rate: settings.sampleRate,
      channels: settings.channels,
      framing: settings.framing,
      interim_results: settings.interim,
      transcript,
    },
  };
}

/** The close code tells devices when an error is permanent, so that they stop reconnecting. */
export function deviceCloseCode(error: AppError): CloseCode {
  if (error.code === "superseded") return CLOSE.superseded;
  if (error.code === "session_ended") return CLOSE.done;
  if (error.code === "conflict" || isNoAudio(error)) return CLOSE.protocol;
  return closeCodeOf(error);
}
