import type { VNode } from "preact";
import { API_BASE } from "../../api/client.ts";
import { TextField } from "../../parts/fields.tsx";
import { QrCode } from "../../parts/qr-code.tsx";
import { ShownOnce } from "../../parts/shown-once.tsx";
import { momentOf } from "../../parts/times.ts";

/** A device's key as the service gives it out. */
export interface DeviceKey {
  readonly device_id: string;
  readonly api_key: string;
  readonly expires_at: string;
}

/** A device's key, for a program to be written into or a camera to read. */
export function KeyShown({ deviceKey }: { deviceKey: DeviceKey }): VNode {
  const { device_id: id, api_key: key, expires_at: end } = deviceKey;
  const all = JSON.stringify({ base_url: API_BASE, device_id: id, api_key: key });
  return (
    <div class="stack">
      <TextField
        label="Device id"
        class="input mono"
        readOnly
        value={id}
        onFocus={({ currentTarget }) => currentTarget.select()}
      />
      <ShownOnce label="Key" value={key} />
      <p class="small soft">
        Sent as <code>X-API-Key</code>, good until {momentOf(end)}. Before that the program fetches
        a fresh one with it, at <code>POST /devices/pair/claim-auth</code>.
      </p>
      <details>
        <summary>As a QR code, for a device with a camera</summary>
        <div class="stack">
          <QrCode text={all} label="Address, device id and key as a QR code" />
          <p class="small soft">
            JSON with <code>base_url</code>, <code>device_id</code> and <code>api_key</code>.
          </p>
        </div>
      </details>
    </div>
  );
}
