import { resolve } from "node:path";
import { expect, test } from "vitest";
import { checkRepository, findUnclearWords } from "./language.ts";

test.each([
  ["// Nobody may be waiting for it.", "Nobody"],
  ["`${path} is no JSON`", "is no"],
  ["/**\n * The value is\n * no number.\n */", "is no"],
  ["test('that film fails')", "film"],
  ["interface Workshop {}", "Workshop"],
  ["await closeGently(server)", "Gently"],
  ["runs as `nobody` on Linux", undefined],
  ["news_at timestamptz", "news"],
  ["rpc IssueTicket(IssueTicketRequest)", "Ticket"],
  ["https://example.com/tickets", undefined],
  ["-- Waits so long.", "so long"],
  ["// After so long without a heartbeat.", "so long"],
  ["// As long as the lease is held, the task is no longer claimed.", undefined],
])(
  "the language check, which rejects unclear words, finds in the text %j the word %j",
  (text, found) => {
    expect(findUnclearWords(text).at(0)?.found).toBe(found);
  },
);

test("a finding of the language check names its line and what to write instead", () => {
  expect(findUnclearWords("const a = 1;\n// The platform is away.\n")).toEqual([
    { line: 2, found: "away", advice: 'write "unavailable", or leave it out' },
  ]);
});

test("no file of the repository contains words that the language check rejects", () => {
  expect(checkRepository(resolve(import.meta.dirname, ".."))).toEqual([]);
});
