import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Device, Workspace } from "../../api/records.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Awaited } from "../../parts/states.tsx";
import { useOwnWorkspaces } from "../../parts/workspaces.tsx";
import { CodeForm } from "./code-form.tsx";
import { FirstSign } from "./first-sign.tsx";
import { type DeviceKey, KeyShown } from "./key-shown.tsx";
import { ProgramForm } from "./program-form.tsx";

interface PairProps {
  /** Of the link that led here, or "". */
  code: string;
  onClose: () => void;
}

type Step =
  | { readonly kind: "asking"; readonly way: "code" | "program" }
  | { readonly kind: "paired"; readonly device: Device }
  | { readonly kind: "made"; readonly deviceKey: DeviceKey };

const TITLES = { asking: "Pair a device", paired: "Paired", made: "The program's key" };

/** Pairs a device by the code that it shows, or makes a key for a program that is one. */
export function PairDialog({ code, onClose }: PairProps): VNode {
  const [step, setStep] = useState<Step>({ kind: "asking", way: "code" });
  const { state, reload } = useOwnWorkspaces();
  const form = useRef<HTMLDivElement>(null);
  const done = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    // What had the focus is gone with the form.
    if (step.kind === "asking") form.current?.querySelector("input")?.focus();
    else done.current?.focus();
  }, [step.kind, state.kind]);
  return (
    <Dialog title={TITLES[step.kind]} onClose={step.kind === "made" ? undefined : onClose}>
      <Awaited of={{ state, reload }} what="your workspaces" lines={3} />
      {state.kind === "ready" && step.kind === "asking" && (
        <div class="stack" ref={form}>
          <Asking way={step.way} code={code} workspaces={state.value} onStep={setStep} />
        </div>
      )}
      {step.kind === "paired" && <FirstSign device={step.device} />}
      {step.kind === "made" && <KeyShown deviceKey={step.deviceKey} />}
      {step.kind !== "asking" && (
        <div>
          <button ref={done} type="button" class="button" onClick={onClose}>
            Done
          </button>
        </div>
      )}
    </Dialog>
  );
}

interface AskingProps {
  way: "code" | "program";
  code: string;
  workspaces: readonly Workspace[];
  onStep: (step: Step) => void;
}

function Asking({ way, code, workspaces, onStep }: AskingProps): VNode {
  const ways = [
    { id: "code", label: "It shows a code" },
    { id: "program", label: "It is a program" },
  ] as const;
  return (
    <>
      <div class="ways">
        {ways.map(({ id, label }) => (
          <button
            key={id}
            type="button"
            class="button quiet"
            aria-pressed={way === id}
            onClick={() => onStep({ kind: "asking", way: id })}
          >
            {label}
          </button>
        ))}
      </div>
      {way === "code" ? (
        <CodeForm
          code={code}
          workspaces={workspaces}
          onPair={async (body) => {
            const device = await call((api) => api.POST("/devices/pair", { body }));
            onStep({ kind: "paired", device });
          }}
        />
      ) : (
        <ProgramForm
          workspaces={workspaces}
          onMake={async (body) => {
            const made = await call((api) => api.POST("/devices", { body }));
            onStep({ kind: "made", deviceKey: made });
          }}
        />
      )}
    </>
  );
}
