import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { Readable } from "node:stream";

const MOST_BYTES = 1024 * 1024;
const WITHOUT_BODY = new Set([101, 204, 205, 304]);

/**
 * `fetch` for a language model: a small machine may think for longer than the five minutes after which Node's own
 * gives up, so that only the signal ends it. Redirects are followed nowhere, and answers that are too long
 * end with an error.
 */
export async function modelFetch(
  input: string | URL | Request,
  { method = "GET", headers, body, signal }: RequestInit = {},
): Promise<Response> {
  const url = new URL(input instanceof Request ? input.url : input);
  const message = await new Promise<IncomingMessage>((resolve, reject) => {
    const send = url.protocol === "https:" ? httpsRequest : httpRequest;
    const request = send(url, {
      ...{ method, headers: Object.fromEntries(new Headers(headers)) },
      ...(signal && { signal }),
    });
    request.on("response", resolve);
    request.on("error", reject);
    request.end(typeof body === "string" ? body : undefined);
  });
  const { statusCode: status = 500, headers: told } = message;
  if (status >= 300 && status < 400) {
    message.destroy();
    throw new Error("it redirects elsewhere");
  }
  const answer = new Headers();
  for (const [name, value] of Object.entries(told)) {
    if (value !== undefined) answer.set(name, [value].flat().join(", "));
  }
  if (WITHOUT_BODY.has(status)) {
    message.resume();
    return new Response(null, { status, headers: answer });
  }
  return new Response(bounded(message), { status, headers: answer });
}

function bounded(message: IncomingMessage): ReadableStream<Uint8Array> {
  let bytes = 0;
  const bound = new TransformStream<Uint8Array, Uint8Array>({
    transform(part, out) {
      bytes += part.byteLength;
      if (bytes > MOST_BYTES) out.error(new Error("its answer is too long"));
      else out.enqueue(part);
    },
  });
  return (Readable.toWeb(message) as ReadableStream<Uint8Array>).pipeThrough(bound);
}
