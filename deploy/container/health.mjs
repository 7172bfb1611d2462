// The health check of the image, for whatever part runs in it: its operations port, or the
// REST interface of `up`, whose operations port is any free one.
import process from "node:process";

const WAIT_MS = 4_000;
const { OPS_PORT, WORKER_OPS_PORT, VOICE_PORT } = process.env;
const addresses = [
  `http://127.0.0.1:${OPS_PORT || WORKER_OPS_PORT || 9464}/health/ready`,
  `http://127.0.0.1:${VOICE_PORT || 8080}/api/health/ready`,
];

/** The status, and what was said with it; undefined where nothing listens. */
async function ask(address) {
  try {
    const answer = await fetch(address, { signal: AbortSignal.timeout(WAIT_MS) });
    return { status: answer.status, text: await answer.text() };
  } catch (error) {
    if (error.cause?.code === "ECONNREFUSED") return undefined;
    return { status: 0, text: error.message };
  }
}

process.exitCode = 1;
for (const address of addresses) {
  const answer = await ask(address);
  if (answer === undefined) {
    process.stdout.write(`${address}: nothing listens\n`);
    continue;
  }
  process.stdout.write(`${address}: ${answer.status} ${answer.text}\n`);
  if (answer.status === 200) process.exitCode = 0;
  break;
}
