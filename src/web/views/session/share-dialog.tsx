import { Copy } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call, messageOf } from "../../api/client.ts";
import type { Session } from "../../api/records.ts";
import { copyText } from "../../parts/copying.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { QrCode } from "../../parts/qr-code.tsx";
import { tell } from "../../parts/toasts.tsx";
import type { SessionModel } from "./session-model.ts";

interface ShareProps {
  model: SessionModel;
  onClose: () => void;
}

/** Who may read along: the workspace, guests, and people who are invited by address. */
export function ShareDialog({ model, onClose }: ShareProps): VNode {
  const session = model.session.value;
  const change = async (body: {
    visibility?: Session["visibility"];
    guest_access?: Session["guest_access"];
  }) => {
    try {
      const params = { path: { session_id: model.id } };
      model.session.value = await call((api) =>
        api.PATCH("/sessions/{session_id}", { params, body }),
      );
    } catch (error) {
      tell(messageOf(error));
    }
  };
  return (
    <Dialog title="Share this session" onClose={onClose}>
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
      <label class="field">
        <span>Guests, without an account</span>
        <select
          class="input"
          value={session?.guest_access}
          onChange={({ currentTarget }) =>
            void change({ guest_access: currentTarget.value as Session["guest_access"] })
          }
        >
          <option value="open">Whoever has the link</option>
          <option value="invitation">Only with a code of yours</option>
          <option value="closed">Nobody</option>
        </select>
      </label>
      {session && session.guest_access !== "closed" && (
        <GuestLink model={model} needsCode={session.guest_access === "invitation"} />
      )}
      <Invite model={model} />
    </Dialog>
  );
}

function GuestLink({ model, needsCode }: { model: SessionModel; needsCode: boolean }): VNode {
  const [code, setCode] = useState("");
  const make = async () => {
    try {
      const made = await call((api) =>
        api.POST("/sessions/{session_id}/guest-codes", {
          params: { path: { session_id: model.id } },
          body: {},
        }),
      );
      setCode(made.code);
    } catch (error) {
      tell(messageOf(error));
    }
  };
  if (needsCode && code === "") {
    return (
      <div>
        <button type="button" class="button" onClick={() => void make()}>
          Make a guest link
        </button>
      </div>
    );
  }
  const page = new URL(".", document.baseURI).href;
  const link = `${page}#/${needsCode ? `join/${code}` : `sessions/${model.id}`}`;
  return (
    <div class="stack">
      <label class="field">
        <span>{needsCode ? "Guest link; it is shown this once" : "Guest link"}</span>
        <input
          class="input"
          readOnly
          value={link}
          onFocus={({ currentTarget }) => currentTarget.select()}
        />
      </label>
      <div class="row">
        <button
          type="button"
          class="button"
          onClick={() => void copyText(link, "The link is copied.")}
        >
          <Copy size={16} aria-hidden="true" /> Copy link
        </button>
      </div>
      <QrCode text={link} label="The guest link as a QR code" />
    </div>
  );
}

function Invite({ model }: { model: SessionModel }): VNode {
  const invite = async (form: HTMLFormElement) => {
    const email = String(new FormData(form).get("email"));
    try {
      await call((api) =>
        api.POST("/sessions/{session_id}/members", {
          params: { path: { session_id: model.id } },
          body: { email },
        }),
      );
      form.reset();
      tell("The invitation is on its way.");
    } catch (error) {
      tell(messageOf(error));
    }
  };
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        void invite(event.currentTarget);
      }}
    >
      <label class="field" style={{ flex: "1 1 12rem" }}>
        <span>Invite somebody by address</span>
        <input class="input" type="email" name="email" required />
      </label>
      <button type="submit" class="button" style={{ alignSelf: "end" }}>
        Invite
      </button>
    </form>
  );
}
