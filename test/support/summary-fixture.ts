import { setTimeout as sleep } from "node:timers/promises";
import type { DevicePrincipal, UserPrincipal } from "../../src/access/principal.ts";
import { AppError } from "../../src/base/errors.ts";
import { silentLog } from "../../src/base/log.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import { JobQueueStore } from "../../src/conversations/jobs/queue-store.ts";
import { createJobRunner, type JobRunnerOptions } from "../../src/conversations/jobs/runner.ts";
import {
  Summarisation,
  type SummariseOptions,
  type Summariser,
} from "../../src/conversations/summaries/job.ts";
import { SummaryJobStore } from "../../src/conversations/summaries/job-store.ts";
import {
  SummariseRequest,
  SummariseResponse,
  type Summary,
} from "../../src/wire/gen/voice/v1/text.ts";
import { summariseTask } from "../../workers/text/summary/summarise-task.ts";
import type { SessionFixture } from "./session-fixture.ts";
import { SessionStory } from "./session-story.ts";

/** The engine in this process, one step at a time, with a place to stop it at. */
export class LocalSummariser implements Summariser {
  readonly requests: SummariseRequest[] = [];
  /** Awaited before every summary; a test may hold it or let it throw. */
  before: (signal: AbortSignal) => Promise<void> = async () => {};

  async summarise(request: SummariseRequest, options: SummariseOptions): Promise<Summary> {
    this.requests.push(request);
    options.onProgress(0.5);
    await this.before(options.signal);
    for (const bytes of summariseTask(SummariseRequest.encode(request).finish())) {
      const message = bytes === undefined ? undefined : SummariseResponse.decode(bytes).message;
      if (message?.$case === "summary") return message.value;
    }
    throw new AppError("internal", "No summary came.");
  }
}

/** Hangs until its signal aborts, as a worker that never answers. */
export async function hang(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await sleep(5);
  throw new AppError("unavailable", "The call was given up.");
}

/** So long that no claim of a living runner runs out, however busy the machine is. */
export const LEASE_MS = 60_000;

/** A runner that looks often, and renews its claims often. */
export function fastRunner(
  fixture: SessionFixture,
  summariser: Summariser,
  {
    dailyTokens = 1_000_000,
    ...options
  }: Partial<JobRunnerOptions> & { dailyTokens?: number } = {},
): ReturnType<typeof createJobRunner> {
  const notifier = {
    notify: (rows: Parameters<SessionFixture["notify"]>[0]) => fixture.notify(rows),
  };
  return createJobRunner({
    queue: new JobQueueStore(fixture.pool),
    handlers: [
      new Summarisation(new SummaryJobStore(fixture.pool, dailyTokens), summariser, notifier),
    ],
    log: silentLog,
    runtime: systemRuntime,
    leaseMs: LEASE_MS,
    beatMs: 50,
    pollMs: 20,
    ...options,
  });
}

export interface SpokenSession {
  sessionId: string;
  story: SessionStory;
  owner: UserPrincipal;
  device: DevicePrincipal;
}

/** A session in which two voices have said something; S1 is claimed by its owner. */
export async function spokenSession(fixture: SessionFixture): Promise<SpokenSession> {
  const { device, owner } = await fixture.ownDevice();
  const sessionId = await fixture.start(device, { title: "Planning", language: "en" });
  const story = await SessionStory.open(fixture, sessionId);
  await story.tell([{ type: "SessionStarted", sessionId, jobId: sessionId, language: "en" }]);
  await story.say("S1", 0, "today we will talk about the launch of the new system");
  await story.say("S2", 80_000, "i will write to our customers before the end of this month");
  await story.say("S1", 160_000, "we decided to start on monday");
  await story.tell([
    {
      type: "SpeakerClaimed",
      label: "S1",
      source: "self_claim",
      claimedUserId: owner.id,
      byUserId: owner.id,
    },
  ]);
  return { sessionId, story, owner, device };
}
