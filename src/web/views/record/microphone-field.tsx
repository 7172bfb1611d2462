import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import { Alert } from "../../parts/alert.tsx";
import { useDeed } from "../../parts/deed.ts";
import { Choice } from "../../parts/fields.tsx";
import { letUseMicrophone } from "./microphone.ts";
import {
  chosenMicrophone,
  findMicrophones,
  microphones,
  watchMicrophones,
} from "./microphone-choice.ts";

/** Which microphone records; browsers name them once one was let in. */
export function MicrophoneField({ onChoose }: { onChoose: (id: string) => void }): VNode | null {
  const { isBusy, error, run } = useDeed();
  useEffect(() => {
    const stop = new AbortController();
    watchMicrophones(stop.signal);
    return () => stop.abort();
  }, []);
  const offered = microphones.value;
  if (offered === undefined) return null;
  const chosen = chosenMicrophone.value;
  const isThere = chosen === "" || offered.some(({ id }) => id === chosen);
  if (offered.length === 0) {
    return (
      <div class="stack">
        <div>
          <button
            type="button"
            class="button"
            aria-disabled={isBusy}
            onClick={() =>
              void run(async () => {
                await letUseMicrophone();
                await findMicrophones();
              })
            }
          >
            Choose the microphone
          </button>
        </div>
        <Alert text={error} />
      </div>
    );
  }
  return (
    <Choice
      label="Microphone"
      value={isThere ? chosen : ""}
      of={[{ id: "", name: "What the browser takes by itself" }, ...offered]}
      onChoose={onChoose}
    />
  );
}
