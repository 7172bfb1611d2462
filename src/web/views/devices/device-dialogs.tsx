import type { VNode } from "preact";
import { call } from "../../api/client.ts";
import type { Device } from "../../api/records.ts";
import { NameField } from "../../parts/fields.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { SecretDialog } from "../../parts/secret-dialog.tsx";
import { showToast } from "../../parts/toasts.tsx";
import { type DeviceKey, KeyShown } from "./key-shown.tsx";

interface DialogProps {
  device: Device;
  onClose: () => void;
}

/** The device's name, and for its owner whether it gets words. */
export function EditDialog({
  device,
  isOwn,
  onChanged,
  onClose,
}: DialogProps & { isOwn: boolean; onChanged: (device: Device) => void }): VNode {
  const save = async (fields: FormData) => {
    const mayRead = fields.get("may_read") !== null;
    const body = {
      name: String(fields.get("name")).trim(),
      // Of somebody else's device not even the same value is taken.
      ...(isOwn && mayRead !== device.may_read ? { may_read: mayRead } : {}),
    };
    const params = { path: { device_id: device.id } };
    onChanged(await call((api) => api.PATCH("/devices/{device_id}", { params, body })));
    showToast("The device is changed.");
  };
  return (
    <FormDialog title="Rename and rights" submit="Save" onSubmit={save} onClose={onClose}>
      <NameField defaultValue={device.name} />
      {isOwn && (
        <div>
          <label class="check">
            <input type="checkbox" name="may_read" defaultChecked={device.may_read} />
            It may read the words of what it records
          </label>
          <p class="small soft">
            For a device with a screen. Taken back, it gets no more words at once; its recording
            goes on.
          </p>
        </div>
      )}
    </FormDialog>
  );
}

/** Takes the device's rights away. */
export function UnpairDialog({
  device,
  onGone,
  onClose,
}: DialogProps & { onGone: () => void }): VNode {
  const unpair = async () => {
    const params = { path: { device_id: device.id } };
    const { message } = await call((api) => api.DELETE("/devices/{device_id}", { params }));
    showToast(message);
    onGone();
  };
  return (
    <FormDialog
      title="Unpair the device?"
      submit={`Unpair “${device.name || device.model || device.device_serial}”`}
      cancel="Keep it"
      isEnd
      onSubmit={unpair}
      onClose={onClose}
    >
      <p>
        Its keys end at once: what it records from then on does not arrive. Sessions that it
        recorded stay. To use it again, pair it anew.
      </p>
    </FormDialog>
  );
}

/** A fresh key for a program that lost its own. */
export function KeyDialog({ device, onClose }: DialogProps): VNode {
  const body = { device_id: device.id };
  return (
    <SecretDialog<DeviceKey>
      title="A new key?"
      submit="Make a new key"
      made="The new key"
      make={() => call((api) => api.POST("/devices/pair/claim-auth", { body }))}
      show={(key) => <KeyShown deviceKey={key} />}
      onClose={onClose}
    >
      <p>The key that it has now stays good for 24 h at most.</p>
    </SecretDialog>
  );
}
