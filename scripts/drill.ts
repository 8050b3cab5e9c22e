import { parseArgs } from "node:util";
import { runScript, runVitest } from "./check/run-command.ts";

/** The drills by their names. `npm test` runs those of the project `e2e` too, but small. */
const DRILLS: Readonly<Record<string, readonly [project: string, file: string]>> = {
  failover: ["e2e", "e2e/postgres-failover.test.ts"],
  brokers: ["drills", "e2e/drills/kafka-brokers.test.ts"],
  migrations: ["e2e", "e2e/migrations-under-load.test.ts"],
};

/**
 * Runs a drill of docs/operations.md with figures:
 * `npm run drill failover|brokers|migrations -- [--seconds N] [--rate N] [--posts N]
 * [--down N]`.
 */
async function main(): Promise<boolean> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      /** How long requests are sent before a fault and after it. */
      seconds: { type: "string", default: "30" },
      /** Requests per second. */
      rate: { type: "string", default: "50" },
      /** Rows of the table that the migrations change. */
      posts: { type: "string", default: "10000000" },
      /** How long no Postgres takes writes. */
      down: { type: "string", default: "2" },
    },
  });
  const drill = DRILLS[positionals[0] ?? ""];
  if (drill === undefined) throw new Error(`name one of ${Object.keys(DRILLS).join(", ")}`);
  const settings = Object.entries(values).map(([name, text]) => {
    if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} takes a whole number, not "${text}"`);
    return [`POSTRIDER_E2E_DRILL_${name.toUpperCase()}`, text];
  });
  return await runVitest(["--project", ...drill], {
    POSTRIDER_E2E_FIGURES: "1",
    ...Object.fromEntries(settings),
  });
}

await runScript("drill", main);
