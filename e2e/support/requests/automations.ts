import { eventually } from "@postrider/shared/testing/poll";
import { expect } from "vitest";
import type { SharedSystem } from "../system/system.ts";
import type { Answer } from "./api.ts";
import { justAfterNow, type CommentRecord, type Media } from "./engagement.ts";
import { HOUR_MS } from "./posts.ts";
import type { Tenant } from "./tenant.ts";

export const RULES = "/automations/partner-dm-rules";
export const RUNS = "/automations/partner-dm-runs";
export const JOBS = "/automations/partner-dm-backfills";
const DAY_MS = 24 * HOUR_MS;

export interface Rule {
  readonly id: string;
  readonly status: string;
  readonly mediaIds: readonly string[] | null;
}

interface Run {
  readonly id: string;
  readonly ruleId: string;
  readonly commentId: string;
  readonly mediaId: string;
  readonly status: string;
  readonly reason: string | null;
}

interface Counts {
  readonly scanned: number;
  readonly matched: number;
  readonly prepared: number;
  readonly skipped: number;
}

export interface Item {
  readonly comment: CommentRecord;
  readonly outcome: string;
  readonly reason: string | null;
}

export interface Job {
  readonly id: string;
  readonly status: string;
  readonly counts: Counts;
  readonly results: readonly Item[];
  readonly nextCursor: string | null;
  readonly sending: string;
}

export async function createRule(
  { api }: Pick<Tenant, "api">,
  accountId: string,
  more: object = {},
): Promise<Answer<Rule>> {
  const fields = { name: "Prices", keywords: ["price"], message: "Our prices: …" };
  const body = { accountId, ...fields, ...more };
  return await api.call<Rule>("POST", RULES, { body });
}

export async function setStatus({ api }: Pick<Tenant, "api">, id: string, status: string) {
  return await api.call<Rule>("PATCH", `${RULES}/${id}`, { body: { status } });
}

/** Creates an automation rule for the account and activates it. */
export async function activeRule(
  tenant: Tenant,
  accountId: string,
  more: object = {},
): Promise<string> {
  const { body } = await createRule(tenant, accountId, more);
  const answer = await setStatus(tenant, body.id, "active");
  expect([answer.status, answer.body.status]).toEqual([200, "active"]);
  return body.id;
}

export async function runsOf({ api }: Pick<Tenant, "api">, query: string): Promise<readonly Run[]> {
  const answer = await api.call<{ runs: readonly Run[] }>("GET", `${RUNS}?limit=100&${query}`);
  expect(answer.status).toBe(200);
  return answer.body.runs;
}

/**
 * Waits until the rule has automation runs for exactly the given number of comments, and all of
 * them have ended.
 */
export async function whenRuns(
  tenant: Tenant,
  ruleId: string,
  count: number,
): Promise<readonly Run[]> {
  return await eventually(async () => {
    const runs = await runsOf(tenant, `ruleId=${ruleId}`);
    const open = runs.filter(({ status, reason }) => status === "prepared" && reason === null);
    if (runs.length !== count || open.length > 0)
      throw new Error(`${runs.length} runs, ${open.length} of them open`);
    return runs;
  });
}

/**
 * @param createdAt When the comment was written. Default: a time after the activation of every
 *   rule.
 */
export async function comment(
  { simulator }: Pick<SharedSystem, "simulator">,
  media: Media,
  text: string,
  createdAt = justAfterNow(),
): Promise<string> {
  return await simulator.addComment(media, { text, createdAt });
}

export function daysAgo(days: number): string {
  return new Date(Date.now() - days * DAY_MS).toISOString();
}
