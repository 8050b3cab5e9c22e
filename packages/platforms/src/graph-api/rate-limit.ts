import { header, type PlatformAnswer } from "#src/http/platform-answer.ts";

const MINUTE_MS = 60_000;
/** Limits per hour or per day recover gradually, so a retry may succeed early. */
const DEFAULT_WAIT_MS = 5 * MINUTE_MS;

function parse(json: string | undefined): unknown {
  try {
    return JSON.parse(json ?? "null");
  } catch {
    return null;
  }
}

function minutesOf(entry: unknown): number {
  const minutes = (entry as { estimated_time_to_regain_access?: unknown } | null)
    ?.estimated_time_to_regain_access;
  return typeof minutes === "number" ? minutes : 0;
}

export function limitedForMs(answer: PlatformAnswer): number {
  const usage = parse(header(answer, "x-business-use-case-usage"));
  const entries = typeof usage === "object" && usage !== null ? Object.values(usage).flat() : [];
  const minutes = Math.max(0, ...entries.map(minutesOf));
  return minutes > 0 ? Math.max(1000, minutes * MINUTE_MS) : DEFAULT_WAIT_MS;
}
