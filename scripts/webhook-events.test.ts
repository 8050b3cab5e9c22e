import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { WEBHOOK_EVENTS } from "../packages/rest/src/webhooks/events.ts";

test("docs/webhooks.md lists exactly the event types that the API description has", () => {
  const page = readFileSync(join(import.meta.dirname, "../docs/webhooks.md"), "utf8");
  const listed = [...page.matchAll(/^\| `([a-z_]+\.[a-z_]+)` \| /gm)].map(([, type = ""]) => type);
  expect(listed).toEqual(WEBHOOK_EVENTS.map(({ type }) => type));
});
