import { CircleCheck } from "lucide-preact";
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Device } from "../../api/records.ts";
import { useRefreshing } from "../../parts/refreshing.ts";
import { useResource } from "../../parts/resource.ts";

const POLL_MS = 2_000;
const PATIENCE_MS = 60_000;

/** Waits until a device that was just paired is heard of: then it has its key and reaches us. */
export function FirstSign({ device }: { device: Device }): VNode {
  const params = { path: { device_id: device.id } };
  const { state, reload } = useResource(
    () => call((api) => api.GET("/devices/{device_id}", { params })),
    [device.id],
  );
  const [isLate, setLate] = useState(false);
  const isThere = state.kind === "ready" && state.value.last_seen_at !== undefined;
  useRefreshing(reload, isThere ? undefined : POLL_MS);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  const name = device.name || device.model || "The device";
  if (isThere) {
    return (
      <p class="first-sign" role="status">
        <CircleCheck size={20} aria-hidden="true" />
        {`“${name}” has its key and is online. It can record now.`}
      </p>
    );
  }
  return (
    <div class="stack">
      <p class="first-sign" role="status">
        <span class="pulse" aria-hidden="true" />
        {`“${name}” is paired. It fetches its key now; as soon as it is heard of, it says so here.`}
      </p>
      {isLate && (
        <p class="notice" data-tone="warn">
          Nothing came yet. Is it on, and does it reach this address? You need not wait: it is in
          the list, and comes online by itself.
        </p>
      )}
    </div>
  );
}
