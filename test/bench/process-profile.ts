import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { delay } from "../../src/base/deferred.ts";

const INSPECTOR = "http://127.0.0.1:9229/json/list";

/**
 * Runs `work`; with `BENCH_PROFILE=DIR` a CPU profile of just that time of the process goes there,
 * its start left out. The process opens its inspector for it, on the usual port.
 */
export async function profiled<T>(pid: number, name: string, work: () => Promise<T>): Promise<T> {
  const folder = process.env.BENCH_PROFILE;
  if (folder === undefined) return work();
  process.kill(pid, "SIGUSR1");
  await delay(1_000);
  const [target] = (await (await fetch(INSPECTOR)).json()) as { webSocketDebuggerUrl: string }[];
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? "");
  await once(socket, "open");
  const ask = async (method: string): Promise<{ profile?: object }> => {
    socket.send(JSON.stringify({ id: 1, method }));
    const [message] = (await once(socket, "message")) as [{ data: string }];
    return (JSON.parse(message.data) as { result: { profile?: object } }).result;
  };
  try {
    await ask("Profiler.enable");
    await ask("Profiler.start");
    const result = await work();
    const { profile } = await ask("Profiler.stop");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${name}.cpuprofile`), JSON.stringify(profile));
    return result;
  } finally {
    socket.close();
  }
}
