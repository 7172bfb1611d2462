import { openWithTicket } from "./browser-socket.ts";
import { VoiceClient as Client, type ClientOptions } from "./voice-client.ts";

export * from "./public.ts";

/** The client for browsers. */
export class VoiceClient extends Client {
  constructor(options: ClientOptions) {
    super(options, (api) => openWithTicket(api));
  }
}
