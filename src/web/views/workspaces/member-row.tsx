import { Crown, UserRound } from "lucide-preact";
import type { VNode } from "preact";
import { account } from "../../api/account.ts";
import { call } from "../../api/client.ts";
import { useDeed } from "../../parts/deed.ts";
import { Choice, named } from "../../parts/fields.tsx";
import { RecordRow } from "../../parts/record-row.tsx";
import { momentOf } from "../../parts/times.ts";
import { attempt, showToast } from "../../parts/toasts.tsx";
import type { Member } from "./member.ts";

interface RowProps {
  workspaceId: string;
  member: Member;
  mayChange: boolean;
  mayRemove: boolean;
  onChanged: () => void;
  onRemove: () => void;
}

/** One member of a workspace, with their role there. */
export function MemberRow(props: RowProps): VNode {
  const { workspaceId, member, mayChange, mayRemove, onChanged, onRemove } = props;
  const { id, name, email, role, created_at: since } = member;
  const { isBusy, run } = useDeed();
  const who = name || email;
  const isOneself = account.value?.id === id;
  const Icon = role === "owner" ? Crown : UserRound;
  const change = async (next: Member["role"]) => {
    await attempt(async () => {
      const params = { path: { id: workspaceId, user_id: id } };
      const answer = await call((api) =>
        api.PATCH("/workspaces/{id}/members/{user_id}", { params, body: { role: next } }),
      );
      showToast(answer.message);
    });
    onChanged();
  };
  return (
    <RecordRow
      icon={<Icon size={18} aria-hidden="true" />}
      title={who}
      chips={
        <>
          {!mayChange && <span class="chip">{role}</span>}
          {isOneself && <span class="chip">you</span>}
        </>
      }
      facts={[who === email ? "" : email, `since ${momentOf(since)}`]}
      actions={
        <>
          {mayChange && (
            <Choice
              class="input member-role"
              aria-label={`Role of ${who}`}
              value={role}
              disabled={isBusy}
              of={named(["member", "owner"] as const)}
              onChoose={(chosen) => void run(() => change(chosen))}
            />
          )}
          {mayRemove && (
            <button
              type="button"
              class="button"
              aria-label={isOneself ? "Leave the workspace" : `Remove ${who}`}
              onClick={onRemove}
            >
              {isOneself ? "Leave" : "Remove"}
            </button>
          )}
        </>
      }
    />
  );
}
