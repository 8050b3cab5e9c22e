import { newId } from "@postrider/shared/ids";
import { afterAll, describe, expect, test } from "vitest";
import { skipStoppedRuns } from "#src/engagement/jobs/end-waiting-runs.ts";
import { newRule, startAutomations } from "./automation-fixture.ts";

const automations = await startAutomations();
afterAll(() => automations[Symbol.asyncDispose]());

async function createRule(given: object = {}) {
  const { rpc, platform } = automations;
  const workspaceId = newId();
  const accountId = platform.connectAccount(workspaceId);
  const { rule } = await rpc.createAutomationRule({
    ...newRule(workspaceId, accountId),
    ...given,
  });
  if (rule === undefined) throw new Error("the answer has no rule");
  return { workspaceId, accountId, rule, ruleId: rule.id };
}

test("a new automation rule is a draft with the fields of the request", async () => {
  const { accountId, rule, workspaceId } = await createRule({ match: "", media: { ids: ["m1"] } });

  expect(rule).toMatchObject({
    accountId,
    name: "Guide",
    media: { ids: ["m1"] },
    keywords: ["link"],
    match: "any",
    excludeKeywords: ["spam"],
    status: "draft",
  });
  const { rules } = await automations.rpc.listAutomationRules({ workspaceId });
  expect(rules).toEqual([rule]);
});

describe("an automation rule accepts only the changes that its status allows:", () => {
  test.each([
    [["active"], "active"],
    [["active", "paused"], "paused"],
    [["active", "paused", "active"], "active"],
    [["revoked"], "revoked"],
    [["active", "revoked"], "revoked"],
    [["active", "paused", "revoked"], "revoked"],
    [["active", "active"], "active"],
    [["active", "paused", "paused"], "paused"],
    [["revoked", "revoked"], "revoked"],
    [["draft"], "draft"],
    [["paused"], "invalid_transition"],
    [["active", "draft"], "invalid_transition"],
    [["revoked", "active"], "invalid_transition"],
    [["revoked", "paused"], "invalid_transition"],
  ])("the changes %j end with %s", async (statuses, expected) => {
    const { workspaceId, ruleId } = await createRule();
    let last = "";
    for (const status of statuses) {
      const update = automations.rpc.updateAutomationRule({ workspaceId, ruleId, status });
      last = await update.then(({ rule }) => rule?.status ?? "", reasonOf);
    }
    expect(last).toBe(expected);
  });
});

function reasonOf(error: unknown): string {
  return error instanceof Error && "reason" in error ? String(error.reason) : String(error);
}

test("the fields of an automation rule can be changed until the rule is revoked", async () => {
  const { workspaceId, ruleId } = await createRule({ media: { ids: ["m1"] } });
  const update = (change: object) =>
    automations.rpc.updateAutomationRule({ workspaceId, ruleId, ...change });

  const { rule } = await update({
    name: "Other",
    allMedia: true,
    keywords: { words: ["a", "b"] },
    match: "all",
    excludeKeywords: { words: [] },
    message: "new",
    status: "active",
  });
  expect(rule).toMatchObject({
    name: "Other",
    keywords: ["a", "b"],
    match: "all",
    excludeKeywords: [],
    message: "new",
    status: "active",
  });
  expect(rule?.media).toBeUndefined();
  await update({ status: "revoked" });
  await expect(update({ name: "x" })).rejects.toMatchObject({ reason: "invalid_transition" });
  const { rules } = await automations.rpc.listAutomationRules({ workspaceId });
  expect(rules).toEqual([]);
});

test.each([
  ["no name", { name: " " }, "/name"],
  ["a name of 201 characters", { name: "x".repeat(201) }, "/name"],
  ["no keywords", { keywords: [] }, "/keywords"],
  ["51 keywords", { keywords: Array.from({ length: 51 }, (_, i) => `k${i}`) }, "/keywords"],
  ["an empty keyword", { keywords: ["a", " "] }, "/keywords/1"],
  [
    "a keyword that stands for over 200 characters",
    { keywords: ["\ufdfa".repeat(12)] },
    "/keywords/0",
  ],
  ["a keyword of 101 characters", { keywords: ["🎣".repeat(101)] }, "/keywords/0"],
  ["51 excluded words", { excludeKeywords: Array(51).fill("x") }, "/excludeKeywords"],
  ["an unknown mode", { match: "some" }, "/match"],
  ["no message", { message: "" }, "/message"],
  ["a message of 1,001 bytes", { message: `${"é".repeat(500)}a` }, "/message"],
  ["101 media", { media: { ids: Array.from({ length: 101 }, (_, i) => `m${i}`) } }, "/mediaIds"],
  ["a media id of 513 characters", { media: { ids: ["m".repeat(513)] } }, "/mediaIds"],
  ["media twice", { media: { ids: ["m", "m"] } }, "/mediaIds"],
])("a request to create an automation rule with %s is refused", async (_, given, path) => {
  await expect(createRule(given)).rejects.toMatchObject({
    reason: "invalid_request",
    violations: [expect.objectContaining({ path })],
  });
});

