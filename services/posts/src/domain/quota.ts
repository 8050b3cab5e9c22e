import { isPlatformId, type PlatformId, PLATFORMS } from "@postrider/platforms/registry";
import type { DailyLimitRules } from "@postrider/platforms/rules";

/** What a daily limit counts for; that of an app or a project is shared by all of its accounts. */
export type DailyScope = "account" | "app" | "project";

/** How many publications a platform takes in a day. */
export interface DailyLimit {
  readonly scope: DailyScope;
  readonly limit: number;
}

/** The limits of a workspace; `daily` replaces that of every platform that has one, null = the platforms' own. */
export interface QuotaLimits {
  readonly monthly: number;
  readonly daily: number | null;
}

/** A target as far as quota counts it: one publication on one account. */
export interface QuotaTarget {
  readonly accountId: string;
  /** The id of a platform; one that is not in the registry has no daily limit. */
  readonly platform: string;
}

/** What is counted together: the row that has the same period and subject. */
export interface QuotaCounter {
  readonly code: "monthly" | "daily";
  /** A month, `2026-11`, or a day, `2026-11-21`, in UTC. */
  readonly period: string;
  /** The id of the workspace or the account, or the platform whose app or project it is. */
  readonly subject: string;
  readonly scope: "workspace" | DailyScope;
  readonly limit: number;
  /** The platform of a daily limit, else null. */
  readonly platform: string | null;
  /** The account, if the limit is its own, else null. */
  readonly accountId: string | null;
}

/** How many publications are to be added to a counter, or taken from it if negative. */
export interface QuotaDemand extends QuotaCounter {
  readonly requested: number;
}

/** What a counter holds: publications that are visible, and those that are still to come. */
export interface QuotaUsage {
  readonly used: number;
  readonly reserved: number;
}

/** A demand that a counter has no room for. */
export interface QuotaShortage extends QuotaUsage {
  readonly code: "monthly" | "daily";
  readonly limit: number;
  readonly requested: number;
  readonly resetsAt: Date;
  readonly platform: string | null;
  readonly accountId: string | null;
}

/** The month of an instant in UTC, as `2026-11`. */
export function monthOf(instant: Date): string {
  return instant.toISOString().slice(0, "YYYY-MM".length);
}

/** The day of an instant in UTC, as `2026-11-21`. */
export function dayOf(instant: Date): string {
  return instant.toISOString().slice(0, "YYYY-MM-DD".length);
}

/** When a month or a day ends and the next one's counters begin at zero. */
export function resetsAt(period: string): Date {
  const [year = 0, month = 0, day] = period.split("-").map(Number);
  // Date.UTC counts months from 0, so the number of this month is the next one.
  return new Date(
    day === undefined ? Date.UTC(year, month, 1) : Date.UTC(year, month - 1, day + 1),
  );
}

/** What the platform's registry says of a day; undefined where there is no limit. */
export function dailyLimitOf(platform: PlatformId): DailyLimit | undefined {
  const { count, points, perCreate, scope }: DailyLimitRules = PLATFORMS[platform].dailyLimit;
  const limit = count ?? Math.floor((points ?? Infinity) / (perCreate ?? 1));
  if (!Number.isFinite(limit)) return undefined;
  return { limit, scope: scope === "app" || scope === "project" ? scope : "account" };
}

/** The counter of a workspace's month. */
export function monthlyCounter(workspaceId: string, at: Date, limits: QuotaLimits): QuotaCounter {
  return {
    code: "monthly",
    period: monthOf(at),
    subject: workspaceId,
    scope: "workspace",
    limit: limits.monthly,
    platform: null,
    accountId: null,
  };
}

/** The counter of an account's day, which it may share with other accounts; undefined where there is no limit. */
export function dailyCounter(
  { accountId, platform }: QuotaTarget,
  at: Date,
  limits: QuotaLimits,
): QuotaCounter | undefined {
  const rule = isPlatformId(platform) ? dailyLimitOf(platform) : undefined;
  if (rule === undefined) return undefined;
  const isOwn = rule.scope === "account";
  return {
    code: "daily",
    period: dayOf(at),
    subject: isOwn ? accountId : platform,
    scope: rule.scope,
    limit: limits.daily ?? rule.limit,
    platform,
    accountId: isOwn ? accountId : null,
  };
}

/**
 * What targets that are due together ask of which counters, in the order in which the counters' rows are locked: two
 * posts that share counters then wait for each other instead of deadlocking.
 */
export function quotaDemands(
  workspaceId: string,
  targets: readonly QuotaTarget[],
  dueAt: Date,
  limits: QuotaLimits,
): QuotaDemand[] {
  const month = monthlyCounter(workspaceId, dueAt, limits);
  const counters = targets.flatMap((target) => dailyCounter(target, dueAt, limits) ?? []);
  return sum([...targets.map(() => month), ...counters].map((each) => ({ ...each, requested: 1 })));
}

/** The changes of counters, in lock order, when the demands of a post change. Counters that do not change are left out. */
export function changeOfDemands(
  before: readonly QuotaDemand[],
  after: readonly QuotaDemand[],
): QuotaDemand[] {
  const released = before.map((demand) => ({ ...demand, requested: -demand.requested }));
  return sum([...after, ...released]).filter(({ requested }) => requested !== 0);
}

/** What is left of a limit, never negative: a publication that is confirmed late counts even above its limit. */
export function remainingOf(limit: number, { used, reserved }: QuotaUsage): number {
  return Math.max(0, limit - used - reserved);
}

/** Why a counter refuses a demand; undefined if it has room for all of it, or nothing is asked. */
export function findShortage(demand: QuotaDemand, usage: QuotaUsage): QuotaShortage | undefined {
  const { code, limit, requested, period, platform, accountId } = demand;
  if (requested <= 0 || requested <= remainingOf(limit, usage)) return undefined;
  const { used, reserved } = usage;
  return {
    code,
    limit,
    used,
    reserved,
    requested,
    resetsAt: resetsAt(period),
    platform,
    accountId,
  };
}

function sum(demands: readonly QuotaDemand[]): QuotaDemand[] {
  const byKey = Map.groupBy(demands, ({ period, subject }) => `${period}/${subject}`);
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
