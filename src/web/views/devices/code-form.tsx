import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { ApiError } from "../../../client/errors.ts";
import { call } from "../../api/client.ts";
import type { Workspace } from "../../api/records.ts";
import { Alert } from "../../parts/alert.tsx";
import { useDeed } from "../../parts/deed.ts";
import { TextField } from "../../parts/fields.tsx";
import { QrCode } from "../../parts/qr-code.tsx";
import { useResource } from "../../parts/resource.ts";
import { WorkspaceField } from "../../parts/workspaces.tsx";
import { codeIn } from "./device-facts.ts";

interface Pairing {
  readonly code: string;
  readonly workspace_id: string;
  readonly name?: string;
}

interface CodeFormProps {
  /** Of a link, or "". */
  code: string;
  workspaces: readonly Workspace[];
  onPair: (pairing: Pairing) => Promise<void>;
}

/** Asks for the code that a device shows. */
export function CodeForm({ code: given, workspaces, onPair }: CodeFormProps): VNode {
  const [code, setCode] = useState(codeIn(given));
  const { isBusy, error, run } = useDeed();
  const submit = async (fields: FormData) => {
    const name = String(fields.get("name")).trim();
    const pairing = { code: codeIn(code), workspace_id: String(fields.get("workspace")) };
    await onPair(name === "" ? pairing : { ...pairing, name });
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        const fields = new FormData(event.currentTarget);
        void run(() => submit(fields));
      }}
    >
      {given !== "" && <CodeState code={codeIn(given)} />}
      <TextField
        label="Code on the device"
        class="input pairing-code"
        required
        maxLength={200}
        autocomplete="off"
        autocapitalize="characters"
        spellcheck={false}
        placeholder="BCDF-GHJK"
        value={code}
        onInput={({ currentTarget }) => setCode(currentTarget.value)}
        onBlur={() => setCode(codeIn(code))}
      />
      <TextField
        label="Name, if you want to give it another"
        name="name"
        maxLength={200}
        placeholder="Meeting room"
      />
      <WorkspaceField workspaces={workspaces} />
      <Alert text={error} />
      <div>
        <button type="submit" class="button primary" aria-disabled={isBusy}>
          Pair it
        </button>
      </div>
      <OnAPhone code={codeIn(code)} />
    </form>
  );
}

const STATES = {
  pending: "The device waits for you.",
  paired: "This code was used: its device is paired already.",
  expired: "This code is over. Have the device show another.",
  revoked: "The device of this code was unpaired. Have it show another.",
};

/** What is known of the code that a link brought, before anything is done with it. */
function CodeState({ code }: { code: string }): VNode | null {
  const { state } = useResource(async () => {
    const query = { code };
    try {
      return await call((api) => api.GET("/devices/pair/status", { params: { query } }));
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }, [code]);
  if (state.kind !== "ready") return null;
  const known = state.value?.status;
  return (
    <p class="notice" data-tone={known === "pending" ? undefined : "warn"} role="status">
      {known === undefined ? "No device shows this code now." : STATES[known]}
    </p>
  );
}

/** The way to go on where the device lies. */
function OnAPhone({ code }: { code: string }): VNode {
  const page = new URL(".", document.baseURI).href;
  const link = `${page}#/devices/pair${code === "" ? "" : `/${encodeURIComponent(code)}`}`;
  return (
    <details>
      <summary>Go on at a phone, next to the device</summary>
      <div class="stack">
        <QrCode text={link} label="The link to this form as a QR code" />
        <a href={link} class="small">
          {link}
        </a>
      </div>
    </details>
  );
}
