import { signal } from "@preact/signals";
import { AudioLines, ScrollText } from "lucide-preact";
import type { VNode } from "preact";
import { Link } from "wouter-preact";
import { call } from "../../api/client.ts";
import type { SummarisationJobItem, TranscriptionJobItem } from "../../api/records.ts";
import { Choice, named } from "../../parts/fields.tsx";
import { PageList } from "../../parts/page-list.tsx";
import { usePages } from "../../parts/pages.ts";
import { RecordRow } from "../../parts/record-row.tsx";
import { useRefreshing } from "../../parts/refreshing.ts";
import { Empty, NothingFits } from "../../parts/states.tsx";
import { lengthOf, momentOf } from "../../parts/times.ts";
import { idIn } from "./fields.ts";
import { JOB_STATUSES, JobStatus } from "./job-status.tsx";
import { useWorkspaces } from "./open-content.tsx";

const PAGE = 50;
const REFRESH_MS = 5_000;

interface Filters {
  readonly kind: "transcription" | "summary";
  readonly status: "" | TranscriptionJobItem["status"];
  readonly workspaceId: string;
  readonly sessionId: string;
}

/** Kept while the page is open, for the way back from a job. */
const filters = signal<Filters>({
  kind: "transcription",
  status: "",
  workspaceId: "",
  sessionId: "",
});

function NoJobs({ isNarrowed }: { isNarrowed: boolean }): VNode {
  if (isNarrowed) {
    const showAll = () => {
      filters.value = { ...filters.value, status: "", workspaceId: "", sessionId: "" };
    };
    return <NothingFits title="No job fits" onAll={showAll} />;
  }
  return (
    <Empty
      title="No job yet"
      next={
        <Link class="button" href="/">
          To the sessions
        </Link>
      }
    >
      <p>Each session that is recorded, and each summary that is asked for, makes one.</p>
    </Empty>
  );
}

/** All jobs of the service, the newest first. */
export function JobsTab(): VNode {
  const chosen = filters.value;
  const names = useWorkspaces();
  const list = usePages<TranscriptionJobItem | SummarisationJobItem>(
    (cursor) => page(chosen, cursor),
    [chosen],
  );
  useRefreshing(list.reload, list.items.length <= PAGE ? REFRESH_MS : undefined);
  const workspaces = new Map(names.map(({ id, name }) => [id, name]));
  const isNarrowed = chosen.status + chosen.workspaceId + chosen.sessionId !== "";
  return (
    <div class="stack">
      <FilterBar workspaces={names} />
      <PageList
        list={list}
        what="jobs"
        label="Jobs"
        empty={<NoJobs isNarrowed={isNarrowed} />}
        more="Show older ones"
      >
        {(job) => <JobRow job={job} workspace={workspaces.get(job.workspace_id)} />}
      </PageList>
    </div>
  );
}

function page({ kind, status, workspaceId, sessionId }: Filters, cursor: string | undefined) {
  const session = idIn(sessionId);
  const query = {
    limit: PAGE,
    status: status || undefined,
    workspace_id: workspaceId || undefined,
    session_id: session || undefined,
    cursor,
  };
  if (kind === "summary") {
    return call((api) => api.GET("/admin/jobs/summarisations", { params: { query } }));
  }
  return call((api) => api.GET("/admin/jobs/transcriptions", { params: { query } }));
}

function FilterBar({ workspaces }: { workspaces: ReturnType<typeof useWorkspaces> }): VNode {
  const chosen = filters.value;
  const change = (some: Partial<Filters>) => {
    filters.value = { ...chosen, ...some };
  };
  return (
    <div class="row admin-filters">
      <Choice
        class="input filter"
        aria-label="Kind of job"
        value={chosen.kind}
        of={[
          { id: "transcription", name: "Transcriptions" },
          { id: "summary", name: "Summaries" },
        ]}
        onChoose={(kind) => change({ kind })}
      />
      <Choice
        class="input filter"
        aria-label="State"
        value={chosen.status}
        of={[{ id: "", name: "Any state" }, ...named(JOB_STATUSES)]}
        onChoose={(status) => change({ status })}
      />
      <Choice
        class="input filter"
        aria-label="Workspace"
        value={chosen.workspaceId}
        of={[{ id: "", name: "All workspaces" }, ...workspaces]}
        onChoose={(workspaceId) => change({ workspaceId })}
      />
      <input
        class="input filter"
        type="search"
        aria-label="Session"
        placeholder="Link or id of a session"
        value={chosen.sessionId}
        onChange={({ currentTarget }) => change({ sessionId: currentTarget.value.trim() })}
      />
    </div>
  );
}

interface RowProps {
  job: TranscriptionJobItem | SummarisationJobItem;
  workspace: string | undefined;
}

function JobRow({ job, workspace }: RowProps): VNode {
  const isSummary = "summary_type" in job;
  const Icon = isSummary ? ScrollText : AudioLines;
  const what = isSummary ? `Summary, ${job.summary_type.replace("_", " ")}` : "Transcription";
  const facts = isSummary
    ? []
    : [
        job.duration_ms === undefined ? "" : lengthOf(job.duration_ms),
        `${job.segment_count} segments`,
        job.speaker_count === undefined ? "" : `${job.speaker_count} speakers`,
        job.detected_language ?? job.forced_language ?? "",
      ];
  return (
    <RecordRow
      icon={<Icon size={18} aria-hidden="true" />}
      title={
        <Link href={`/admin/jobs/${isSummary ? "summary" : "transcription"}/${job.id}`}>
          {`${what} of ${momentOf(job.created_at)}`}
        </Link>
      }
      chips={<JobStatus status={job.status} progress={job.progress} />}
      facts={[workspace ?? "", ...facts]}
    >
      {job.error !== "" && <p class="small admin-error">{job.error}</p>}
    </RecordRow>
  );
}
