// A stranger's hour with the package, in a folder that has nothing else. What it reaches it tells in
// lines of JSON, for the test that cuts its line meanwhile.
import { openAsBlob, readFileSync } from "node:fs";
import { ApiError, SignatureError, VoiceClient, verifyWebhook } from "voice-session-client";

const { BASE: baseUrl, KEY: apiKey, WAV = "", PCM = "", HOOK = "" } = process.env;
const PIECE = 16_000;
const PACE_MS = 40;
const tell = (what, more = {}) => console.log(JSON.stringify({ what, ...more }));
const backOff = { attempts: 20, firstMs: 20, longestMs: 200 };
const voice = new VoiceClient({ baseUrl, apiKey, backOff });

const file = await voice.createSession({ title: "File" });
await voice.upload(file.id, await openAsBlob(WAV), { filename: "talk.wav" });
const { status } = await voice.ended(file.id, { everyMs: 100 });
const { complete } = await voice.completeness(file.id);
const { citations } = await voice.ask(file.id, "When did the team finish?");
tell("file", { status, complete, citations: citations.length });

const { id } = await voice.createSession({ title: "Stream" });
tell("session", { id });
const seqs = [];
const following = (async () => {
  for await (const frame of voice.follow(id, { cursor: { seq: 0 }, backOff })) {
    if ("at" in frame) seqs.push(frame.seq);
    if (frame.type === "SessionEnded") return;
  }
})();
const pcm = readFileSync(PCM);
let reconnects = 0;
const stream = voice.stream(
  id,
  { encoding: "pcm_s16le", sample_rate: 16_000, channels: 1 },
  { backOff, onReconnect: () => reconnects++, onStored: (bytes) => tell("stored", { bytes }) },
);
for (let at = 0; at < pcm.length; at += PIECE) {
  await stream.write(pcm.subarray(at, at + PIECE));
  await new Promise((wake) => setTimeout(wake, PACE_MS));
}
await stream.end();
await voice.stopSession(id);
await following;
tell("stream", { bytes: stream.stored, reconnects, seqs });

const { body, headers, secret } = JSON.parse(readFileSync(HOOK, "utf8"));
const { type } = await verifyWebhook(body, headers, secret);
const touched = await verifyWebhook(`${body} `, headers, secret).catch((error) => error);
const missing = await voice.getSession(crypto.randomUUID()).catch((error) => error);
tell("end", {
  hook: type,
  refused: touched instanceof SignatureError,
  missing: missing instanceof ApiError && missing.code,
});
