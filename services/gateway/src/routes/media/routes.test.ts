import { LONGEST_REQUEST_MS, SETTLE_SECONDS } from "@postrider/shared/workspaces/settle";
import fastify from "fastify";
import { expect, test } from "vitest";
import { USABLE_MS } from "#src/admission/known-keys.ts";
import { registerMedia } from "#src/routes/media/routes.ts";

test("the removal and the export of a stopped workspace begin only when the longest request has ended that a gateway can have admitted", async () => {
  await using api = fastify();
  const limits: number[] = [];
  api.addHook("onRoute", ({ config }) => void limits.push(config?.timeoutMs ?? 0));
  registerMedia(api, {} as never);
  expect(Math.max(...limits)).toBe(LONGEST_REQUEST_MS);
  expect(SETTLE_SECONDS * 1000).toBeGreaterThan(LONGEST_REQUEST_MS + USABLE_MS);
});
