import type { VNode } from "preact";
import { account } from "../../api/account.ts";
import { call } from "../../api/client.ts";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { showToast } from "../../parts/toasts.tsx";
import type { Member } from "./member.ts";

interface RemoveProps {
  workspaceId: string;
  member: Member;
  onClose: () => void;
  onRemoved: () => void;
}

/** Takes somebody, or oneself, out of a workspace. */
export function RemoveMember({ workspaceId, member, onClose, onRemoved }: RemoveProps): VNode {
  const isOneself = account.value?.id === member.id;
  const who = member.name || member.email;
  const remove = async () => {
    const answer = await call((api) =>
      api.DELETE("/workspaces/{id}/members/{user_id}", {
        params: { path: { id: workspaceId, user_id: member.id } },
      }),
    );
    showToast(answer.message);
    onRemoved();
  };
  return (
    <FormDialog
      title={isOneself ? "Leave the workspace?" : `Remove ${who}?`}
      submit={isOneself ? "Leave" : "Remove"}
      isEnd
      onClose={onClose}
      onSubmit={remove}
    >
      <p>
        {isOneself
          ? "You no longer see its sessions, other than those that are yours or shared with you. Only somebody who manages it can let you in again."
          : "They no longer see its sessions, other than those that are theirs or shared with them. What they recorded stays."}
      </p>
    </FormDialog>
  );
}
