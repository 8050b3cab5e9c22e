import { expect, test, vi } from "vitest";

vi.stubGlobal("location", { origin: "http://127.0.0.1" });
const { readBudget } = await import("./status-api.ts");

test("the budget of requests is read from the headers of an answer", () => {
  const headers = new Headers({
    "ratelimit-policy": '"workspace";q=600;w=60',
    ratelimit: '"workspace";r=593;t=12',
  });
  expect(readBudget(headers)).toEqual({ limit: 600, remaining: 593 });
});

test("an answer without these headers says nothing of the budget", () => {
  expect(readBudget(new Headers())).toBeUndefined();
});
