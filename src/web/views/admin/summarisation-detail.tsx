import { ExternalLink } from "lucide-preact";
import type { VNode } from "preact";
import { Link } from "wouter-preact";
import { call } from "../../api/client.ts";
import type { SummarisationJob } from "../../api/records.ts";
import { momentOf } from "../../parts/times.ts";
import { Facts } from "./facts.tsx";
import { HiddenContent } from "./hidden-content.tsx";
import { JobFrame } from "./job-frame.tsx";
import { JobStatus } from "./job-status.tsx";

/** What stands in the place of a text that this administrator may not see. */
const HIDDEN = "[hidden:";
const REDACTED = "[redacted-";

/** One summarisation job, with its text where it may be seen. */
export function SummarisationDetail({ id }: { id: string }): VNode {
  const load = () =>
    call((api) => api.GET("/admin/jobs/summarisations/{id}", { params: { path: { id } } }));
  return (
    <JobFrame id={id} load={load}>
      {(job, reload) => <Detail job={job} reload={reload} />}
    </JobFrame>
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
