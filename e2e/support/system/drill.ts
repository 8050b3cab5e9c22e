import { startLoad, type Load, type LoadReport } from "../../../scripts/cluster/load.ts";
import { openTenant } from "../requests/tenant.ts";
import { printFigures } from "./figures.ts";
import type { System } from "./system.ts";

const {
  POSTRIDER_E2E_DRILL_SECONDS: SECONDS = "3",
  POSTRIDER_E2E_DRILL_RATE: RATE = "20",
  POSTRIDER_E2E_DRILL_POSTS: POSTS = "20000",
  POSTRIDER_E2E_DRILL_DOWN: DOWN = "1",
} = process.env;

/** The size of a drill: small, or that of `npm run drill`. */
export const DRILL = {
  seconds: Number(SECONDS),
  perSecond: Number(RATE),
  posts: Number(POSTS),
  downMs: Number(DOWN) * 1000,
};
/** Of a drill of any size, on a machine that other work loads. */
export const DRILL_TIMEOUT_MS = 300_000 + DRILL.seconds * 20_000;
const ACCOUNTS = 12;
const NO_LIMIT = "100000000";

/** Requests of a workspace of its own to one platform. */
export async function startDrillLoad(
  system: System,
  options: { readonly postEvery: number; readonly platforms: readonly string[] },
): Promise<Load> {
  const limits = ["--monthly-quota", NO_LIMIT, "--daily-quota", NO_LIMIT];
  const tenant = await openTenant(system, limits, 1_000_000);
  const accounts = options.platforms.map((platform) => tenant.connectAll(platform, ACCOUNTS));
  const { baseUrl, simulatorUrl } = system.local();
  return startLoad({
    baseUrl,
    simulatorUrl,
    apiKey: tenant.key,
    accountIds: (await Promise.all(accounts)).flat(),
    perSecond: DRILL.perSecond,
    postEvery: options.postEvery,
  });
}

export const NOTHING_WRONG = { failures: [], lost: 0, doubled: 0 };

/** Prints what a drill measured. */
export function printReport(name: string, report: LoadReport, more: object = {}): void {
  const { acceptMs, failures, ...counts } = report;
  const at = (share: number): number =>
    Math.round(acceptMs[Math.floor(acceptMs.length * share)] ?? 0);
  const latency = { p50: at(0.5), p99: at(0.99), max: Math.round(acceptMs.at(-1) ?? 0) };
  printFigures(name, { ...counts, failed: failures.length, ...latency, ...more });
}
