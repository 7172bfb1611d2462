import { openWithHeaders } from "./node-socket.ts";
import { VoiceClient as Client, type ClientOptions } from "./voice-client.ts";

export * from "./public.ts";

/** The client for Node. */
export class VoiceClient extends Client {
  constructor(options: ClientOptions) {
    super(options, (api, access) => openWithHeaders(api.baseUrl, access));
  }
}
