import { type ClientOptions, WebSocket } from "ws";
import type { Caller } from "./access.ts";
import { failureOf } from "./api-client.ts";
import { Unreachable } from "./errors.ts";
import { FrameSocket, type OpenOptions, type OpenSocket } from "./frame-socket.ts";

const MOST_FRAME_BYTES = 32 * 1024 * 1024;
const MOST_REFUSAL_CHARACTERS = 10_000;

/**
 * Opens WebSockets with the caller's header, which Node can set and browsers cannot. Rejects with
 * `ApiError` for a refusal, with `Unreachable` when nobody answers.
 */
export function openWithHeaders(baseUrl: string, caller: Caller): OpenSocket {
  return async (path, options) => {
    const headers = await caller.headers();
    return open(`${baseUrl.replace(/^http/, "ws")}${path}`, `GET ${path}`, headers, options);
  };
}

function open(
  url: string,
  name: string,
  headers: Readonly<Record<string, string>>,
  { handshakeMs, signal }: OpenOptions,
): Promise<FrameSocket> {
  const options: ClientOptions = { headers, handshakeTimeout: handshakeMs };
  const raw = new WebSocket(url, { ...options, maxPayload: MOST_FRAME_BYTES });
  const socket = new FrameSocket(raw as unknown as ConstructorParameters<typeof FrameSocket>[0]);
  raw.on("ping", () => socket.heard());
  raw.on("pong", () => socket.heard());
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      signal?.removeEventListener("abort", abort);
      settle();
    };
    const fail = (error: unknown) => {
      end(() => reject(error));
      raw.terminate();
    };
    const abort = () => fail(signal?.reason);
    raw.once("open", () => end(() => resolve(socket)));
    // After it is open, and after a failure, this has no effect: the socket itself tells.
    raw.on("error", (error) => fail(new Unreachable(name, error, handshakeMs)));
    raw.once("unexpected-response", (_request, response) => {
      let text = "";
      const refuse = () => {
        const { statusCode: status = 0, headers: told } = response;
        const get = (header: string) => [told[header] ?? null].flat()[0] ?? null;
        fail(failureOf(name, { status, headers: { get } }, text));
      };
      response.setEncoding("utf8").on("data", (part: string) => {
        text = (text + part).slice(0, MOST_REFUSAL_CHARACTERS);
      });
      response.once("end", refuse).once("error", refuse);
    });
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted) abort();
  });
}
