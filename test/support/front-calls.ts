import { connect } from "node:net";
import { afterEach, expect } from "vitest";
import { type EchoRoutes, echoRoutes } from "./echo-routes.ts";
import { startFront, type TestFront, type TestFrontOptions } from "./front.ts";

let front: TestFront | undefined;

/** Starts a front with echo routes; it stops with the test that started it. */
export async function start(
  options: Partial<TestFrontOptions> = {},
): Promise<{ front: TestFront; echo: EchoRoutes; url: string }> {
  const echo = echoRoutes();
  front = await startFront({ routes: echo.routes, ...options });
  return { front, echo, url: front.base };
}

/** To be called once in a test file that uses `start`. */
export function stopAfterEach(): void {
  afterEach(async () => {
    await front?.stop();
    front = undefined;
  });
}

export const JSON_HEADERS = { "content-type": "application/json" };

export function post(
  url: string,
  body: NonNullable<RequestInit["body"]>,
  headers: Record<string, string> = JSON_HEADERS,
) {
  return fetch(url, { method: "POST", body, headers, duplex: "half" } as RequestInit);
}

export async function problem(response: Response): Promise<[number, string | null, string]> {
  const body = (await response.json()) as { success: boolean; message: string };
  expect(Object.keys(body).sort()).toEqual(["message", "success"]);
  expect(body.success).toBe(false);
  expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(response.headers.get("x-api-version")).toBe("1.0");
  return [response.status, response.headers.get("x-error-code"), body.message];
}

/**
 * Writes bytes to the port and returns the socket with all that it answers.
 *
 * @param from the address to call from, one of loopback
 */
export function raw(port: number, text: string | Buffer, from = "127.0.0.1") {
  const socket = connect({ port, host: "127.0.0.1", localAddress: from });
  const state = { socket, text: "", closed: false };
  socket.on("data", (data) => {
    state.text += data.toString("latin1");
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    state.closed = true;
  });
  socket.write(text);
  return state;
}
