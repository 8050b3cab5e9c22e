import { isPlatformId, PLATFORM_IDS, type PlatformId } from "@postrider/platforms/platform-id";
import { PLATFORM_FACTS } from "@postrider/platforms/registry";
import type { DailyLimitRules } from "@postrider/platforms/rules";

/** The limit applies to each account, or to all accounts of an app or a project together. */
export type DailyScope = "account" | "app" | "project";

export interface DailyLimit {
  readonly scope: DailyScope;
  readonly limit: number;
}

export interface QuotaLimits {
  readonly monthly: number;
  /** Replaces the limit of every platform that has one; null keeps them. */
  readonly daily: number | null;
  /** The highest `daily` of all workspaces of the installation; null if none has one. */
  readonly highestDaily: number | null;
  /** Whether the installation has other workspaces, which use the same apps and projects. */
  readonly hasOthers: boolean;
}

/**
 * Owner of the counters of all workspaces together, of the platforms that limit an app or a
 * project. Sorts after the id of every workspace, so that these counters are locked last.
 */
export const INSTALLATION = "ffffffff-ffff-ffff-ffff-ffffffffffff";

export interface QuotaTarget {
  readonly accountId: string;
  /** A platform that the code does not know has no daily limit. */
  readonly platform: string;
}

/** Names a database row. */
export interface QuotaKey {
  /** The id of a workspace, or `INSTALLATION`. */
  readonly workspaceId: string;
  /** The id of a workspace or an account, or a platform with a limit per app or project. */
  readonly subject: string;
  /** The counted period: a month, `2026-11`, or a day, `2026-11-21`, in UTC. */
  readonly period: string;
}

/** Limits the publications of one subject in one period. */
export interface QuotaCounter extends QuotaKey {
  /** `daily_shared`: of all workspaces together. */
  readonly code: "monthly" | "daily" | "daily_shared";
  readonly scope: "workspace" | DailyScope;
  readonly limit: number;
  /** The platform of a daily quota counter; null for a monthly counter. */
  readonly platform: string | null;
  /** The id of the account if the quota limit applies to a single account, otherwise null. */
  readonly accountId: string | null;
}

/** The number of publications to add to the quota counter; a negative number is subtracted. */
export interface QuotaDemand extends QuotaCounter {
  readonly requested: number;
}

/** `used`: targets that are or may be published; `reserved`: targets still to be published. */
export interface QuotaUsage {
  readonly used: number;
  readonly reserved: number;
}

/** `released`: how often a target failed or was cancelled, which makes room for another one. */
export interface QuotaState extends QuotaUsage {
  readonly released: number;
}

export interface QuotaExhaustion extends QuotaCounter, QuotaUsage {
  readonly exhaustedAt: Date;
}

export interface QuotaShortage extends QuotaUsage {
  readonly code: QuotaCounter["code"];
  readonly limit: number;
  readonly requested: number;
  readonly resetsAt: Date;
  readonly platform: string | null;
  readonly accountId: string | null;
}

export function monthOf(instant: Date): string {
  return instant.toISOString().slice(0, "YYYY-MM".length);
}

export function dayOf(instant: Date): string {
  return instant.toISOString().slice(0, "YYYY-MM-DD".length);
}

/** Returns the instant at which the counters of the next period begin at zero. */
export function resetsAt(period: string): Date {
  const [year = 0, month = 0, day] = period.split("-").map(Number);
  // `Date.UTC` counts months from 0 and the period counts them from 1, so `month` denotes the month
  // after the period.
  return new Date(
    day === undefined ? Date.UTC(year, month, 1) : Date.UTC(year, month - 1, day + 1),
  );
}

/** Undefined for a platform without a daily limit. */
export function dailyLimitOf(platform: PlatformId): DailyLimit | undefined {
  const { count, points, perCreate, scope }: DailyLimitRules =
    PLATFORM_FACTS[platform].rules.dailyLimit;
  const limit = count ?? Math.floor((points ?? Infinity) / (perCreate ?? 1));
  if (!Number.isFinite(limit)) return undefined;
  return { limit, scope: scope === "app" || scope === "project" ? scope : "account" };
}

/** What a workspace may use beside others of a limit that all share. */
function partOf(limit: number): number {
  return Math.ceil(limit / 2);
}

/** The counters of all workspaces together, and the part of a workspace by platform. */
export const SHARED_LIMITS = {
  owner: INSTALLATION,
  parts: Object.fromEntries(
    PLATFORM_IDS.flatMap((platform): [string, number][] => {
      const { scope = "account", limit = 0 } = dailyLimitOf(platform) ?? {};
      return scope === "account" ? [] : [[platform, partOf(limit)]];
    }),
  ),
};

