import { Ban, ExternalLink, RotateCcw } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { call } from "../../api/client.ts";
import type { TranscriptionJob } from "../../api/records.ts";
import { lengthOf, momentOf } from "../../parts/times.ts";
import { attempt, showToast } from "../../parts/toasts.tsx";
import { Facts } from "./facts.tsx";
import { JobFrame } from "./job-frame.tsx";
import { isUnderWay, JobStatus } from "./job-status.tsx";
import { JobWords } from "./job-words.tsx";
import { RedoDialog } from "./redo-dialog.tsx";

/** One transcription job: its figures, its words where they may be seen, and what to do with it. */
export function TranscriptionDetail({ id }: { id: string }): VNode {
  const params = { path: { job_id: id } };
  const load = () => call((api) => api.GET("/admin/jobs/transcriptions/{job_id}", { params }));
  return (
    <JobFrame id={id} load={load}>
      {(job, reload) => <Detail job={job} reload={reload} />}
    </JobFrame>
  );
}

function Detail({ job, reload }: { job: TranscriptionJob; reload: () => void }): VNode {
  const [isRedoing, setRedoing] = useState(false);
  const cancel = async () => {
    await attempt(async () => {
      await call((api) => api.POST("/jobs/{id}/cancel", { params: { path: { id: job.id } } }));
      showToast("The job is cancelled.");
    });
    reload();
  };
  return (
    <>
      <div class="row">
        <h2>Transcription of {momentOf(job.created_at)}</h2>
        <JobStatus status={job.status} progress={job.progress} />
        <div class="row push">
          {isUnderWay(job.status) && (
            <button type="button" class="button danger" onClick={() => void cancel()}>
              <Ban size={16} aria-hidden="true" /> Cancel it
            </button>
          )}
          {!job.session_was_deleted && (
            <button type="button" class="button" onClick={() => setRedoing(true)}>
              <RotateCcw size={16} aria-hidden="true" /> Redo
            </button>
          )}
          {job.session_id !== undefined && !job.session_was_deleted && (
            <Link class="button" href={`/sessions/${job.session_id}`}>
              <ExternalLink size={16} aria-hidden="true" /> Session
            </Link>
          )}
        </div>
      </div>
      {job.error !== "" && (
        <p class="notice" data-tone="danger">
          {job.error}
        </p>
      )}
      <div class="card">
        <Facts facts={factsOf(job)} />
      </div>
      <JobWords job={job} reload={reload} />
      {isRedoing && (
        <RedoDialog jobId={job.id} onClose={() => setRedoing(false)} onQueued={reload} />
      )}
    </>
  );
}

function factsOf(job: TranscriptionJob) {
  const { duration_ms: duration, avg_confidence: confidence, completed_at: end } = job;
  return [
    ["Length", duration === undefined ? "" : lengthOf(duration)],
    ["Segments", job.segment_count.toLocaleString()],
    ["Speakers", job.speaker_count?.toLocaleString() ?? ""],
    ["Mean confidence", confidence === undefined ? "" : `${Math.round(confidence * 100)} %`],
    ["Language", job.detected_language ?? ""],
    ["Language asked for", job.forced_language ?? ""],
    ["Speakers told apart with", job.diarisation_model_version ?? ""],
    ["Completed", end === undefined ? "" : momentOf(end)],
    ["Job", <code key="job">{job.id}</code>],
    ["Session", job.session_id && <code key="session">{job.session_id}</code>],
  ] as const;
}
