/**
 * Keeps the screen from going dark, which ends recordings on phones, until the signal says that it is
 * over. Browsers let go of it when the page is hidden; it is asked for again when it is seen.
 */
export function keepScreenAwake(ended: AbortSignal): void {
  let lock: WakeLockSentinel | undefined;
  const take = async () => {
    if (document.visibilityState !== "visible") return;
    try {
      lock = await navigator.wakeLock?.request("screen");
      if (ended.aborted) await lock?.release();
    } catch {
      // Refused, by a low battery say: the person keeps it awake.
    }
  };
  document.addEventListener("visibilitychange", () => void take(), { signal: ended });
  ended.addEventListener("abort", () => void lock?.release().catch(() => undefined));
  void take();
}
