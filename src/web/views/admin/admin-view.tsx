import { LockOpen } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { ViewFrame } from "../../parts/view.tsx";
import { AuditTab } from "./audit-tab.tsx";
import { JobsTab } from "./jobs-tab.tsx";
import { OpenContent } from "./open-content.tsx";
import { OverviewTab } from "./overview-tab.tsx";
import { SummarisationDetail } from "./summarisation-detail.tsx";
import { TranscriptionDetail } from "./transcription-detail.tsx";
import { UsersTab } from "./users-tab.tsx";
import "./admin.css";

interface Params {
  tab?: string;
  /** Of a job: `transcription` or `summary`. */
  kind?: string;
  id?: string;
}

const TABS = [
  { id: "overview", href: "/admin", label: "Overview" },
  { id: "jobs", href: "/admin/jobs", label: "Jobs" },
  { id: "users", href: "/admin/users", label: "Users" },
  { id: "audit", href: "/admin/audit", label: "Audit log" },
] as const;

/** What runs, who may, and what was done; the words of others stay hidden without a reason. */
export function View({ params }: { params: Params }): VNode {
  const { tab = "overview", kind, id } = params;
  const [isOpening, setOpening] = useState(false);
  return (
    <ViewFrame
      title="Administration"
      head={
        <button type="button" class="button push" onClick={() => setOpening(true)}>
          <LockOpen size={16} aria-hidden="true" /> Open content
        </button>
      }
    >
      <nav class="tabs admin-tabs" aria-label="Parts of the administration">
        {TABS.map((each) => (
          <Link
            key={each.id}
            href={each.href}
            aria-current={each.id === tab ? (id === undefined ? "page" : "true") : undefined}
          >
            {each.label}
          </Link>
        ))}
      </nav>
      <Chosen tab={tab} kind={kind} id={id} />
      {isOpening && <OpenContent onClose={() => setOpening(false)} />}
    </ViewFrame>
  );
}

interface ChosenProps {
  tab: string;
  kind: string | undefined;
  id: string | undefined;
}

function Chosen({ tab, kind, id }: ChosenProps): VNode {
  if (tab === "users") return <UsersTab />;
  if (tab === "audit") return <AuditTab />;
  if (tab !== "jobs") return <OverviewTab />;
  if (id === undefined) return <JobsTab />;
  if (kind === "summary") return <SummarisationDetail key={id} id={id} />;
  return <TranscriptionDetail key={id} id={id} />;
}
