import {
  BatteryFull,
  BatteryLow,
  BatteryMedium,
  Info,
  KeyRound,
  Laptop,
  Mic,
  Pencil,
  RadioReceiver,
  Unlink,
} from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import type { Device, Session, WorkspaceMember } from "../../api/records.ts";
import { ActionMenu } from "../../parts/action-menu.tsx";
import { RecordRow } from "../../parts/record-row.tsx";
import { agoOf } from "../../parts/times.ts";
import { DetailsDialog } from "./details-dialog.tsx";
import { EditDialog, KeyDialog, UnpairDialog } from "./device-dialogs.tsx";
import { batteryOf, kindOf, ownerOf, statusOf, waitingOn } from "./device-facts.ts";
import { rightsOn } from "./use-devices.ts";

const KINDS = {
  hardware: { Icon: RadioReceiver, label: "Device" },
  browser: { Icon: Mic, label: "A browser's microphone" },
  program: { Icon: Laptop, label: "A program" },
};

const BATTERIES = { low: BatteryLow, medium: BatteryMedium, full: BatteryFull };

interface DeviceRowProps {
  device: Device;
  workspace: string | undefined;
  people: readonly WorkspaceMember[];
  recording: Session | undefined;
  onChanged: (device: Device) => void;
  onGone: () => void;
}

type Opened = "details" | "edit" | "key" | "unpair" | undefined;

/** A device in the list. */
export function DeviceRow({ device, workspace, people, recording, ...on }: DeviceRowProps): VNode {
  const [opened, open] = useState<Opened>();
  const close = () => open(undefined);
  const { Icon, label } = KINDS[kindOf(device)];
  const { label: status, tone } = statusOf(device);
  const rights = rightsOn(device, people);
  const owner = ownerOf(device, rights.me, people);
  const seen = device.last_seen_at;
  return (
    <RecordRow
      icon={<Icon size={20} role="img" aria-label={label} />}
      title={nameOf(device)}
      chips={
        <>
          <span class="chip" data-tone={tone}>
            {status}
          </span>
          {recording && (
            <Link class="chip" data-tone="live" href={`/sessions/${recording.id}`}>
              <span class="pulse" aria-hidden="true" /> Records now
            </Link>
          )}
        </>
      }
      facts={[
        device.presence === "offline" && seen ? `last heard of ${agoOf(seen)}` : "",
        batteryOf(device.telemetry) && <BatteryFact key="battery" device={device} />,
        waitingOn(device.telemetry) > 0 &&
          `${waitingOn(device.telemetry)} parts of audio wait on it`,
        workspace,
        owner && `paired by ${owner}`,
        device.may_read && "may read its words",
      ].filter(Boolean)}
      actions={<Actions device={device} rights={rights} onOpen={open} />}
    >
      {device.suspended && device.status === "paired" && <Suspended />}
      {opened === "details" && <DetailsDialog device={device} owner={owner} onClose={close} />}
      {opened === "edit" && (
        <EditDialog device={device} isOwn={rights.isOwn} onChanged={on.onChanged} onClose={close} />
      )}
      {opened === "key" && <KeyDialog device={device} onClose={close} />}
      {opened === "unpair" && <UnpairDialog device={device} onGone={on.onGone} onClose={close} />}
    </RecordRow>
  );
}

function Suspended(): VNode {
  return (
    <p class="small">
      Whoever paired it no longer belongs here, so it begins no recording. It works again when they
      return; or unpair it, and somebody else pairs it anew.
    </p>
  );
}

/** What people call it, or what it is. */
function nameOf({ name, model, device_serial: serial }: Device): string {
  return name || model || serial;
}

function BatteryFact({ device }: { device: Device }): VNode | null {
  const battery = batteryOf(device.telemetry);
  if (battery === undefined) return null;
  const Icon = BATTERIES[battery.level];
  return (
    <span class="battery" data-level={battery.level}>
      <Icon size={16} role="img" aria-label={battery.level === "low" ? "Low battery" : "Battery"} />
      {battery.percent} %
    </span>
  );
}

interface ActionsProps {
  device: Device;
  rights: ReturnType<typeof rightsOn>;
  onOpen: (what: Opened) => void;
}

function Actions({ device, rights, onOpen }: ActionsProps): VNode {
  const { isOwn, mayEdit } = rights;
  const isPaired = device.status === "paired";
  const choices = [
    { what: "details", label: "Details", Icon: Info },
    { what: "edit", label: "Rename and rights", Icon: Pencil, isShown: mayEdit && isPaired },
    {
      what: "key",
      label: "New key",
      Icon: KeyRound,
      isShown: isOwn && isPaired && kindOf(device) === "program",
    },
    { what: "unpair", label: "Unpair", Icon: Unlink, isShown: mayEdit && isPaired },
  ] as const;
  return (
    <ActionMenu label={`What to do with ${nameOf(device)}`} choices={choices} onChoose={onOpen} />
  );
}
