import { resolve } from "node:path";
import { listSupportedBackends } from "onnxruntime-node";
import { afterEach, describe, expect, it } from "vitest";
import { InferencePool } from "../../../../workers/inference/inference-pool.ts";
import { findProvider } from "../../../../workers/inference/network-provider.ts";
import type { Provider } from "../../../../workers/inference/network-settings.ts";

const MODELS = resolve(import.meta.dirname, "../../../../workers/models");
const SMALL = resolve(MODELS, "voices/segmentation_3.onnx");

/** With the real runtime: its package brings cuda's files on no machine unless somebody fetched them. */
const hasCuda = await findProvider(["cuda"], SMALL).then(
  () => true,
  () => false,
);

describe("providers of the networks", () => {
  let pool: InferencePool | undefined;
  afterEach(() => pool?.stop());

  async function started(providers: Provider[]): Promise<InferencePool> {
    const networks = { providers, wordThreads: 2, voiceThreads: 2 };
    pool = new InferencePool({ threads: 1, reads: false, networks });
    await pool.start();
    return pool;
  }

  it("the processor is there, wherever it stands in the list", async () => {
    expect(listSupportedBackends().map(({ name }) => name)).toContain("cpu");
    expect((await started(["cpu", "cuda"])).networks).toEqual({ provider: "cpu" });
  });

  it.skipIf(hasCuda)(
    "cuda that is not there is told, and gone on with cpu if that is named",
    async () => {
      const { networks } = await started(["cuda", "cpu"]);
      expect(networks?.provider).toBe("cpu");
      expect(networks?.reason).toMatch(
        /^INFERENCE_PROVIDERS names cuda, which cannot be used here: .+\. The networks run with cpu\.$/,
      );
    },
  );

  it.skipIf(hasCuda)("cuda alone that is not there is refused, with what to do", async () => {
    await expect(started(["cuda"])).rejects.toThrow(
      /INFERENCE_PROVIDERS names cuda, .+ Name cpu as well to go on without\./,
    );
  });
});
