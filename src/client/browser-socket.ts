import type { ApiClient } from "./api-client.ts";
import { Unreachable } from "./errors.ts";
import { FrameSocket, type OpenOptions, type OpenSocket, type RawSocket } from "./frame-socket.ts";

interface OpeningSocket extends RawSocket {
  onopen: (() => void) | null;
}

/** Of browsers, and of Node from 22 on; the types of neither are the other's. */
declare const WebSocket: new (url: string) => OpeningSocket;

/**
 * Opens WebSockets with a live ticket each, as browsers can set no header. Rejects with `ApiError`
 * when the ticket is refused, and with `Unreachable` for what a browser tells no more of.
 */
export function openWithTicket(api: ApiClient): OpenSocket {
  return async (path, options) => {
    const { signal } = options;
    const { ticket } = await api.call((client) => client.POST("/auth/live-ticket"), { signal });
    return openTicketed(api.baseUrl, path, ticket, options);
  };
}

/** Opens one WebSocket with a ticket. Rejects with `Unreachable`, or the reason of the signal. */
function openTicketed(
  baseUrl: string,
  path: string,
  ticket: string,
  { handshakeMs, signal }: OpenOptions,
): Promise<FrameSocket> {
  const base = baseUrl.replace(/^http/, "ws");
  const raw = new WebSocket(`${base}${path}?ticket=${encodeURIComponent(ticket)}`);
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      settle();
    };
    const fail = (reason: unknown) => {
      end(() => reject(reason));
      // Node tells of the end within `close`.
      [raw.onclose, raw.onerror] = [null, null];
      raw.close();
    };
    const abort = () => fail(signal?.reason);
    const lost = () =>
      fail(new Unreachable(`GET ${path}`, "the connection was refused", handshakeMs));
    const timer = setTimeout(lost, handshakeMs);
    raw.onclose = lost;
    raw.onerror = lost;
    raw.onopen = () => end(() => resolve(new FrameSocket(raw)));
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted) abort();
  });
}
