import type { PostSummary } from "@postrider/client";
import { expect, test } from "vitest";
import { postsByTime } from "./slot-weeks.ts";

test("a post stands at its time, unless it has none or was cancelled", () => {
  const at = "2026-12-03T09:00:00.000Z";
  const post = { id: "p", status: "scheduled", scheduledAt: at } as PostSummary;
  const cancelled = { ...post, id: "c", status: "cancelled" } as PostSummary;
  const draft = { ...post, id: "d", status: "draft", scheduledAt: null } as PostSummary;
  expect([...postsByTime([post, cancelled, draft])]).toEqual([[Date.parse(at), post]]);
});
