import type { Static } from "@sinclair/typebox";
import type { DEVICE_FRAME_SCHEMAS, DEVICE_SERVER_FRAMES } from "./device-schemas.ts";

type Frames = typeof DEVICE_FRAME_SCHEMAS;

/** What a device sends on its stream besides binary audio. */
export type DeviceFrame = Static<Frames[keyof Frames]>;

export type ConfigureFrame = Static<Frames["Configure"]>;

type ServerFrames = typeof DEVICE_SERVER_FRAMES;

/** What a device is told; never what was said. */
export type DeviceServerFrame = Static<ServerFrames[keyof ServerFrames]["payload"]>;
