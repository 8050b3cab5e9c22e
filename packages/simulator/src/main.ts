import { config } from "#src/config.ts";
import { startSimulator } from "#src/simulator.ts";

const simulator = await startSimulator(config);
process.stdout.write(`${JSON.stringify({ event: "listening", url: simulator.url })}\n`);

let stopping = false;

async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  await simulator[Symbol.asyncDispose]();
  process.exit(0);
}

process.on("SIGTERM", () => void stop());
process.on("SIGINT", () => void stop());
