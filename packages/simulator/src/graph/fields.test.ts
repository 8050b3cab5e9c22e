import { expect, test } from "vitest";
import { nestedPage } from "#src/graph/paging.ts";
import { parseFields, pick } from "#src/graph/parameters.ts";
import { Refused } from "#src/http/call.ts";

test("the simulator parses nested fields and field modifiers of a Graph API call", () => {
  const [id, replies, insights] = parseFields(
    "id,replies.limit(5).order(reverse){id,from{id}},insights.metric(views,reach)",
  );
  expect(id?.name).toBe("id");
  expect(replies).toMatchObject({ name: "replies", fields: [{ name: "id" }, { name: "from" }] });
  expect([...(replies?.modifiers ?? [])]).toEqual([
    ["limit", "5"],
    ["order", "reverse"],
  ]);
  expect(insights?.modifiers.get("metric")).toBe("views,reach");
});

test("the simulator refuses a field that a Graph API result or a nested list does not have", () => {
  const view = {
    id: "1",
    replies: (field: Parameters<typeof nestedPage>[1]) => nestedPage([{ id: "2" }], field, ["id"]),
  };
  expect(() => pick(parseFields("text"), view)).toThrow(Refused);
  expect(() => pick(parseFields("replies{text}"), view)).toThrow(Refused);
  expect(() => pick(parseFields("replies{"), view)).toThrow(Refused);
  expect(pick(parseFields("replies{id}"), view)).toMatchObject({
    replies: { data: [{ id: "2" }] },
  });
});

test("a nested list of a Graph API result has at most as many items as requested, and says that there are more", () => {
  const items = ["1", "2", "3"].map((id) => ({ id }));
  const pageOf = (text: string) => pick(parseFields(text), { id: "0", replies: expand })["replies"];
  const expand = (field: Parameters<typeof nestedPage>[1]) => nestedPage(items, field, ["id"]);
  expect(pageOf("replies.limit(2)")).toMatchObject({
    data: [{ id: "1" }, { id: "2" }],
    paging: { next: expect.any(String) as string },
  });
  expect(pageOf("replies.limit(3)")).not.toHaveProperty("paging.next");
});
