import { describe, expect, inject, it } from "vitest";
import { wordErrors } from "../eval/word-error-rate.ts";
import { channelConversation } from "../support/channel-conversation.ts";
import { CompatCaller } from "../support/compat-caller.ts";
import { toTelephone } from "../support/mulaw.ts";
import { call, type Segment } from "../support/paired-device.ts";
import { PhoneLine } from "../support/phone-line.ts";
import { until } from "../support/until.ts";
import { WholeService } from "../support/whole-service.ts";

/** A made voice on a narrow line is not read without errors. */
const RIGHT = 0.6;

/** Two voices, of which the second begins before the first has ended. */
const { channels, texts } = channelConversation({ earlierMs: 1_000, turns: 2 });
const [caller = new Uint8Array(0), agent = new Uint8Array(0)] = channels.map(toTelephone);

describe("words of telephone calls", () => {
  it("are those of each track, which is one speaker", async () => {
    const service = WholeService.shared(inject("installation"));
    const program = await CompatCaller.open(service);
    const key = await program.key("sessions:read", "sessions:write");
    const { api } = service;
    const body = { title: "Call", speaker_channels: 2 };
    const { id } = (await call<{ id: string }>(api, "POST", "/sessions", { key, body })).body;
    const path = `/sessions/${id}/call-tickets`;
    const made = await call<{ ticket: string; stream_url: string }>(api, "POST", path, { key });
    const line = await PhoneLine.open(made.body.stream_url);
    line.start(made.body.ticket, "inbound", "outbound");
    line.speak({ inbound: caller, outbound: agent });
    line.stop();
    expect((await line.closed).code).toBe(1000);
    const get = async <T>(rest: string) =>
      (await call<T>(api, "GET", `/sessions/${id}${rest}`, { key })).body;
    await until(
      async () => (await get<{ status: string }>("")).status === "completed",
      ...(["the session to complete", 180_000] as const),
    );
    const { items } = await get<{ items: Segment[] }>("/segments");
    expect([...new Set(items.map(({ speaker_label }) => speaker_label))].sort()).toEqual([
      ...["S1", "S2"],
    ]);
    for (const [at, said] of texts.entries()) {
      const heard = wordsOf(items, `S${at + 1}`);
      const { correct, reference_words } = wordErrors(plain(said), heard);
      expect(correct / reference_words, heard.join(" ")).toBeGreaterThan(RIGHT);
    }
  });
});

function plain(text: string): string[] {
  const bare = text.toLowerCase().replaceAll(/[.,?!]/g, "");
  return bare.split(" ").filter((word) => word !== "");
}

function wordsOf(segments: readonly Segment[], label: string): string[] {
  const own = segments.filter(({ speaker_label }) => speaker_label === label);
  return own.flatMap(({ text }) => plain(text));
}
