/** By what networks can be run: the processor, or an NVIDIA card. */
export type Provider = "cpu" | "cuda";

/** How networks are run. */
export interface NetworkSettings {
  /** In the order of preference; one at least. */
  providers: readonly Provider[];
  /** Threads of one run of the recogniser's networks. */
  wordThreads: number;
  /** Threads of one run of the networks for voices. */
  voiceThreads: number;
}

export const USUAL_NETWORKS: NetworkSettings = {
  providers: ["cpu"],
  wordThreads: 1,
  voiceThreads: 1,
};
