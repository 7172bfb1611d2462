import { afterAll, beforeAll, expect } from "vitest";
import { toAppError } from "../../../src/base/errors.ts";
import { newId } from "../../../src/base/ids.ts";
import type { NewChunk } from "../../../src/conversations/recording/chunk-store.ts";
import { openSql, openTwin, type Stand } from "./contract-stand.ts";

/** When everything happens whose time is told from outside. */
export const AT = 1_700_000_000_000;

/** A script does the same on both records; what it gives back must be the same. */
export type OnBoth = <T>(script: (stand: Stand) => Promise<T>) => Promise<T>;

/** The twin and PostgreSQL, for all tests of a file. */
export function bothRecords(): OnBoth {
  let stands: [twin: Stand, sql: Stand] | undefined;
  beforeAll(async () => {
    stands = [openTwin(), await openSql()];
  });
  afterAll(async () => {
    await Promise.all((stands ?? []).map((stand) => stand.close()));
  });
  return async (script) => {
    if (stands === undefined) throw new Error("The records are not open.");
    const [twin, sql] = stands;
    const [ours, theirs] = [await script(twin), await script(sql)];
    expect(ours, "the twin, as PostgreSQL does it").toEqual(theirs);
    return theirs;
  };
}

/** The code of what it rejects with; `none` when it does not. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "none";
  } catch (error) {
    return toAppError(error).code;
  }
}

export interface World {
  session: string;
  job: string;
  user: string;
  device: string;
  workspace: string;
  webhook: string;
}

export function names(): World {
  const [session = "", job = "", user = "", device = "", workspace = "", webhook = ""] = Array.from(
    { length: 6 },
    () => newId(),
  );
  return { session, job, user, device, workspace, webhook };
}

/** A session that records, its device, its owner, and a webhook that wants everything. */
export async function start(stand: Stand, world: World): Promise<void> {
  const { user, device, workspace, webhook } = world;
  await stand.add({
    users: [{ id: user, name: "Ann", email: `${user}@example.org` }],
    devices: [
      {
        id: device,
        workspace_id: workspace,
        owner_id: user,
        last_seen_at: null,
        telemetry: "{}",
        firmware: "",
      },
    ],
    webhooks: [{ id: webhook, workspace_id: workspace, event_types: "[]", enabled: true }],
  });
  await stand.a.sessions.start({
    id: world.session,
    jobId: world.job,
    workspaceId: workspace,
    ownerId: user,
    deviceId: device,
    title: "T",
    language: "en",
    vocabulary: ["Rüti"],
    workshopId: undefined,
  });
}

/** Two seconds. */
export function chunk({ session }: World, sequence: number, id = newId()): NewChunk {
  return {
    id,
    sessionId: session,
    sequence,
    mediaType: "audio/wav",
    filename: "a.wav",
    bytes: 64_044,
    sha256: String(sequence).padStart(64, "0"),
    frames: 32_000,
    sampleRate: 16_000,
    durationSeconds: 2,
    recordedAt: AT,
  };
}
