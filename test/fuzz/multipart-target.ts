import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { ApiClient } from "../support/api-client.ts";
import { until } from "../support/until.ts";
import { HANG_MS } from "./http-target.ts";
import { bodyOf, type UploadPlan, uploadPlans } from "./multipart-plan.ts";
import type { Target } from "./target.ts";
import { type FuzzWorld, fillIn } from "./world.ts";

/** How long the service is watched after a body that is cut off. */
const CUT_MS = 100;

/** uWebSockets.js answers a longer head itself. */
const LONG_HEAD = 3_500;

/** Uploads whose framing is off: every one is answered as declared, and none hangs. */
export async function multipartTarget(api: string): Promise<Target<UploadPlan>> {
  const client = await ApiClient.connect(api);
  return {
    name: "multipart",
    lanes: 3,
    plans: uploadPlans,
    play: (plan, world) => upload(client, api, plan, world),
  };
}

async function upload(
  client: ApiClient,
  api: string,
  plan: UploadPlan,
  world: FuzzWorld,
): Promise<string> {
  const path = fillIn(world, "/sessions/known:session_id/upload-audio");
  const body = bodyOf(plan);
  const sending = request(`${api}${path}`, {
    method: "POST",
    headers: headersOf(plan, body, world),
  });
  const answer = new Answer(sending);
  const judge = () => answer.judge(client, path, plan);
  try {
    write(sending, plan, body);
    if ("cutAt" in plan.sent) {
      await until(() => answer.isOver, "an answer", CUT_MS).catch(() => {});
      return answer.isOver ? judge() : "cut off";
    }
    await until(() => answer.isOver, "an answer", HANG_MS).catch(() => {
      throw new Error(`no answer within ${HANG_MS / 1_000} s`);
    });
    return judge();
  } finally {
    sending.destroy();
  }
}

function headersOf(plan: UploadPlan, body: Buffer, world: FuzzWorld): Record<string, string> {
  const { contentType, sequence, caller, sent } = plan;
  const headers: Record<string, string> = { ...world.callers[caller] };
  if (contentType !== "") headers["content-type"] = contentType;
  if (sequence !== undefined) headers["x-chunk-sequence"] = sequence;
  if (!("chunk" in sent)) headers["content-length"] = String(body.length);
  return headers;
}

function write(sending: ClientRequest, { sent }: UploadPlan, body: Buffer): void {
  if ("cutAt" in sent) {
    sending.write(body.subarray(0, Math.floor(body.length * sent.cutAt)));
    return;
  }
  if ("chunk" in sent) {
    for (let at = 0; at < body.length; at += sent.chunk) {
      sending.write(body.subarray(at, at + sent.chunk));
    }
    sending.end();
    return;
  }
  sending.end(body);
}

/** What came back on a request, also before all of it was sent. */
class Answer {
  #response: IncomingMessage | undefined;
  #text = "";
  #failure: string | undefined;
  #isComplete = false;

  constructor(sending: ClientRequest) {
    sending.on("error", (error) => {
      this.#failure ??= error.message;
    });
    sending.on("response", (response) => {
      this.#response = response;
      response.setEncoding("utf8");
      response.on("data", (text: string) => {
        this.#text += text;
      });
      response.on("error", (error) => {
        this.#failure ??= error.message;
      });
      response.on("end", () => {
        this.#isComplete = true;
      });
    });
  }

  get isOver(): boolean {
    return this.#isComplete || this.#failure !== undefined;
  }

  judge(client: ApiClient, path: string, { contentType, sequence = "" }: UploadPlan): string {
    const { statusCode: status = 0, headers = {} } = this.#response ?? {};
    const isLong = contentType.length + sequence.length > LONG_HEAD;
    // Its connection is closed at once, so that a large body may meet the end before the answer.
    if (isLong && (status === 431 || !this.#isComplete)) return "431";
    if (!this.#isComplete) throw new Error(`the connection ended: ${this.#failure}`);
    const pairs = Object.entries(headers).map(([name, value]) => [name, String(value)] as const);
    const response = { status, headers: new Headers(pairs.map(([a, b]) => [a, b])) };
    client.judge("POST", path, response, this.#text);
    if (status >= 500) throw new Error(`answered ${status}: ${this.#text}`);
    return String(status);
  }
}
