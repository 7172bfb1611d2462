import { ArrowLeft } from "lucide-preact";
import type { VNode } from "preact";
import { Link } from "wouter-preact";
import { elevations } from "../../api/elevation.ts";
import { useRefreshing } from "../../parts/refreshing.ts";
import { useResource } from "../../parts/resource.ts";
import { Awaited } from "../../parts/states.tsx";
import { isUnderWay, type JobStatus } from "./job-status.tsx";

const REFRESH_MS = 3_000;

interface FrameProps<J> {
  id: string;
  load: () => Promise<J>;
  children: (job: J, reload: () => void) => VNode;
}

/** A job on a page of its own, asked for again while it changes by itself. */
export function JobFrame<J extends Pick<Parameters<typeof JobStatus>[0], "status">>({
  id,
  load,
  children,
}: FrameProps<J>): VNode {
  // What an elevation opened is asked for anew, and so hidden, when it ends.
  const { state, reload } = useResource(load, [id, elevations.value]);
  const job = state.kind === "ready" ? state.value : undefined;
  useRefreshing(reload, job && isUnderWay(job.status) ? REFRESH_MS : undefined);
  return (
    <div class="stack">
      <Link href="/admin/jobs" class="row admin-back">
        <ArrowLeft size={16} aria-hidden="true" /> All jobs
      </Link>
      <Awaited of={{ state, reload }} what="the job" lines={6} />
      {job && children(job, reload)}
    </div>
  );
}