export function monthlyCounter(workspaceId: string, at: Date, limits: QuotaLimits): QuotaCounter {
  return {
    code: "monthly",
    workspaceId,
    period: monthOf(at),
    subject: workspaceId,
    scope: "workspace",
    limit: limits.monthly,
    platform: null,
    accountId: null,
  };
}

/**
 * The counter of the workspace, and for the limit of an app or a project that of all workspaces;
 * none for a platform without a daily limit. Accounts of one app or project share both. Beside
 * other workspaces, a workspace may use half of such a limit. An operator who allows a workspace
 * more than the platform does has more from the platform, for all workspaces together.
 */
export function dailyCounters(
  workspaceId: string,
  { accountId, platform }: QuotaTarget,
  at: Date,
  { daily, highestDaily, hasOthers }: QuotaLimits,
): readonly QuotaCounter[] {
  const rule = isPlatformId(platform) ? dailyLimitOf(platform) : undefined;
  if (rule === undefined) return [];
  const { scope, limit } = rule;
  const counter = { code: "daily", workspaceId, period: dayOf(at), scope, platform } as const;
  if (scope === "account")
    return [{ ...counter, subject: accountId, limit: daily ?? limit, accountId }];
  const shared = { ...counter, subject: platform, accountId: null };
  return [
    { ...shared, limit: daily ?? (hasOthers ? partOf(limit) : limit) },
    {
      ...shared,
      code: "daily_shared",
      workspaceId: INSTALLATION,
      limit: Math.max(limit, highestDaily ?? 0),
    },
  ];
}

/**
 * One demand per counter, in the order in which rows are locked: posts that share counters wait for
 * each other and never deadlock.
 */
export function quotaDemands(
  workspaceId: string,
  targets: readonly QuotaTarget[],
  dueAt: Date,
  limits: QuotaLimits,
): QuotaDemand[] {
  const month = monthlyCounter(workspaceId, dueAt, limits);
  const counters = targets.flatMap((target) => dailyCounters(workspaceId, target, dueAt, limits));
  return sum([...targets.map(() => month), ...counters].map((each) => ({ ...each, requested: 1 })));
}

/** In the order in which counters are locked; unchanged counters are omitted. */
export function changeOfDemands(
  before: readonly QuotaDemand[],
  after: readonly QuotaDemand[],
): QuotaDemand[] {
  const released = before.map((demand) => ({ ...demand, requested: -demand.requested }));
  return sum([...after, ...released]).filter(({ requested }) => requested !== 0);
}

/** At least 0: a publication that is confirmed late is counted even above the limit. */
export function remainingOf(limit: number, { used, reserved }: QuotaUsage): number {
  return Math.max(0, limit - used - reserved);
}

/** As in the migration. No honest workspace fails so often, and failed posts are kept for long. */
export function maxReleased(quota: number): number {
  return Math.max(20 * quota, 10_000);
}

export function findShortage(demand: QuotaDemand, usage: QuotaState): QuotaShortage | undefined {
  const { code, limit, requested, period, platform, accountId } = demand;
  if (requested <= 0) return undefined;
  const { used, reserved, released } = usage;
  const isFull = requested > remainingOf(limit, usage);
  if (!isFull && released < maxReleased(limit)) return undefined;
  return {
    code,
    ...(isFull ? { limit, used } : { limit: maxReleased(limit), used: released }),
    reserved,
    requested,
    resetsAt: resetsAt(period),
    platform,
    accountId,
  };
}

/** A counter without a row was never used. */
export function usageByCounter(
  rows: readonly (QuotaState & QuotaKey)[],
): (counter: QuotaKey) => QuotaState {
  const byName = new Map(rows.map((row) => [nameOfCounter(row), row]));
  return (counter) => byName.get(nameOfCounter(counter)) ?? { used: 0, reserved: 0, released: 0 };
}

/** Unique per counter, in the order in which counters are locked. */
export function nameOfCounter({ workspaceId, period, subject }: QuotaKey): string {
  return `${workspaceId}/${period}/${subject}`;
}

function sum(demands: readonly QuotaDemand[]): QuotaDemand[] {
  const byKey = Map.groupBy(demands, nameOfCounter);
  return [...byKey]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, [first, ...others]]) => (first === undefined ? [] : [add(first, others)]));
}

function add(first: QuotaDemand, others: readonly QuotaDemand[]): QuotaDemand {
  return others.reduce(
    (total, { requested }) => ({ ...total, requested: total.requested + requested }),
    first,
  );
}
