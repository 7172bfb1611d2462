import { derivedId } from "../../src/base/ids.ts";
import type { Cast } from "../support/record/sim-record.ts";

export const WORKSPACE = derivedId("simulated workspace");
export const OWNER = derivedId("simulated user", "owner");
/** Who claims voices and edits. */
export const PEOPLE: readonly string[] = ["ann", "bob"].map((name) =>
  derivedId("simulated user", name),
);

/** Who and what is there before anything happens. */
export function castOf(deviceIds: readonly string[]): Cast {
  return {
    users: [OWNER, ...PEOPLE].map((id) => ({ id, name: id, email: `${id}@example.com` })),
    devices: deviceIds.map((id) => ({
      id,
      workspace_id: WORKSPACE,
      owner_id: OWNER,
      last_seen_at: null,
      telemetry: "{}",
      firmware: "",
    })),
    webhooks: [
      {
        id: derivedId("simulated webhook"),
        workspace_id: WORKSPACE,
        event_types: "[]",
        enabled: true,
      },
    ],
  };
}
