import type { TSchema } from "@sinclair/typebox";
import { AppError } from "../../base/errors.ts";
import type { StreamOrder } from "../../conversations/recording/streams.ts";
import { type SchemaCheck, SchemaChecks } from "../../rest/schema-check.ts";
import {
  type ConfigureFrame,
  DEVICE_FRAME_SCHEMAS,
  type DeviceFrame,
} from "../../wire/device-frames.ts";
import { VIEWER_FRAME_SCHEMAS, type ViewerFrame } from "../../wire/viewer-frames.ts";
import { parseJson } from "../server/request-body.ts";

/**
 * Creates a parser of text messages for frames of these schemas, by `type`. The parser throws
 * `bad_request` with the fault of the message.
 */
function frameParser<F extends { type: string }>(
  schemas: Record<F["type"], TSchema>,
): (bytes: Buffer) => F {
  const compiler = new SchemaChecks();
  const checks = new Map<string, SchemaCheck>(
    Object.entries<TSchema>(schemas).map(([type, schema]) => [
      type,
      compiler.body(schema, "The frame"),
    ]),
  );
  return (bytes) => {
    const value = parseFrameJson(bytes);
    const type = typeof value === "object" && value !== null && "type" in value ? value.type : "";
    const check = typeof type === "string" ? checks.get(type) : undefined;
    if (check === undefined) {
      const names = [...checks.keys()].join(", ");
      throw new AppError("bad_request", `"type" must be one of ${names}.`);
    }
    const problem = check(value);
    if (problem !== undefined) throw new AppError("bad_request", problem);
    return value as F;
  };
}

function parseFrameJson(bytes: Buffer): unknown {
  try {
    return parseJson(bytes);
  } catch {
    throw new AppError("bad_request", "The frame is not valid JSON.");
  }
}

/** Parses a device's text message. Throws `bad_request` with the fault of the message. */
export const parseDeviceFrame = frameParser<DeviceFrame>(DEVICE_FRAME_SCHEMAS);

/** Parses a viewer's text message. Throws `bad_request` with the fault of the message. */
export const parseViewerFrame = frameParser<ViewerFrame>(VIEWER_FRAME_SCHEMAS);

/** What a device asks for with Configure. */
export function orderOf(frame: ConfigureFrame): StreamOrder {
  return {
    sessionId: frame.session_id,
    settings: {
      encoding: frame.encoding,
      sampleRate: frame.sample_rate,
      channels: frame.channels,
      framing: frame.framing ?? "packet",
      interim: frame.interim_results ?? true,
    },
    title: frame.title,
    language: frame.language,
    engine: frame.engine,
    vocabulary: frame.vocabulary,
  };
}
