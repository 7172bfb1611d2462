import type { ComponentChildren, VNode } from "preact";
import { Link } from "wouter-preact";
import { call } from "../../api/client.ts";
import type { Overview } from "../../api/records.ts";
import { useRefreshing } from "../../parts/refreshing.ts";
import { useResource } from "../../parts/resource.ts";
import { Failure, Loading } from "../../parts/states.tsx";
import { lengthOf, momentOf } from "../../parts/times.ts";
import { ParkedCommands } from "./parked-commands.tsx";

const REFRESH_MS = 5_000;

/** The service as it is now: its machines, what waits, and who records. */
export function OverviewTab(): VNode {
  const { state, reload } = useResource(() => call((api) => api.GET("/admin/overview")), []);
  useRefreshing(reload, REFRESH_MS);
  if (state.kind === "loading") return <Loading what="the overview" lines={7} />;
  if (state.kind === "failed") return <Failure error={state.error} retry={reload} />;
  const now = state.value;
  return (
    <div class="stack">
      {now.warnings.map((warning) => (
        <p key={warning} class="notice" data-tone="warn">
          {warning}
        </p>
      ))}
      <Figures now={now} />
      <div class="admin-columns">
        <Nodes nodes={now.nodes} />
        <Workers workers={now.workers} />
        <Queues queues={now.queues} />
        <Live live={now.sessions.live} />
      </div>
      {now.queues.parked.count > 0 && <ParkedCommands count={now.queues.parked.count} />}
      <p class="soft small">As of {momentOf(now.at)}; it is looked at again every 5 s.</p>
    </div>
  );
}

function Figures({ now }: { now: Overview }): VNode {
  const { by_status: sessions } = now.sessions;
  const figures = [
    { label: "recording", value: sessions.recording },
    { label: "being finished", value: sessions.processing },
    { label: "completed", value: sessions.completed },
    { label: "failed", value: sessions.failed },
    { label: "failed sign-ins this hour", value: now.failed_sign_ins.this_hour },
  ];
  return (
    <dl class="admin-figures">
      {figures.map(({ label, value }) => (
        <div key={label} class="card">
          <dt>{label}</dt>
          <dd>{value.toLocaleString()}</dd>
        </div>
      ))}
    </dl>
  );
}

/** One of the overview's lists, with its heading. */
function Part({ title, children }: { title: string; children: ComponentChildren }): VNode {
  return (
    <section class="card admin-part">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

const NODE_TONES = { alive: "good", leaving: "warn", silent: "danger" } as const;

function Nodes({ nodes }: { nodes: Overview["nodes"] }): VNode {
  if (nodes === undefined) {
    return (
      <Part title="Nodes">
        <p class="soft">They cannot be read now.</p>
      </Part>
    );
  }
  return (
    <Part title="Nodes">
      {nodes.length === 0 && <p class="soft">None has shown itself yet.</p>}
      <ul class="admin-items">
        {nodes.map((node) => (
          <li key={node.name}>
            <span class="row">
              <strong>{node.name}</strong>
              <span class="chip" data-tone={NODE_TONES[node.state]}>
                {node.state}
              </span>
            </span>
            <span class="soft small">
              {`${counted(node.sessions, "unfinished session")}, ${counted(node.partitions.length, "partition")}; seen ${momentOf(node.last_seen_at)}`}
            </span>
          </li>
        ))}
      </ul>
    </Part>
  );
}

const WORKER_TONES = {
  available: "good",
  full: "warn",
  draining: "warn",
  backing_off: "danger",
} as const;

function Workers({ workers }: { workers: Overview["workers"] }): VNode {
  return (
    <Part title="Workers">
      {workers.length === 0 && (
        <p class="soft">None is connected: what comes is stored and read once one is there.</p>
      )}
      <ul class="admin-items">
        {workers.map((worker) => (
          <li key={worker.worker_id}>
            <span class="row">
              <strong>{worker.address}</strong>
              <span class="chip" data-tone={WORKER_TONES[worker.state]}>
                {worker.state.replace("_", " ")}
              </span>
            </span>
            <span class="soft small">
              {`${worker.sessions} of ${worker.capacity} places taken; ${worker.engines.join(", ") || "no engine"}; version ${worker.version}`}
              {worker.silent_ms > 10_000 && `; silent for ${lengthOf(worker.silent_ms)}`}
            </span>
            <progress
              aria-label={`Places taken at ${worker.address}`}
              max={Math.max(1, worker.capacity)}
              value={worker.sessions}
            />
          </li>
        ))}
      </ul>
    </Part>
  );
}

function Queues({ queues }: { queues: Overview["queues"] }): VNode {
  const { outbox, parked } = queues;
  const age =
    outbox.oldest_age_ms === undefined ? "" : `, the oldest ${lengthOf(outbox.oldest_age_ms)}`;
  const lines = [
    ["Chunks to transcribe", queues.chunks_pending.toLocaleString()],
    ...queues.jobs.map(({ kind, queued, running }) => [
      kind === "transcription" ? "Transcriptions" : "Summaries",
      `${queued} queued, ${running} running`,
    ]),
    ["Commands under way", `${outbox.count}${age}`],
    ["Commands that failed too often", parked.count.toLocaleString()],
    ["Webhook deliveries due", queues.webhook_deliveries_due.toLocaleString()],
  ];
  return (
    <Part title="Queues">
      <dl class="admin-facts">
        {lines.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Part>
  );
}

function Live({ live }: { live: Overview["sessions"]["live"] }): VNode {
  return (
    <Part title="Recording now">
      {live.length === 0 && <p class="soft">Nobody records.</p>}
      <ul class="admin-items">
        {live.map((session) => (
          <li key={session.id}>
            <Link href={`/sessions/${session.id}`}>{`Since ${momentOf(session.started_at)}`}</Link>
            <span class="soft small">
              {session.lag_ms > 0
                ? `Recognition is ${lengthOf(session.lag_ms)} behind`
                : "Nothing waits to be read"}
              {`; ${counted(session.pending_chunks, "pending chunk")}`}
              {session.node !== undefined && `; at ${session.node}`}
            </span>
          </li>
        ))}
      </ul>
    </Part>
  );
}

function counted(count: number, what: string): string {
  return `${count.toLocaleString()} ${what}${count === 1 ? "" : "s"}`;
}
