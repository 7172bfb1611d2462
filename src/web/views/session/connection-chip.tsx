import type { VNode } from "preact";
import { lengthOf } from "../../parts/times.ts";
import type { SessionModel } from "./model/session-model.ts";

const SHOWN_LAG_MS = 1_500;

/** How the connection does, how far the text is behind, and how the device does. */
export function ConnectionChip({ model }: { model: SessionModel }): VNode | null {
  const link = model.link.value;
  const beat = model.heartbeat.value;
  if (link.kind === "connecting") return <span class="chip">Connecting …</span>;
  if (link.kind === "waiting") {
    return (
      <span class="row" role="status">
        <span class="chip" data-tone="warn" title={link.reason}>
          Connection lost, trying again
        </span>
        <button type="button" class="button quiet small" onClick={() => model.retry()}>
          Now
        </button>
      </span>
    );
  }
  if (!model.isLive) return null;
  const { lag_ms: lag = 0, device } = beat ?? {};
  return (
    <>
      <span class="chip" data-tone={lag > 10_000 ? "warn" : undefined}>
        {lag > SHOWN_LAG_MS ? `text ${lengthOf(lag)} behind` : "connected"}
      </span>
      {device && (
        <span class="chip" data-tone={device.presence === "offline" ? "warn" : undefined}>
          {device.presence === "offline" ? "device offline" : "device online"}
          {device.battery_percent !== undefined &&
            `, battery ${Math.round(device.battery_percent)} %`}
        </span>
      )}
    </>
  );
}
