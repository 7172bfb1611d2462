import { Encryption } from "../../access/encryption.ts";
import type { WorkerVoices } from "../../inference/worker-voices.ts";
import type { WorkspaceStore } from "../../tenancy/workspaces/store.ts";
import type { FeatureContext } from "../context.ts";
import type { RecordingStore } from "../recording/playback-store.ts";
import type { SessionStore } from "../sessions/store.ts";
import { LabelSpeech } from "./label-speech-store.ts";
import { RememberedVoiceStore } from "./remembered-voices-store.ts";
import { voiceRoutes } from "./routes.ts";
import { Suggester } from "./suggester.ts";
import { SuggestionStore } from "./suggestions-store.ts";

interface CreateVoicesOptions {
  directory: Pick<SessionStore, "facts">;
  workspaces: Pick<WorkspaceStore, "role">;
  recordings: Pick<RecordingStore, "open">;
  voices: Pick<WorkerVoices, "compare" | "close">;
  /** AES key of prints at rest, 32 bytes. */
  voiceKey: Uint8Array;
}

/** Voices that people have remembered, and whom the voices of sessions sound like. */
export function createVoices(
  { pool, log, stack, queues, tenants }: FeatureContext,
  { directory, workspaces, recordings, voices, voiceKey }: CreateVoicesOptions,
) {
  const encryption = new Encryption(voiceKey);
  const speech = new LabelSpeech(pool, recordings);
  const remembered = new RememberedVoiceStore(pool);
  const suggester = new Suggester({
    store: new SuggestionStore(pool),
    speech,
    voices,
    encryption,
    tenants,
    log,
  });
  const given = { directory, workspaces, remembered, speech, voices, encryption };
  const { routes, slots } = voiceRoutes(given);
  for (const owner of [suggester, slots]) queues.add(owner);
  stack.push("voice comparisons", () => {
    voices.close();
    return suggester.close();
  });
  return { suggester, routes };
}
