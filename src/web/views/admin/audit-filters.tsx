import type { VNode } from "preact";
import type { operations } from "../../../client/gen/api-schema.ts";

type Kind = NonNullable<NonNullable<operations["listAudit"]["parameters"]["query"]>["kind"]>;

/** "" for no narrowing; times as a `datetime-local` field gives them, ids as they were pasted. */
export interface AuditFilters {
  readonly kind: "" | Kind;
  readonly actor: string;
  readonly session: string;
  readonly from: string;
  readonly to: string;
}

export const NO_FILTERS: AuditFilters = { kind: "", actor: "", session: "", from: "", to: "" };

/** Those that somebody looks for; every other one is found by who and when. */
const KINDS: readonly { readonly label: string; readonly kinds: readonly Kind[] }[] = [
  {
    label: "Content of others",
    kinds: ["content_elevated", "content_elevation_ended", "content_read"],
  },
  {
    label: "Deletion",
    kinds: [
      "session_deleted_by_owner",
      "session_deleted_by_admin",
      "account_erasure_session_redacted",
      "retention_session_redacted",
      "span_redacted",
      "speaker_redacted",
      "account_erased",
      "workspace_deleted",
    ],
  },
  {
    label: "People",
    kinds: [
      "user_created",
      "user_disabled",
      "user_enabled",
      "user_role_changed",
      "password_changed",
      "login_failed",
      "login_linked",
      "workspace_member_added",
      "workspace_member_removed",
      "workspace_role_changed",
      "workspace_member_invited",
      "session_member_added",
      "session_member_removed",
      "session_member_invited",
      "invitation_accepted",
      "invitation_declined",
      "invitation_withdrawn",
      "guest_entered",
      "guest_code_issued",
      "guest_code_revoked",
    ],
  },
  {
    label: "Keys and devices",
    kinds: [
      "device_key_issued",
      "device_unpaired",
      "service_key_issued",
      "service_key_rotated",
      "service_key_adopted",
      "service_key_revoked",
      "signing_key_rotated",
      "webhook_created",
      "webhook_changed",
      "webhook_adopted",
      "webhook_deleted",
    ],
  },
  {
    label: "Words and voices",
    kinds: [
      "speaker_claim_overridden",
      "voice_remembered",
      "voice_forgotten",
      "voice_suggestion_accepted",
      "transcription_redone",
      "transcription_reviewed",
    ],
  },
  {
    label: "Settings and operation",
    kinds: [
      "retention_changed",
      "guest_access_changed",
      "remote_engines_changed",
      "remote_text_changed",
      "command_retried",
      "command_dropped",
    ],
  },
];

interface BarProps {
  filters: AuditFilters;
  onChange: (filters: AuditFilters) => void;
}

/** Narrows the audit log by kind, person, session and time. */
export function AuditFilterBar({ filters, onChange }: BarProps): VNode {
  const all = KINDS.flatMap(({ kinds }) => kinds);
  return (
    <div class="row admin-filters">
      <select
        class="input filter"
        aria-label="Kind of entry"
        value={filters.kind}
        onChange={({ currentTarget }) =>
          onChange({ ...filters, kind: all.find((each) => each === currentTarget.value) ?? "" })
        }
      >
        <option value="">Everything</option>
        {KINDS.map(({ label, kinds }) => (
          <optgroup key={label} label={label}>
            {kinds.map((kind) => (
              <option key={kind} value={kind}>
                {kind.replaceAll("_", " ")}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
      <TextFilter
        label="Who, by id"
        value={filters.actor}
        onChange={(actor) => onChange({ ...filters, actor })}
      />
      <TextFilter
        label="Link or id of a session"
        value={filters.session}
        onChange={(session) => onChange({ ...filters, session })}
      />
      <TimeFilter
        label="From"
        value={filters.from}
        onChange={(from) => onChange({ ...filters, from })}
      />
      <TimeFilter label="To" value={filters.to} onChange={(to) => onChange({ ...filters, to })} />
    </div>
  );
}

interface FieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
}

function TextFilter({ label, value, onChange }: FieldProps): VNode {
  return (
    <input
      class="input filter"
      type="search"
      aria-label={label}
      placeholder={label}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value.trim())}
    />
  );
}

function TimeFilter({ label, value, onChange }: FieldProps): VNode {
  return (
    <label class="row small soft">
      {label}
      <input
        class="input filter"
        type="datetime-local"
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    </label>
  );
}
