import type { TestProject } from "vitest/node";
import { WholeService } from "./whole-service.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Folder of the installation that the files of the project share. */
    installation: string;
  }
}

/** By the name of the project. */
const SETTINGS: Readonly<Record<string, NodeJS.ProcessEnv>> = {
  e2e: {
    RATE_LIMIT_FACTOR: "0",
    WEBHOOK_ALLOW_PRIVATE: "1",
    // What is kept back on purpose is given up soon.
    LATE_DEVICE_SILENCE_MS: "5000",
  },
  // A device has to be waited for as long as a part is away.
  "e2e-faults": { RATE_LIMIT_FACTOR: "0", WEBHOOK_ALLOW_PRIVATE: "1" },
};

/** One installation for all files of a project. */
export default async function shareService(project: TestProject): Promise<() => Promise<void>> {
  const service = await WholeService.start(SETTINGS[project.name]);
  project.provide("installation", service.folder);
  return () => service.stop();
}
