import { useRef, useState } from "preact/hooks";
import { messageOf } from "../api/client.ts";

interface Deed {
  readonly isBusy: boolean;
  /** Why the last one failed; "" while none did. */
  readonly error: string;
  /** Does it, unless the one before is still under way. Never rejects. */
  readonly run: (work: () => Promise<void>) => Promise<void>;
}

/** Something that a person does with a button: one at a time, with what went wrong. */
export function useDeed(): Deed {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const underWay = useRef(false);
  const run = async (work: () => Promise<void>) => {
    // A second press comes before the button is drawn anew.
    if (underWay.current) return;
    underWay.current = true;
    setBusy(true);
    setError("");
    try {
      await work();
    } catch (error) {
      setError(messageOf(error));
    } finally {
      underWay.current = false;
      setBusy(false);
    }
  };
  return { isBusy, error, run };
}
