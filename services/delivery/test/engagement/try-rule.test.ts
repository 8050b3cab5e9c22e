import { runInContext } from "@postrider/shared/telemetry/request-context";
import { afterAll, expect, test } from "vitest";
import { startAutomations } from "./automation-fixture.ts";

const stage = await startAutomations();
afterAll(() => stage[Symbol.asyncDispose]());

const RULE = { keywords: ["price", "가격"], match: "any", excludeKeywords: ["환불"] };

test.each([
  ["What is the PRICE?", "reply", ["price"], []],
  ["가격이 얼마예요?", "reply", ["가격"], []],
  ["priceless", "no_match", [], []],
  ["가격, price, 환불", "excluded", ["price", "가격"], ["환불"]],
  ["환불해 주세요", "no_match", [], ["환불"]],
])(
  "the text %j tried against a rule has the outcome %s",
  async (text, outcome, keywords, excluded) => {
    const answer = await stage.rpc.tryRule({ ...RULE, text });
    expect(answer).toMatchObject({ outcome, keywords, excluded, isSendingEnabled: true });
  },
);

test("a rule that needs all of its words, or one as the whole text, is tried as such", async () => {
  const all = { ...RULE, match: "all" };
  expect(await stage.rpc.tryRule({ ...all, text: "price" })).toMatchObject({
    outcome: "no_match",
    keywords: ["price"],
  });
  expect(await stage.rpc.tryRule({ ...all, text: "가격 price" })).toMatchObject({
    outcome: "reply",
  });
  const exact = { ...RULE, match: "exact" };
  expect(await stage.rpc.tryRule({ ...exact, text: " Price " })).toMatchObject({
    outcome: "reply",
  });
  expect(await stage.rpc.tryRule({ ...exact, text: "the price" })).toMatchObject({
    outcome: "no_match",
    keywords: [],
  });
});

test.each([
  [{ ...RULE, match: "some" }],
  [{ ...RULE, keywords: [] }],
  [{ ...RULE, keywords: Array(51).fill("a") as string[] }],
  [{ ...RULE, keywords: ["\ufdfa".repeat(100)] }],
  [{ ...RULE, excludeKeywords: [" "] }],
])("a rule that cannot exist cannot be tried", async (rule) => {
  const call = stage.rpc.tryRule({ ...rule, text: "price" });
  await expect(call).rejects.toMatchObject({ reason: "invalid_request" });
});

test("trying a rule stores nothing and calls no platform", async () => {
  await stage.rpc.tryRule({ ...RULE, text: "price" });
  expect(await stage.sql`select 1 from automation_runs`).toEqual([]);
  expect(await stage.sql`select 1 from comment_actions`).toEqual([]);
  expect(stage.platform.calls).toEqual([]);
});

test("the trials of a workspace are made one after the other, and one of another workspace does not wait for them", async () => {
  // Then a trial needs no connection to the database, whose opening would decide the order.
  await using idle = await startAutomations({ isSendingEnabled: false });
  const tryIn = (workspaceId: string) =>
    runInContext({ requestId: workspaceId, workspaceId }, () =>
      idle.rpc.tryRule({ ...RULE, text: "price" }),
    );
  let ended = 0;
  const many = Array.from({ length: 20 }, async () => {
    await tryIn("many");
    ended += 1;
  });
  await tryIn("one");
  expect(ended).toBeLessThan(5);
  await Promise.all(many);
});
