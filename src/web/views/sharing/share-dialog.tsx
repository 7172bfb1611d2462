import type { VNode } from "preact";
import { call } from "../../api/client.ts";
import type { Session } from "../../api/records.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Choice } from "../../parts/fields.tsx";
import { attempt } from "../../parts/toasts.tsx";
import { rightsTo } from "./people-rights.ts";
import { ShareGuests } from "./share-guests.tsx";
import { SharePeople } from "./share-people.tsx";
import type { SharedSession } from "./shared-session.ts";
import "./sharing.css";

interface ShareProps {
  model: SharedSession;
  onClose: () => void;
}

/**
 * Who may read along, what is done most first: people by address, whoever has the link, the
 * workspace; then who is in. Others than the owner see who is.
 */
export function ShareDialog({ model, onClose }: ShareProps): VNode {
  const { isOwner } = model;
  return (
    <Dialog title={isOwner ? "Share this session" : "Who is in this session"} onClose={onClose}>
      <SharePeople model={model} rights={rightsTo(model)}>
        {isOwner && <Access model={model} />}
      </SharePeople>
    </Dialog>
  );
}

/** Guests and workspace: its owner says. */
function Access({ model }: { model: SharedSession }): VNode {
  const session = model.session.value;
  const change = (body: {
    visibility?: Session["visibility"];
    guest_access?: Session["guest_access"];
  }) =>
    attempt(async () => {
      const params = { path: { session_id: model.id } };
      model.session.value = await call((api) =>
        api.PATCH("/sessions/{session_id}", { params, body }),
      );
    });
  return (
    <>
      <Choice
        label="Guests, without an account"
        value={session?.guest_access}
        of={[
          { id: "open", name: "Whoever has the link" },
          { id: "invitation", name: "Only with a code of yours" },
          { id: "closed", name: "Nobody" },
        ]}
        onChoose={(access) => void change({ guest_access: access })}
      />
      {session && session.guest_access !== "closed" && (
        <ShareGuests model={model} needsCode={session.guest_access === "invitation"} />
      )}
      <label class="check">
        <input
          type="checkbox"
          checked={session?.visibility === "workspace"}
          onChange={({ currentTarget }) =>
            void change({ visibility: currentTarget.checked ? "workspace" : "private" })
          }
        />
        All members of the workspace may read it
      </label>
    </>
  );
}
