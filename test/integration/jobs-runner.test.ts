import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { AppError } from "../../src/base/errors.ts";
import { PostgresSessionDeletion } from "../../src/conversations/erasure/session-erasure-store.ts";
import { JobQueueStore } from "../../src/conversations/jobs/queue-store.ts";
import { JobStore } from "../../src/conversations/jobs/store.ts";
import { SummaryStore } from "../../src/conversations/summaries/store.ts";
import { DELETION_PARTS } from "../../src/roles/other-tables.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import {
  fastRunner,
  hang,
  LEASE_MS,
  LocalSummariser,
  type SpokenSession,
  spokenSession,
} from "../support/summary-fixture.ts";
import { until } from "../support/until.ts";

interface JobRow {
  status: string;
  progress: number;
  error: string;
  attempt: number;
}

describe("job runner", () => {
  let fixture: SessionFixture;
  let summaries: SummaryStore;
  let session: SpokenSession;
  let summariser: LocalSummariser;
  let runners: ReturnType<typeof fastRunner>[];

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    summaries = new SummaryStore(fixture.pool);
  });
  afterAll(() => fixture.close());
  beforeEach(async () => {
    runners = [];
    summariser = new LocalSummariser();
    session = await spokenSession(fixture);
    fixture.notified.length = 0;
  });
  afterEach(async () => {
    await Promise.all(runners.map((runner) => runner.stop()));
    await fixture.sql("delete from jobs where kind = 'summarisation'");
  });

  function run(options = {}): ReturnType<typeof fastRunner> {
    const runner = fastRunner(fixture, summariser, options);
    runners.push(runner);
    runner.start();
    return runner;
  }

  const ask = async () => (await summaries.request(session.sessionId, "brief")).id;

  async function jobOf(id: string): Promise<JobRow> {
    const [row] = await fixture.sql<JobRow>(
      "select status, progress, error, attempt from jobs where id = $1",
      [id],
    );
    if (row === undefined) throw new Error("no such job");
    return row;
  }

  const reaches = (id: string, status: string) =>
    until(async () => (await jobOf(id)).status === status, `the job to be ${status}`);

  /** Takes half of a job's claim away, and resolves when its runner has made it whole again. */
  async function renewed(id: string): Promise<void> {
    const lease = [id, LEASE_MS];
    await fixture.sql(
      "update jobs set claimed_until = now() + $2 * interval '0.5 ms' where id = $1",
      lease,
    );
    await until(async () => {
      const whole = await fixture.sql(
        `select from jobs
         where id = $1 and status = 'running' and claimed_until > now() + $2 * interval '0.75 ms'`,
        lease,
      );
      return whole.length > 0;
    }, "the claim to be renewed");
  }

  async function countSummaries(): Promise<number> {
    const rows = await fixture.sql("select 1 from summaries where session_id = $1", [
      session.sessionId,
    ]);
    return rows.length;
  }

  it("makes the summary, completes the job and tells the session, once", async () => {
    const id = await ask();
    run();
    run();
    await reaches(id, "completed");
    expect(await jobOf(id)).toEqual({ status: "completed", progress: 1, error: "", attempt: 1 });
    expect(summariser.requests).toHaveLength(1);
    const [summary] = await summaries.latest(session.sessionId);
    expect(summary).toMatchObject({ jobId: id, summaryType: "brief", stale: false });
    expect(summary?.items[0]).toMatchObject({ speaker: "Olga Owner", startMs: 0 });
    await until(() => fixture.notified.length > 0, "the notice");
    const command = { type: "SummaryStored", jobId: id, summaryType: "brief" };
    expect(fixture.notified.map((row) => row.command)).toEqual([command]);
    const rows = await fixture.sql("select command from outbox where session_id = $1", [
      session.sessionId,
    ]);
    expect(rows).toContainEqual({ command });
  });

  it("takes over the job of a host that died, with the attempt counted", async () => {
    const id = await ask();
    const dead = await new JobQueueStore(fixture.pool).claim(["summarisation"], 200);
    expect(dead).toMatchObject({ id, attempt: 1 });
    run();
    await reaches(id, "completed");
    expect(await jobOf(id)).toMatchObject({ attempt: 2, progress: 1 });
    expect(await countSummaries()).toBe(1);
  });

  it("fails a job that was left behind too often, and says so", async () => {
    const id = await ask();
    await fixture.sql(
      `update jobs set status = 'running', attempt = 3, claimed_until = now() - interval '1 s'
       where id = $1`,
      [id],
    );
    run();
    await reaches(id, "failed");
    expect((await jobOf(id)).error).toMatch(/several times/);
    expect(summariser.requests).toHaveLength(0);
  });

  it("takes nothing from a host whose claim ran out", async () => {
    const queue = new JobQueueStore(fixture.pool);
    const id = await ask();
    const late = await queue.claim(["summarisation"], 1);
    if (late === undefined) throw new Error("not claimed");
    await until(async () => {
      const next = await queue.claim(["summarisation"], 60_000);
      return next?.id === id;
    }, "the second claim");
    expect(await queue.renew(late, 1, 1_000)).toBe(false);
    await queue.end(late, "failed", "late");
    await queue.release(late, { error: "late", retryMs: 0, counts: true });
    expect(await jobOf(id)).toMatchObject({ status: "running", error: "", attempt: 2 });
  });

  it("keeps the claim of a job that takes long; progress shows and never goes back", async () => {
    const id = await ask();
    let release = (): void => {};
    summariser.before = () =>
      new Promise((resolve) => {
        release = resolve;
      });
    run();
    run();
    await until(async () => (await jobOf(id)).progress > 0.4, "progress");
    await fixture.sql("update jobs set progress = 0.9 where id = $1", [id]);
    // By then the other runner has asked for work, too.
    await renewed(id);
    await renewed(id);
    expect((await jobOf(id)).progress).toBeCloseTo(0.9);
    release();
    await reaches(id, "completed");
    expect(summariser.requests).toHaveLength(1);
  });

  it("stops work on a cancelled job and stores nothing of it", async () => {
    const id = await ask();
    let aborted = false;
    summariser.before = async (signal) => {
      await hang(signal).finally(() => {
        aborted = true;
      });
    };
    run();
    await reaches(id, "running");
    expect(await new JobStore(fixture.pool).cancelBatch(id)).toBe(true);
    await until(() => aborted, "the work to stop");
    expect(await jobOf(id)).toMatchObject({ status: "cancelled", attempt: 1 });
    expect(await countSummaries()).toBe(0);
  });

  it("writes nothing for a session that was deleted meanwhile", async () => {
    const id = await ask();
    summariser.before = async () => {
      await new PostgresSessionDeletion(fixture.pool, DELETION_PARTS).erase(
        session.sessionId,
        "session_deleted_by_owner",
        { kind: "user", id: session.owner.id },
      );
    };
    const runner = run();
    await until(() => summariser.requests.length > 0, "the work to begin");
    await reaches(id, "cancelled");
    await runner.stop();
    expect(await jobOf(id)).toMatchObject({ status: "cancelled", attempt: 1 });
    expect(await countSummaries()).toBe(0);
    expect(fixture.notified).toEqual([]);
  });

  it("begins anew when words are redacted meanwhile, and never shows them", async () => {
    const id = await ask();
    summariser.before = async () => {
      summariser.before = async () => {};
      await session.story.tell([
        {
          type: "SpanRedacted",
          redactionId: id,
          from: 0,
          to: 80_000,
          segmentIds: [session.story.segmentId(0)],
          byUserId: session.owner.id,
        },
      ]);
    };
    run();
    await reaches(id, "completed");
    expect(await jobOf(id)).toMatchObject({ attempt: 2 });
    expect(await summaries.text(id)).not.toMatch(/launch|redacted/);
    expect(summariser.requests[1]?.segments).toHaveLength(2);
  });

  it("tries again what may pass, gives up after the third time with the reason", async () => {
    const id = await ask();
    summariser.before = async () => {
      throw new AppError("unavailable", "The worker was lost.");
    };
    const skipWaits = setInterval(() => {
      void fixture.sql("update jobs set due_at = now() where id = $1 and status = 'queued'", [id]);
    }, 50);
    run();
    await reaches(id, "failed").finally(() => clearInterval(skipWaits));
    expect(await jobOf(id)).toMatchObject({ error: "The worker was lost.", attempt: 3 });
    expect(summariser.requests).toHaveLength(3);
  });

  it("waits without counting while nobody can take it, and fails at once what cannot be", async () => {
    const id = await ask();
    summariser.before = async () => {
      throw new AppError("overloaded", "No worker is running.");
    };
    run();
    await until(() => summariser.requests.length > 0, "the first try");
    await reaches(id, "queued");
    expect(await jobOf(id)).toMatchObject({ attempt: 1, error: "" });
    summariser.before = async () => {
      throw new AppError("bad_request", "There is no such type.");
    };
    await fixture.sql("update jobs set due_at = now() where id = $1", [id]);
    await reaches(id, "failed");
    expect((await jobOf(id)).error).toBe("There is no such type.");
  });

  it("gives its job back at once when the host stops, uncounted", async () => {
    const id = await ask();
    summariser.before = hang;
    const runner = run();
    await reaches(id, "running");
    expect(runner.queues[0]?.length).toBe(1);
    await runner.stop();
    expect(runner.queues[0]?.length).toBe(0);
    expect(await jobOf(id)).toMatchObject({ status: "queued", attempt: 1, error: "" });
    summariser.before = async () => {};
    run();
    await reaches(id, "completed");
  });

  it("leaves transcription jobs alone", async () => {
    run();
    await new Promise((wake) => setTimeout(wake, 100));
    const rows = await fixture.sql<JobRow>(
      "select status from jobs where session_id = $1 and kind = 'transcription'",
      [session.sessionId],
    );
    expect(rows).toEqual([{ status: "queued" }]);
  });
});
