import type { Verdict } from "@postrider/platforms/publishing/verdict";
import type { Sql } from "@postrider/shared/postgres";
import type { LogFields, Logger } from "@postrider/shared/telemetry/logger";
import { type MarkedTable, type MarkRequest, noteSearch } from "./marks.ts";
import { DONE, RELEASE_NOW, type WorkEnd } from "./worker.ts";

/** After a fault in our own services made the search fail. */
const LOOK_AGAIN_MS = 60_000;
/** Average wait for an open call that the search could not tell apart. */
const BUSY_MS = 1_000;

interface SearchDeps {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly random: () => number;
  readonly settings: { readonly reconcileTimeScale: number };
}

export interface Search<Key extends object> {
  readonly table: MarkedTable<Key, never, string>;
  /** Undefined if the call that is searched for, or this search, has noted it. */
  readonly note: (Key & MarkRequest) | undefined;
  readonly look: (signal: AbortSignal) => Promise<Verdict>;
  readonly timeoutMs: number;
  /** Aborted when the process stops or another worker has claimed the call. */
  readonly interrupted: AbortSignal;
  readonly ids: LogFields;
}

/** Searches a platform once for a call with an unknown outcome. */
export async function searchPlatform<Key extends object>(
  deps: SearchDeps,
  { table, note, look, timeoutMs, interrupted, ids }: Search<Key>,
): Promise<WorkEnd<never> | { readonly kind: "found"; readonly verdict: Verdict }> {
  const noted = note === undefined ? "noted" : await noteSearch(deps.sql, table, note);
  if (noted === "lost") return DONE;
  if (noted === "busy") return { kind: "release", delayMs: BUSY_MS * (1 + deps.random()) };
  const signal = AbortSignal.any([interrupted, AbortSignal.timeout(timeoutMs)]);
  const verdict = await look(signal).catch((error: unknown): Verdict => {
    deps.logger.warn(
      { err: error, ...ids },
      "the platform could not be searched for a call with an unknown outcome; the search is repeated later",
    );
    const afterMs = LOOK_AGAIN_MS * deps.settings.reconcileTimeScale;
    return { kind: "look_again", afterMs, isIncomplete: true };
  });
  return interrupted.aborted ? RELEASE_NOW : { kind: "found", verdict };
}
