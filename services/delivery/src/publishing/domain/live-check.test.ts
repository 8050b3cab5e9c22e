import { expect, test } from "vitest";
import { toSteps, type LiveCheck } from "./live-check.ts";

const DAY = new Date("2026-07-01T00:00:00Z");
const read = (name: string) => ({ name, status: "ok", found: "", tookMs: 1 }) as const;
const ENDED = { errorCode: null, errorMessage: null, updatedAt: DAY };

function namesWhile(deletion: "queued" | "deleted"): readonly string[] {
  const check: LiveCheck = {
    text: "text",
    task: { ...ENDED, status: "published", openUnknowns: 0, externalId: "1", permalink: null },
    attempts: [],
    deletion: { ...ENDED, status: deletion },
    readBefore: [read("find it")],
    readAfter: [read("find it no longer")],
    canDelete: true,
    staysUnpublished: false,
  };
  return toSteps(check).map(({ name }) => name);
}

test("a step of a live check that is shown never gets another one before it", () => {
  const early = namesWhile("queued");
  const late = namesWhile("deleted");

  expect(early).toEqual(["find it"]);
  expect(late).toEqual(["find it", "delete it", "find it no longer"]);
});
