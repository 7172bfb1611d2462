import { Copy } from "lucide-preact";
import type { VNode } from "preact";
import type { Device } from "../../api/records.ts";
import { copyText } from "../../parts/copying.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { momentOf } from "../../parts/times.ts";

interface DetailsProps {
  device: Device;
  owner: string | undefined;
  onClose: () => void;
}

/** Everything that is known of a device. */
export function DetailsDialog({ device, owner, onClose }: DetailsProps): VNode {
  const { id, last_seen_at: seen, telemetry } = device;
  const rows: (readonly [string, string])[] = [
    ["Model", device.model],
    ["Firmware", device.firmware],
    ["Serial number", device.device_serial],
    ["Paired by", owner ?? device.owner_id ?? ""],
    ["Last heard of", seen === undefined ? "never" : momentOf(seen)],
    ["Since", momentOf(device.created_at)],
    ...Object.entries(telemetry).map(([name, value]) => [wordsOf(name), textOf(value)] as const),
  ];
  return (
    <Dialog title={device.name || "Device"} onClose={onClose}>
      <dl class="details">
        <div>
          <dt>Id</dt>
          <dd class="row">
            <code>{id}</code>
            <button
              type="button"
              class="button quiet icon"
              aria-label="Copy the id"
              onClick={() => void copyText(id, "The id is copied.")}
            >
              <Copy size={16} aria-hidden="true" />
            </button>
          </dd>
        </div>
        {rows
          .filter(([, value]) => value !== "")
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
    </Dialog>
  );
}

/** `battery_percent` as `battery percent`; devices tell what they like. */
function wordsOf(name: string): string {
  return name.replaceAll("_", " ");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
