import { InferenceSession } from "onnxruntime-node";
import { errorMessage } from "../../src/base/errors.ts";
import type { NetworkStatus } from "../../src/wire/worker-announcement.ts";
import type { Provider } from "./network-settings.ts";

const LONGEST_REASON = 300;

/**
 * The options of a network.
 *
 * An arena keeps what the longest piece needed, on each thread: 1,183 MB instead of 746 with four.
 */
export function runOptions(provider: Provider, threads: number): InferenceSession.SessionOptions {
  return {
    executionProviders: [provider],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    executionMode: "sequential",
    graphOptimizationLevel: "all",
    enableCpuMemArena: false,
  };
}

/**
 * The first provider with which the runtime opens a network, and a sentence about those before it. Throws
 * that sentence when there is none. The processor is not tried.
 *
 * @param path a small network
 */
export async function findProvider(
  providers: readonly Provider[],
  path: string,
): Promise<NetworkStatus & { provider: Provider }> {
  const missing: string[] = [];
  for (const provider of providers) {
    const problem = provider === "cpu" ? undefined : await problemOf(provider, path);
    if (problem === undefined) {
      const reason = `${missing.join(" ")} The networks run with ${provider}.`;
      return { provider, ...(missing.length > 0 && { reason }) };
    }
    missing.push(`INFERENCE_PROVIDERS names ${provider}, which cannot be used here: ${problem}.`);
  }
  throw new Error(`${missing.join(" ")} Name cpu as well to go on without.`);
}

async function problemOf(provider: Provider, path: string): Promise<string | undefined> {
  try {
    const session = await InferenceSession.create(path, runOptions(provider, 1));
    await session.release();
    return undefined;
  } catch (error) {
    const [line = ""] = errorMessage(error).trim().split("\n");
    return line.slice(0, LONGEST_REASON).replace(/\.$/, "");
  }
}
