import { expect, test } from "vitest";
import { formatReference } from "./table.ts";

const PORT = {
  name: "PORT",
  type: "whole number",
  default: "`80`",
  isSecret: false,
  about: "Where it listens.",
};
const KEY = {
  name: "KEY",
  type: "text",
  default: "required",
  isSecret: true,
  about: "Opens doors.",
};

test("lists a setting once, with the default of each process that reads it", () => {
  const reference = formatReference(
    [
      { process: "a", settings: [PORT, KEY] },
      { process: "b", settings: [{ ...PORT, default: "" }, KEY] },
      { process: "c", settings: [PORT] },
    ],
    [{ process: "other", settings: [{ ...PORT, default: "the next one" }] }],
  );
  expect(reference).toBe(`## Every service

| setting | value | default | what it does |
| --- | --- | --- | --- |
| \`PORT\` | whole number | a \`80\`, b –, c \`80\` | Where it listens. |

## Several services

| setting | value | default | read by | what it does |
| --- | --- | --- | --- | --- |
| \`KEY\` (secret) | text | required | a, b | Opens doors. |

## other

| setting | value | default | what it does |
| --- | --- | --- | --- |
| \`PORT\` | whole number | the next one | Where it listens. |`);
});

test("rejects a setting without a description", () => {
  const undescribed = { process: "a", settings: [{ ...PORT, about: "" }] };
  expect(() => formatReference([undescribed], [])).toThrow(
    "these settings have no description: PORT of a",
  );
  expect(() => formatReference([], [undescribed])).toThrow(
    "these settings have no description: PORT of a",
  );
});
