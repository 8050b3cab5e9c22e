import type { Credential } from "@postrider/contracts/accounts/v1/credential_service_pb";
import type {
  MetricsConnector,
  MetricsFailure,
  MetricsReading,
  OnFurtherCall,
  PostMetrics,
} from "@postrider/platforms/metrics/connector";
import type { AccountAccess } from "@postrider/platforms/publishing/publication";
import type { Logger } from "@postrider/shared/telemetry/logger";
import type { AccountRef, AccountsClients } from "#src/clients/accounts.ts";
import type { AskedTarget } from "#src/engagement/db/target-metrics.ts";
import { toBucket } from "#src/engagement/domain/call-budget.ts";
import {
  RECONNECT_PAUSE_MS,
  type RefreshOutcome,
} from "#src/engagement/domain/metrics-schedule.ts";
import { withCredential } from "#src/operations/with-credential.ts";

/** For an account whose access token could not be read or renewed. */
const UNAVAILABLE_PAUSE_MS = 60_000;
/** Bounds of the wait that the platform asks for with a rate limit. */
const LIMIT_MS = { min: 1_000, max: 24 * 3_600_000 };

export interface ReadDeps {
  readonly accounts: AccountsClients;
  readonly logger: Logger;
}

export interface MetricsAnswer {
  /** Keys are target ids. */
  readonly outcomes: ReadonlyMap<string, RefreshOutcome>;
  /** None without a usable token; several after a renewal, or if posts were read one by one. */
  readonly calls: number;
  /** Units of the platform's call budget. */
  readonly units: number;
  /** No scheduled call for metrics is made for the account. */
  readonly pauseMs: number;
  /** The platform allows no call for the account. */
  readonly limitedForMs: number;
  /** Then limit and units are those of the account, whatever the platform limits otherwise. */
  readonly isForeignHost?: boolean;
}

/** From a platform that has accepted the access token. */
type Answered =
  | { readonly kind: "readings"; readonly readings: ReadonlyMap<string, MetricsReading> }
  | MetricsFailure;

/** Makes one call. Never throws. */
export async function readMetrics(
  deps: ReadDeps,
  connector: MetricsConnector,
  account: AccountRef,
  credential: Credential,
  targets: readonly AskedTarget[],
  signal: AbortSignal,
): Promise<MetricsAnswer> {
  let [calls, units] = [0, 0];
  const count = (used: number): void => {
    calls += 1;
    units += used;
  };
  const unitsPerCall = toBucket(connector).isPerPost ? targets.length : 1;
  const externalIds = targets.map(({ externalId }) => externalId);
  const call = async (access: AccountAccess): Promise<Answered> => {
    count(unitsPerCall);
    return await ask(deps, connector, { access, externalIds }, signal, count);
  };
  const answer = await withCredential(deps, account, credential, call);
  const findReading = (target: AskedTarget): MetricsReading | typeof answer =>
    answer.kind === "readings"
      ? (answer.readings.get(target.externalId) ?? MISSING_READING)
      : answer;
  const readings = targets.map((target) => [target.targetId, findReading(target)] as const);
  const results = readings.map(([, reading]) => reading);
  // If the permission to read metrics is missing for all posts, the user has to connect the account
  // again; until then the metrics stay due.
  const isUnusable = results.every(lacksPermission);
  const outcomeOf = (result: Result) =>
    isUnusable ? ({ kind: "unusable" } as const) : toOutcome(result);
  return {
    outcomes: new Map(readings.map(([targetId, reading]) => [targetId, outcomeOf(reading)])),
    calls,
    units,
    pauseMs: isUnusable ? RECONNECT_PAUSE_MS : Math.max(0, ...results.map(pauseMsAfter)),
    limitedForMs: Math.max(0, ...results.map(limitMsAfter)),
    isForeignHost: connector.isForeignHost?.(credential) ?? false,
  };
}

const MISSING_READING: MetricsReading = {
  kind: "failed",
  message: "the platform's answer lacks a post that was asked for",
};

async function ask(
  { logger }: ReadDeps,
  connector: MetricsConnector,
  { access, externalIds }: { access: AccountAccess; externalIds: readonly string[] },
  signal: AbortSignal,
  onFurtherCall: OnFurtherCall,
): Promise<Answered> {
  try {
    const answer = await connector.readMetrics(access, externalIds, signal, onFurtherCall);
    if ("kind" in answer) return answer;
    return findRefusedToken(answer) ?? { kind: "readings", readings: answer };
  } catch (error) {
    if (signal.aborted) return { kind: "no_answer", message: "the call took too long" };
    logger.warn(
      { err: error, platform: connector.platform },
      "metrics could not be read because of an error in the connector; they are read again later",
    );
    return { kind: "failed", message: "the connector failed" };
  }
}

function findRefusedToken(readings: ReadonlyMap<string, MetricsReading>) {
  return [...readings.values()].find((reading) => reading.kind === "token_refused");
}

type Result = MetricsReading | { readonly kind: "readings" | "unusable" | "unavailable" };

const OUTCOMES = {
  missing: "missing",
  limited: "limited",
  no_answer: "no_answer",
  refused: "refused",
  unusable: "unusable",
  unavailable: "unavailable",
  failed: "failed",
  token_refused: "failed",
  readings: "failed",
} as const satisfies Record<Exclude<Result["kind"], "metrics">, RefreshOutcome["kind"]>;

function toOutcome(result: Result): RefreshOutcome {
  if (result.kind !== "metrics") return { kind: OUTCOMES[result.kind] };
  return isStorable(result.metrics) ? { ...result, kind: "read" } : { kind: "failed" };
}

/** If the database and the API cannot store the metrics, they count as unreadable. */
function isStorable(metrics: PostMetrics): boolean {
  return Object.values(metrics).every(
    (value) => value === null || (Number.isSafeInteger(value) && value >= 0),
  );
}

function pauseMsAfter(result: Result): number {
  if (result.kind === "unavailable") return UNAVAILABLE_PAUSE_MS;
  return result.kind === "unusable" ? RECONNECT_PAUSE_MS : 0;
}

function lacksPermission(result: Result): boolean {
  return result.kind === "refused" && result.code === "permission_missing";
}

function limitMsAfter(result: Result): number {
  if (result.kind !== "limited") return 0;
  return Math.min(LIMIT_MS.max, Math.max(LIMIT_MS.min, result.retryAfterMs));
}
