// Somebody's program, checked against the types of the package as it is published.
import {
  type Cursor,
  type ServerFrame,
  VoiceClient,
  VoiceError,
  verifyWebhook,
  type WebhookMessage,
} from "voice-session-client";

const voice = new VoiceClient({ baseUrl: "https://voice.example.com", apiKey: "k" });

export async function words(id: string, cursor?: Cursor): Promise<string[]> {
  const said: string[] = [];
  for await (const frame of voice.follow(id, cursor ? { cursor } : {})) said.push(...told(frame));
  return said;
}

function told(frame: ServerFrame): string[] {
  if (frame.type !== "Results" || !frame.is_final) return [];
  const seq: number = frame.seq;
  return [`${seq}`, frame.transcript, ...frame.words.map(({ word }) => word)];
}

export async function hour(file: Blob, hook: string, headers: Headers): Promise<string> {
  const { id } = await voice.createSession({ title: "T", metadata: { case: "7" } });
  const { status } = await voice.upload(id, file, { signal: AbortSignal.timeout(1_000) });
  const stream = voice.stream(id, { encoding: "opus", sample_rate: 48_000, channels: 1 });
  await stream.write(new Uint8Array(4));
  await stream.end();
  const { citations } = await voice.ask(id, "When?", { timeoutMs: 1_000 });
  const from: number[] = citations.map(({ start_ms }) => start_ms);
  const params = { path: { session_id: id } };
  const speakers = await voice.call((api) =>
    api.GET("/sessions/{session_id}/speakers", { params }),
  );
  const message: WebhookMessage = await verifyWebhook(hook, headers, ["a", "b"]);
  // @ts-expect-error: there is no such encoding
  voice.stream(id, { encoding: "mp3", sample_rate: 48_000, channels: 1 });
  // @ts-expect-error: nor such a member of a session
  await voice.createSession({ titel: "T" });
  return [status, ...from, speakers, message.type].join();
}

export function codeOf(error: unknown): string {
  return error instanceof VoiceError ? error.code : "";
}
