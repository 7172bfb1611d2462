import { ArrowLeft, ExternalLink } from "lucide-preact";
import type { VNode } from "preact";
import { Link } from "wouter-preact";
import { call } from "../../api/client.ts";
import { elevations } from "../../api/elevation.ts";
import type { SummarisationJob } from "../../api/records.ts";
import { useRefreshing } from "../../parts/refreshing.ts";
import { useResource } from "../../parts/resource.ts";
import { Failure, Loading } from "../../parts/states.tsx";
import { momentOf } from "../../parts/times.ts";
import { Facts } from "./facts.tsx";
import { HiddenContent } from "./hidden-content.tsx";
import { isUnderWay, JobStatus } from "./job-status.tsx";

const REFRESH_MS = 3_000;
/** What stands in the place of a text that this administrator may not see. */
const HIDDEN = "[hidden:";
const REDACTED = "[redacted-";

/** One summarisation job, with its text where it may be seen. */
export function SummarisationDetail({ id }: { id: string }): VNode {
  const { state, reload } = useResource(
    () => call((api) => api.GET("/admin/jobs/summarisations/{id}", { params: { path: { id } } })),
    [id, elevations.value],
  );
  const job = state.kind === "ready" ? state.value : undefined;
  useRefreshing(reload, job && isUnderWay(job.status) ? REFRESH_MS : undefined);
  return (
    <div class="stack">
      <Link href="/admin/jobs" class="row admin-back">
        <ArrowLeft size={16} aria-hidden="true" /> All jobs
      </Link>
      {state.kind === "loading" && <Loading what="the job" lines={6} />}
      {state.kind === "failed" && <Failure error={state.error} retry={reload} />}
      {job && <Detail job={job} reload={reload} />}
    </div>
  );
}

function Detail({ job, reload }: { job: SummarisationJob; reload: () => void }): VNode {
  return (
    <>
      <div class="row">
        <h2>
          Summary, {job.summary_type.replace("_", " ")}, of {momentOf(job.created_at)}
        </h2>
        <JobStatus status={job.status} progress={job.progress} />
        {job.session_id !== undefined && (
          <Link class="button push" href={`/sessions/${job.session_id}`}>
            <ExternalLink size={16} aria-hidden="true" /> Session
          </Link>
        )}
      </div>
      {job.error !== "" && (
        <p class="notice" data-tone="danger">
          {job.error}
        </p>
      )}
      <div class="card">
        <Facts
          facts={[
            ["Completed", job.completed_at === undefined ? "" : momentOf(job.completed_at)],
            ["Job", <code key="job">{job.id}</code>],
            ["Session", job.session_id && <code key="session">{job.session_id}</code>],
          ]}
        />
      </div>
      <SummaryText job={job} onOpen={reload} />
    </>
  );
}

function SummaryText({ job, onOpen }: { job: SummarisationJob; onOpen: () => void }): VNode {
  const { summary_text: text } = job;
  if (text === "") return <p class="soft">There is no text yet.</p>;
  if (text.startsWith(REDACTED)) {
    return (
      <p class="notice" data-tone="warn">
        <span>
          The text was erased. <code>{text}</code>
        </span>
      </p>
    );
  }
  if (!text.startsWith(HIDDEN)) return <p class="card admin-summary">{text}</p>;
  return <HiddenContent job={job} onOpen={onOpen} />;
}
