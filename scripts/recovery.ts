import { parseArgs } from "node:util";
import { runScript, runVitest } from "./check/run-command.ts";

/**
 * Kills processes in turn while posts are published, and shows where the last targets waited:
 * `npm run recovery -- [--seconds N] [--every N] [--rate N] [--services a,b]`. It is the end-to-end
 * test of recovery on Kafka, with two replicas, for longer and with figures.
 */
async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      /** How long processes are killed. */
      seconds: { type: "string", default: "150" },
      every: { type: "string", default: "5" },
      /** Targets per second. */
      rate: { type: "string", default: "40" },
      /** A service that is named twice is killed twice as often. */
      services: { type: "string", default: "delivery,delivery,posts" },
    },
  });
  return await runVitest(["--project", "drills", "e2e/drills/recovery.test.ts"], {
    POSTRIDER_E2E_FIGURES: "1",
    POSTRIDER_E2E_RECOVERY_SECONDS: readNumber("seconds", values.seconds),
    POSTRIDER_E2E_RECOVERY_KILL_SECONDS: readNumber("every", values.every),
    POSTRIDER_E2E_RECOVERY_RATE: readNumber("rate", values.rate),
    POSTRIDER_E2E_RECOVERY_SERVICES: values.services,
  });
}

function readNumber(name: string, text: string): string {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} takes a whole number, not "${text}"`);
  return text;
}

await runScript("recovery", main);
