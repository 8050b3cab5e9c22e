import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Answer } from "./support/requests/api.ts";
import {
  RULES,
  JOBS,
  type Rule,
  type Item,
  type Job,
  createRule,
  setStatus,
  activeRule,
  runsOf,
  whenRuns,
  comment,
  daysAgo,
} from "./support/requests/automations.ts";
import { publishOn } from "./support/requests/engagement.ts";
import { refusalOf, UNKNOWN_ID } from "./support/requests/posts.ts";
import { openTenant, type Tenant } from "./support/requests/tenant.ts";
import { joinSharedSystem, type SharedSystem } from "./support/system/system.ts";

/**
 * Tests automations through all services, with the operator's setting for sending messages disabled
 * (the default). The tests of the gateway cover the validation of requests, those of the delivery
 * service lost responses and crashes.
 */

describe("while the sending of private replies is blocked:", () => {
  let system: SharedSystem;
  let tenant: Tenant;
  let other: Tenant;
  beforeAll(async () => {
    system = await joinSharedSystem();
    tenant = await openTenant(system);
    other = await openTenant(system);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  test.each(["instagram", "facebook"])(
    "each comment on %s that an active rule matches gets one automation run with the status prepared, and no author receives a private reply",
    async (platform) => {
      const media = await publishOn(tenant, platform);
      await comment(system, media, "the price before the rule?", daysAgo(0.01));
      const ruleId = await activeRule(tenant, media.accountId, { excludeKeywords: ["refund"] });
      const matching = await comment(system, media, "What is the PRICE?");
      const excluded = await comment(system, media, "price of a refund?");
      await comment(system, media, "priceless");

      const runs = await whenRuns(tenant, ruleId, 2);

      const outcomes = runs.map(({ commentId, status, reason }) => [commentId, status, reason]);
      expect(new Set(outcomes)).toEqual(
        new Set([
          [matching, "prepared", "sending_blocked"],
          [excluded, "skipped", "excluded"],
        ]),
      );
      expect(runs.every((run) => run.ruleId === ruleId && run.mediaId === media.id)).toBe(true);
      const filtered = await runsOf(tenant, `ruleId=${ruleId}&status=prepared`);
      expect(filtered.map(({ commentId }) => commentId)).toEqual([matching]);
      expect(await system.simulator.privateReplies(platform, media.account)).toEqual([]);
      expect(await system.simulator.countCalls(platform, "reply", media.account)).toBe(0);
      await setStatus(tenant, ruleId, "revoked");
    },
  );

  test("an automation rule is created as a draft, is activated and paused, and cannot be changed after it is revoked", async () => {
    const accountId = await tenant.connect("instagram");
    const headers = { "idempotency-key": crypto.randomUUID() };
    const fields = { accountId, name: "Prices", keywords: ["price"], message: "Here" };
    const create = () => tenant.api.call<Rule>("POST", RULES, { body: fields, headers });
    const [rule, again] = [await create(), await create()];
    const { id } = rule.body;
    expect(rule.status).toBe(201);
    expect(rule.headers.get("location")).toBe(`/api/v1${RULES}/${id}`);
    expect(rule.body).toEqual({
      id,
      ...fields,
      mediaIds: null,
      match: "any",
      excludeKeywords: [],
      status: "draft",
      createdAt: expect.any(String) as string,
      updatedAt: expect.any(String) as string,
    });
    expect([again.headers.get("idempotent-replayed"), again.body]).toEqual(["true", rule.body]);

    const outcomes: string[] = [];
    const steps = ["draft", "paused", "active", "active", "paused", "draft", "active", "revoked"];
    for (const status of [...steps, "revoked", "active"]) {
      const answer = await setStatus(tenant, id, status);
      outcomes.push(answer.status === 200 ? answer.body.status : refusalOf(answer));
    }
    const refused = "409 invalid_transition";
    expect(outcomes).toEqual([
      "draft",
      refused,
      "active",
      "active",
      "paused",
      refused,
      "active",
      "revoked",
      "revoked",
      refused,
    ]);
    const renamed = await tenant.api.call("PATCH", `${RULES}/${id}`, { body: { name: "Other" } });
    expect(refusalOf(renamed)).toBe(refused);
    const { body: list } = await tenant.api.call<{ rules: readonly Rule[] }>("GET", RULES);
    expect(list.rules.map((each) => each.id)).not.toContain(id);
  });

  test("PATCH replaces only the given fields of an automation rule", async () => {
    const accountId = await tenant.connect("facebook");
    const { body: rule } = await createRule(tenant, accountId, { mediaIds: ["1", "2"] });
    const change = async (body: object) =>
      (await tenant.api.call<Rule>("PATCH", `${RULES}/${rule.id}`, { body })).body;

    const keywords = ["cost", "가격"];
    const changed = { ...rule, name: "Costs", keywords, match: "all", message: "Our costs" };
    const { updatedAt: _, ...expected } = { ...changed, updatedAt: "" };
    expect(
      await change({ name: "Costs", keywords, match: "all", message: "Our costs" }),
    ).toMatchObject(expected);
    expect(await change({ mediaIds: null })).toMatchObject({ ...expected, mediaIds: null });
    expect(await change({ mediaIds: ["3"] })).toMatchObject({ ...expected, mediaIds: ["3"] });
  });

  test("no automation rule can be created for an account of a platform without automations or of another workspace", async () => {
    for (const platform of ["x", "bluesky", "youtube", "telegram", "tiktok"]) {
      const answer = await createRule(tenant, await tenant.connect(platform));
      expect([platform, refusalOf(answer)]).toEqual([
        platform,
        "422 validation_failed platform_unsupported",
      ]);
    }
    const theirs = await other.connect("instagram");
    for (const accountId of [theirs, UNKNOWN_ID])
      expect(refusalOf(await createRule(tenant, accountId))).toBe("404 not_found");
  });

  test("a backfill job says what the automation rule would do with each past comment, counts the results correctly and sends no private reply", async () => {
    const media = await publishOn(tenant, "instagram");
    const total = 120;
    for (let index = 0; index < total; index += 1) {
      const text = ["what price?", "price and refund", "nice"][index % 3] ?? "";
      await comment(system, media, `${text} ${index}`, daysAgo(3 - index / total));
    }
    await comment(system, media, "old price", daysAgo(8));
    const excludeKeywords = ["refund"];
    const { body: rule } = await createRule(tenant, media.accountId, { excludeKeywords });
    const query = new URLSearchParams({ ruleId: rule.id, mediaId: media.id }).toString();

    const preview = await tenant.api.call<{ comments: readonly Item[]; nextCursor: string | null }>(
      "GET",
      `${JOBS}/preview?${query}`,
    );
    expect(preview.status).toBe(200);
    expect(
      preview.body.comments.slice(0, 3).map(({ outcome, reason }) => [outcome, reason]),
    ).toEqual([
      ["no_match", null],
      ["skip", "excluded"],
      ["prepare", null],
    ]);
    const next = await tenant.api.call<{ comments: readonly Item[] }>(
      "GET",
      `${JOBS}/preview?${query}&cursor=${preview.body.nextCursor}`,
    );
    const seen = [...preview.body.comments, ...next.body.comments].map((item) => item.comment.id);
    expect(new Set(seen).size).toBe(seen.length);

    const headers = { "idempotency-key": crypto.randomUUID() };
    const body = { ruleId: rule.id, mediaId: media.id };
    const request = () => tenant.api.call<Job>("POST", JOBS, { body, headers });
    const [created, replayed] = [await request(), await request()];
    const path = `${JOBS}/${created.body.id}`;
    expect([created.status, created.headers.get("location")]).toEqual([202, `/api/v1${path}`]);
    expect([replayed.headers.get("idempotent-replayed"), replayed.body.id]).toEqual([
      "true",
      created.body.id,
    ]);
    expect(created.body).toMatchObject({ status: "ready", sending: "blocked" });

    const change = async (action: string) =>
      await tenant.api.call<Job>("PATCH", path, { body: { action } });
    expect((await change("pause")).body.status).toBe("paused");
    expect(refusalOf(await change("prepare_next_page"))).toBe(
      "409 invalid_transition wrong_status",
    );
    expect(refusalOf(await change("pause"))).toBe("409 invalid_transition wrong_status");
    expect((await change("resume")).body.status).toBe("ready");
    let job = created.body;
    while (job.status !== "completed") {
      const answer = await change("prepare_next_page");
      expect(answer.status).toBe(200);
      job = answer.body;
      expect(job.counts.matched).toBe(job.counts.prepared + job.counts.skipped);
      expect(job.counts.matched).toBeLessThanOrEqual(job.counts.scanned);
    }
    expect(job.counts).toEqual({ scanned: 121, matched: 81, prepared: 40, skipped: 41 });
    expect(refusalOf(await change("prepare_next_page"))).toBe(
      "409 invalid_transition wrong_status",
    );

    const results: Item[] = [];
    let cursor: string | null = null;
    do {
      const more: string = cursor === null ? "" : `&cursor=${cursor}`;
      const page: Answer<Job> = await tenant.api.call<Job>("GET", `${path}?limit=50${more}`);
      results.push(...page.body.results);
      cursor = page.body.nextCursor;
    } while (cursor !== null);
    expect(results).toHaveLength(121);
    const times = results.map((item) => Date.parse(item.comment.createdAt));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    expect(results.at(-1)).toMatchObject({ outcome: "skipped", reason: "too_old" });
    const { body: jobs } = await tenant.api.call<{ backfills: readonly object[] }>("GET", JOBS);
    expect(jobs.backfills[0]).toMatchObject({
      id: job.id,
      status: "completed",
      counts: job.counts,
    });
    expect(jobs.backfills[0]).not.toHaveProperty("results");
    expect(await runsOf(tenant, `ruleId=${rule.id}`)).toEqual([]);
    expect(await system.simulator.privateReplies("instagram", media.account)).toEqual([]);
    expect(await system.simulator.countCalls("instagram", "reply", media.account)).toBe(0);
  });
});