test("an automation rule with a message of 1,000 bytes and 50 keywords is accepted", async () => {
  const keywords = Array.from({ length: 50 }, (_, index) => `keyword ${index}`);
  const { rule } = await createRule({ message: "é".repeat(500), keywords });
  expect(rule.keywords).toEqual(keywords);
});

test("CreateAutomationRule accepts the longest texts that the REST API accepts, counted in characters", async () => {
  const longest = {
    name: "🎣".repeat(200),
    keywords: ["🎣".repeat(100)],
    excludeKeywords: ["🐟".repeat(100)],
    media: { ids: ["m".repeat(512)] },
  };
  const { rule } = await createRule(longest);
  expect(rule).toMatchObject(longest);
});

test("an automation rule can be created only for a connected account of the workspace on a platform with private replies", async () => {
  const { rpc, platform } = automations;
  const workspaceId = newId();
  const create = (accountId: string) =>
    rpc.createAutomationRule(newRule(workspaceId, accountId)).then(() => "created", reasonOf);
  const disconnected = platform.connectAccount(workspaceId);
  platform.accounts.set(disconnected, {
    workspaceId,
    platform: "instagram",
    status: "disconnected",
  });

  expect(await create(newId())).toBe("not_found");
  expect(await create("x")).toBe("not_found");
  expect(await create(platform.connectAccount(newId()))).toBe("not_found");
  expect(await create(disconnected)).toBe("not_found");
  const unsupported = platform.connectAccount(workspaceId, "youtube");
  await expect(rpc.createAutomationRule(newRule(workspaceId, unsupported))).rejects.toMatchObject({
    reason: "validation_failed",
    violations: [
      expect.objectContaining({
        code: "platform_unsupported",
        accountId: unsupported,
        platform: "youtube",
      }),
    ],
  });
});

test("repeated requests with the same idempotency key create one automation rule", async () => {
  const { rpc, platform } = automations;
  const workspaceId = newId();
  const accountId = platform.connectAccount(workspaceId);
  const idempotency = { key: "k", fingerprint: "f" };
  const request = { ...newRule(workspaceId, accountId), idempotency };

  const all = await Promise.all([
    rpc.createAutomationRule(request),
    rpc.createAutomationRule(request),
  ]);
  expect(all.filter(({ replayed }) => replayed)).toHaveLength(1);
  expect(new Set(all.map(({ rule }) => rule?.id)).size).toBe(1);
  const other = { ...request, idempotency: { key: "k", fingerprint: "g" } };
  await expect(rpc.createAutomationRule(other)).rejects.toMatchObject({
    reason: "idempotency_key_reused",
  });
});

test("a workspace has at most 100 automation rules that are not revoked", async () => {
  const { rpc, platform, sql } = automations;
  const workspaceId = newId();
  const accountId = platform.connectAccount(workspaceId);
  const { rule } = await rpc.createAutomationRule(newRule(workspaceId, accountId));
  await sql`
    insert into automation_rules (
      id, workspace_id, account_id, platform, name, keywords, match, exclude_keywords, message, created_at, updated_at
    )
    select gen_random_uuid(), workspace_id, account_id, platform, name, keywords, match, exclude_keywords, message,
      created_at, updated_at
    from automation_rules, generate_series(1, 99)
    where workspace_id = ${workspaceId}`;
  await expect(rpc.createAutomationRule(newRule(workspaceId, accountId))).rejects.toMatchObject({
    reason: "validation_failed",
    violations: [expect.objectContaining({ code: "too_many_rules", limit: 100, actual: 101 })],
  });
  await rpc.updateAutomationRule({ workspaceId, ruleId: rule?.id ?? "", status: "revoked" });
  await rpc.createAutomationRule(newRule(workspaceId, accountId));
});

