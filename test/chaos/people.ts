import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { UserSession } from "../../src/cli/client/user-session.ts";
import type { Send } from "../../src/client/api-client.ts";
import { ApiError } from "../../src/client/errors.ts";
import type { SeededRandom } from "../support/seeded-random.ts";
import { readSegments } from "./outcome.ts";
import type { Deed } from "./stories.ts";

/** What a person was told is done; the verdict asks whether it stands. */
export type Feat =
  /** `before` is what the recogniser had made of it. */
  | { deed: "edit"; before: string; text: string }
  | { deed: "claim"; label: string }
  | { deed: "merge"; from: string; into: string }
  | { deed: "redact"; redactionId: string; startMs: number; endMs: number }
  | { deed: "redo"; jobId: string }
  | { deed: "delete" }
  | { deed: "summarise"; jobId: string }
  | { deed: "raise"; concernId: string };

export interface Scene {
  readonly user: UserSession;
  readonly sessionId: string;
  /** Found nowhere else. */
  readonly canary: string;
  readonly audioMs: number;
  readonly random: SeededRandom;
}

const POLL_MS = 300;
/** A person who finds nothing to do it to gives up. */
const PATIENCE_MS = 180_000;
/** For a second voice, which may never be told apart. */
const MERGE_PATIENCE_MS = 60_000;
/** For the record to tell what became of a wish: longer than a server is away. */
const UNKNOWN_MS = 60_000;
/** Of a span in the middle of the audio. */
const REDACTED_MS = 1_500;

/**
 * Does it as soon as it can be done, while the device is still at it or afterwards. Undefined when
 * there was nothing to do it to.
 */
export async function act(deed: Deed, scene: Scene): Promise<Feat | undefined> {
  const deadline = performance.now() + (deed === "merge" ? MERGE_PATIENCE_MS : PATIENCE_MS);
  if (deed === "delete" || deed === "redact") await delay(scene.random.below(12_000));
  while (performance.now() < deadline) {
    const feat = await refusedIsNothing(() => DOERS[deed](scene));
    if (feat !== undefined) return feat;
    await delay(POLL_MS);
  }
  return undefined;
}

/** What is refused now may be possible later: there are no words yet, or another reading runs. */
async function refusedIsNothing<T>(work: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return undefined;
    throw error;
  }
}

type Client = Parameters<Send<unknown>>[0];
type Key = Readonly<Record<"Idempotency-Key", string>>;

/**
 * With one key, however often it has to be sent; where nobody could tell what became of it, that
 * key has to tell.
 */
async function wish<T>(
  user: UserSession,
  send: (client: Client, headers: Key) => ReturnType<Send<T>>,
): Promise<NonNullable<T>> {
  const headers = { "Idempotency-Key": randomUUID() };
  const deadline = performance.now() + UNKNOWN_MS;
  for (;;) {
    try {
      return await user.call((client) => send(client, headers));
    } catch (error) {
      const isUnknown = error instanceof ApiError && error.code === "outcome_unknown";
      if (!isUnknown || performance.now() > deadline) throw error;
    }
    await delay(POLL_MS);
  }
}

const DOERS: Record<Deed, (scene: Scene) => Promise<Feat | undefined>> = {
  edit,
  claim,
  merge,
  redact,
  redo,
  delete: remove,
  summarise,
  raise,
};

/** Twice in a row: what the person said last is what stands. */
async function edit({ user, sessionId, canary, random }: Scene): Promise<Feat | undefined> {
  const segments = await readSegments(user, sessionId);
  if (segments.length === 0) return undefined;
  const { id, text: before } = random.pick(segments);
  const path = { session_id: sessionId, segment_id: id };
  const text = `corrected ${canary}`;
  for (const wording of [`draft ${canary}`, text]) {
    await wish(user, (client, headers) =>
      client.PATCH("/sessions/{session_id}/segments/{segment_id}", {
        params: { path },
        body: { text: wording },
        headers,
      }),
    );
  }
  return { deed: "edit", before, text };
}

async function speakersOf({ user, sessionId }: Scene): Promise<string[]> {
  const params = { path: { session_id: sessionId } };
  const { items } = await user.call((client) =>
    client.GET("/sessions/{session_id}/speakers", { params }),
  );
  return items.map(({ speaker_label }) => speaker_label);
}

async function claim(scene: Scene): Promise<Feat | undefined> {
  const { user, sessionId } = scene;
  if (!(await speakersOf(scene)).includes("S1")) return undefined;
  const params = { path: { session_id: sessionId } };
  const body = { speaker_label: "S1", source: "self_claim" as const };
  await wish(user, (client, headers) =>
    client.POST("/sessions/{session_id}/speaker-claims", { params, body, headers }),
  );
  return { deed: "claim", label: "S1" };
}

async function merge(scene: Scene): Promise<Feat | undefined> {
  const { user, sessionId } = scene;
  const labels = await speakersOf(scene);
  if (!labels.includes("S1") || !labels.includes("S2")) return undefined;
  const params = { path: { session_id: sessionId } };
  const body = { from: "S2", into: "S1" };
  await wish(user, (client, headers) =>
    client.POST("/sessions/{session_id}/speakers/merge", { params, body, headers }),
  );
  return { deed: "merge", ...body };
}

async function redact({ user, sessionId, audioMs, random }: Scene): Promise<Feat | undefined> {
  const startMs = Math.round(audioMs * (0.25 + 0.3 * random.next()));
  const endMs = startMs + REDACTED_MS;
  const { redaction_id } = await wish(user, (client, headers) =>
    client.POST("/sessions/{session_id}/redactions", {
      params: { path: { session_id: sessionId } },
      body: { start_ms: startMs, end_ms: endMs },
      headers,
    }),
  );
  return { deed: "redact", redactionId: redaction_id, startMs, endMs };
}

async function redo({ user, sessionId }: Scene): Promise<Feat | undefined> {
  const params = { path: { session_id: sessionId } };
  const { status, transcription_job_id } = await user.call((client) =>
    client.GET("/sessions/{session_id}", { params }),
  );
  if (status !== "completed" || transcription_job_id === undefined) return undefined;
  await wish(user, (client, headers) =>
    client.POST("/admin/jobs/transcriptions/{job_id}/redo", {
      params: { path: { job_id: transcription_job_id } },
      headers,
    }),
  );
  return { deed: "redo", jobId: transcription_job_id };
}

async function remove({ user, sessionId }: Scene): Promise<Feat> {
  const params = { path: { session_id: sessionId } };
  await wish(user, (client, headers) =>
    client.DELETE("/sessions/{session_id}", { params, headers }),
  );
  return { deed: "delete" };
}

async function summarise({ user, sessionId }: Scene): Promise<Feat | undefined> {
  const params = { path: { session_id: sessionId } };
  const session = await user.call((client) => client.GET("/sessions/{session_id}", { params }));
  if (session.status !== "completed") return undefined;
  const { id } = await wish(user, (client, headers) =>
    client.POST("/sessions/{session_id}/summaries", {
      params,
      body: { summary_type: "brief" },
      headers,
    }),
  );
  return { deed: "summarise", jobId: id };
}

async function raise({ user, sessionId, canary }: Scene): Promise<Feat> {
  const { id } = await wish(user, (client, headers) =>
    client.POST("/sessions/{session_id}/concerns", {
      params: { path: { session_id: sessionId } },
      body: { category: "other", description: canary },
      headers,
    }),
  );
  return { deed: "raise", concernId: id };
}
