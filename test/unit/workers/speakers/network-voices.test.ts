import { MessageChannel } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { InferenceClient } from "../../../../workers/inference/inference-client.ts";
import type {
  InferenceCall,
  InferenceEvent,
} from "../../../../workers/inference/inference-protocol.ts";
import { NetworkVoices } from "../../../../workers/speakers/network-voices.ts";

/** A pool that answers when it is told to. */
function heldPool() {
  const { port1, port2 } = new MessageChannel();
  const calls: InferenceCall[] = [];
  port1.on("message", (call: InferenceCall) => calls.push(call));
  const client = new InferenceClient(port2);
  const send = (event: InferenceEvent) => port1.postMessage(event);
  return { voices: new NetworkVoices(client), client, calls, send };
}

const SOUND = new Int16Array(16_000);

describe("voices by the inference threads", () => {
  it("network voices: a session has two requests under way, in order, whatever it asks for", async () => {
    const { voices, client, calls, send } = heldPool();
    const asked = Array.from({ length: 5 }, () => voices.embed(SOUND.slice()));
    for (let n = 0; n < asked.length; n++) {
      await expect.poll(() => calls.length).toBe(Math.min(5, n + 2));
      const { id } = calls[n] as InferenceCall;
      send({ kind: "done", id, answer: { numbers: new Float32Array([n]), workMs: 1 } });
      await asked[n]?.settled;
      expect(asked[n]?.numbers).toEqual(new Float32Array([n]));
    }
    client.close();
  });

  it("network voices: what is dropped is not asked for, and stops; what failed says so", async () => {
    const { voices, client, calls, send } = heldPool();
    const [first, second, third] = [0, 1, 2].map(() => voices.segment(SOUND.slice()));
    third?.drop();
    await third?.settled;
    await expect.poll(() => calls.length).toBe(2);
    first?.drop();
    await expect.poll(() => calls.length).toBe(3);
    expect(calls[2]).toMatchObject({ kind: "drop", id: calls[0]?.id });
    send({ kind: "failed", id: calls[1]?.id ?? 0, reason: "no memory" });
    await second?.settled;
    expect(() => second?.numbers).toThrow(/no memory/);
    client.close();
  });
});