test.each([[["revoked"]], [["active", "revoked"]], [["active", "paused", "revoked"]]])(
  "an automation rule with the changes %j keeps no words, media and message",
  async (statuses) => {
    const { rpc, sql, deps } = automations;
    const { workspaceId, ruleId } = await createRule({ match: "all", media: { ids: ["m1"] } });
    for (const status of statuses) await rpc.updateAutomationRule({ workspaceId, ruleId, status });
    while (await skipStoppedRuns(deps));
    const [row] = await sql`
      select media_ids, to_json(keywords) as keywords, match, to_json(exclude_keywords) as excluded, message
      from automation_rules
      where id = ${ruleId}`;
    expect(row).toEqual({ mediaIds: null, keywords: [], match: "any", excluded: [], message: "" });
  },
);

test("a workspace that has created 1,000 automation rules in a day has to wait, also if all are revoked", async () => {
  const { rpc, platform, sql } = automations;
  const workspaceId = newId();
  const accountId = platform.connectAccount(workspaceId);
  await rpc.createAutomationRule(newRule(workspaceId, accountId));
  await sql`
    insert into automation_rules (
      id, workspace_id, account_id, platform, name, keywords, match, exclude_keywords, message, status, created_at, updated_at
    )
    select gen_random_uuid(), workspace_id, account_id, platform, name, keywords, match, exclude_keywords, message,
      'revoked', created_at, updated_at
    from automation_rules, generate_series(1, 999)
    where workspace_id = ${workspaceId}`;
  await expect(rpc.createAutomationRule(newRule(workspaceId, accountId))).rejects.toMatchObject({
    reason: "rate_limited",
  });
  await sql`
    update automation_rules
    set created_at = now() - interval '25 hours'
    where workspace_id = ${workspaceId}
    and status = 'revoked'`;
  await rpc.createAutomationRule(newRule(workspaceId, accountId));
});

test("automation rules of other workspaces and their runs cannot be read or changed", async () => {
  const { rpc } = automations;
  const { ruleId } = await createRule();
  const workspaceId = newId();

  await expect(
    rpc.updateAutomationRule({ workspaceId, ruleId, status: "active" }),
  ).rejects.toMatchObject({ reason: "not_found" });
  await expect(rpc.listAutomationRuns({ workspaceId, ruleId })).rejects.toMatchObject({
    reason: "not_found",
  });
  await expect(rpc.previewBackfill({ workspaceId, ruleId, mediaId: "m" })).rejects.toMatchObject({
    reason: "not_found",
  });
  await expect(rpc.createBackfill({ workspaceId, ruleId, mediaId: "m" })).rejects.toMatchObject({
    reason: "not_found",
  });
});

test("the pages of the list of automation rules contain every rule, and a cursor is valid in one workspace only", async () => {
  const { rpc } = automations;
  const { workspaceId, accountId, rule } = await createRule();
  const second = await rpc.createAutomationRule(newRule(workspaceId, accountId));
  const first = await rpc.listAutomationRules({ workspaceId, limit: 1 });
  expect(first.rules.map(({ id }) => id)).toEqual([second.rule?.id]);
  const cursor = first.nextCursor ?? "";
  const next = await rpc.listAutomationRules({ workspaceId, limit: 1, cursor });
  expect(next.rules.map(({ id }) => id)).toEqual([rule.id]);
  expect(next.nextCursor).toBeUndefined();
  await expect(rpc.listAutomationRules({ workspaceId: newId(), cursor })).rejects.toMatchObject({
    reason: "invalid_cursor",
  });
  await expect(rpc.listAutomationRuns({ workspaceId, cursor })).rejects.toMatchObject({
    reason: "invalid_cursor",
  });
});

test("the audit log contains changes of automation rules without their keywords and messages", async () => {
  const { rpc, sql } = automations;
  const { workspaceId, ruleId } = await createRule();
  await rpc.updateAutomationRule({ workspaceId, ruleId, status: "active", message: "secret" });
  await rpc.updateAutomationRule({ workspaceId, ruleId, status: "active" });
  await rpc.updateAutomationRule({ workspaceId, ruleId, status: "revoked" });

  const entries = await sql`
    select action, details - 'accountId' as details
    from audit_log
    where subject_id = ${ruleId}
    order by id`;
  expect(entries).toEqual([
    { action: "automation_rule.create", details: {} },
    {
      action: "automation_rule.update",
      details: { changed: ["message"], before: "draft", after: "active" },
    },
    {
      action: "automation_rule.revoke",
      details: { changed: [], before: "active", after: "revoked" },
    },
  ]);
});
