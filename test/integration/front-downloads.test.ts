import { Type } from "@sinclair/typebox";
import { afterEach, describe, expect, it } from "vitest";
import { AppError, type ErrorCode } from "../../src/base/errors.ts";
import { type Log, silentLog } from "../../src/base/log.ts";
import { defineRoute } from "../../src/rest/route.ts";
import { startFront, type TestFront } from "../support/front.ts";

describe("front http: downloads", () => {
  let front: TestFront | undefined;
  afterEach(async () => {
    await front?.stop();
    front = undefined;
  });

  /** A route of which the body fails with this code before its first byte; and its log's errors. */
  async function failing(code: ErrorCode): Promise<{ status: number; errors: string[] }> {
    const errors: string[] = [];
    const log: Log = {
      ...silentLog,
      error: (_fields, message) => errors.push(message),
      child: () => log,
    };
    const sound = defineRoute({
      method: "get",
      path: "/sound",
      id: "sound",
      tag: "Session",
      summary: "Bytes",
      auth: [],
      errors: [code],
      query: Type.Object({}),
      responses: { 200: { description: "Bytes", mediaTypes: ["audio/wav"] } },
      handle: async () => ({
        status: 200,
        headers: { "content-type": "audio/wav" },
        stream: {
          length: 10,
          // biome-ignore lint/correctness/useYield: it fails before its first piece.
          async *open() {
            throw new AppError(code, "It is not there any more.");
          },
        },
      }),
    });
    front = await startFront({ routes: [sound], log });
    const { status } = await fetch(`${front.base}/sound`);
    return { status, errors };
  }

  it("what was deleted while it was read is the caller's error, not one of ours", async () => {
    expect(await failing("session_deleted")).toEqual({ status: 409, errors: [] });
  });

  it("what cannot be read is logged as an error", async () => {
    const { status, errors } = await failing("internal");
    expect(status).toBe(500);
    expect(errors).toContain("answer could not be sent");
  });
});
