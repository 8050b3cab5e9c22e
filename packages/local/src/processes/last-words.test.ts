import { expect, test } from "vitest";
import { lastWords } from "#src/processes/last-words.ts";

test("the message about a failed process of the local stack quotes the last error of the log in one line without the stack trace", () => {
  const log = [
    '{"level":"info","msg":"starting"}',
    "Error: an older one",
    "    at file:///a.ts:1:1",
    "ConfigError: The configuration has 2 fault(s):",
    "  - PORT is required",
    "  - MEDIA_KEY needs at least 32 characters",
    "    at loadConfig (file:///config.ts:1:1)",
    "",
    "Node.js v24.21.0",
    "",
  ].join("\n");

  expect(lastWords(log)).toBe(
    "ConfigError: The configuration has 2 fault(s): - PORT is required - MEDIA_KEY needs at least 32 characters",
  );
});

test("the message about a failed process of the local stack quotes nothing from a log that contains no error", () => {
  expect(lastWords('{"level":"info","msg":"Error: quoted"}\n')).toBe("");
});
