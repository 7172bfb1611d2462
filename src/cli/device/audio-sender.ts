import { Access } from "../../client/access.ts";
import {
  type AudioSenderOptions as Options,
  AudioSender as Sender,
} from "../../client/audio-sender.ts";
import { openWithHeaders } from "../../client/node-socket.ts";

export interface AudioSenderOptions
  extends Pick<Options, "configuration" | "signal" | "backOff" | "onStored" | "onReconnect"> {
  /** The stream's address: `ws://…/api/devices/{id}/stream`. */
  readonly url: string;
  /** The device's key. */
  readonly key: string;
}

/** Streams audio as a device does that knows its stream's address. */
export class AudioSender extends Sender {
  constructor({ url, key, ...options }: AudioSenderOptions) {
    const at = url.lastIndexOf("/devices/");
    const open = openWithHeaders(url.slice(0, at), new Access({ apiKey: key }));
    super({ ...options, open, path: url.slice(at) });
  }
}
