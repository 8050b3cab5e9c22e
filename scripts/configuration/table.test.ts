import { expect, test } from "vitest";
import { formatReference } from "./table.ts";

const PORT = {
  name: "PORT",
  type: "whole number",
  default: "`80`",
  isSecret: false,
  about: "Port that the process listens on.",
  level: "usual",
} as const;
const KEY = {
  name: "KEY",
  type: "text",
  default: "required",
  isSecret: true,
  about: "Encrypts tokens.",
  level: "needed",
} as const;

test("the reference of settings lists each setting once, grouped by level, with the default of each process", () => {
  const reference = formatReference(
    [
      { process: "a", settings: [PORT, KEY] },
      { process: "b", settings: [{ ...PORT, default: "" }, KEY] },
      { process: "c", settings: [PORT] },
    ],
    [{ process: "other", settings: [{ ...PORT, default: "any free port" }] }],
  );
  expect(reference).toBe(`## Needed

Set these before production. The local stack makes its own.

| setting | value | default | read by | what it does |
| --- | --- | --- | --- | --- |
| \`KEY\` (secret) | text | required | a, b | Encrypts tokens. |

## Usual

Adapt an installation: addresses, Kafka, S3, apps on platforms, limits.

| setting | value | default | read by | what it does |
| --- | --- | --- | --- | --- |
| \`PORT\` | whole number | a \`80\`, b –, c \`80\` | all | Port that the process listens on. |

## other

| setting | value | default | read by | what it does |
| --- | --- | --- | --- | --- |
| \`PORT\` | whole number | any free port | other | Port that the process listens on. |`);
});

test("generating the reference of settings fails when a setting has no description", () => {
  const silent = { process: "a", settings: [{ ...PORT, about: "" }] };
  expect(() => formatReference([silent], [])).toThrow(
    "these settings lack a description: PORT of a",
  );
  expect(() => formatReference([], [silent])).toThrow(
    "these settings lack a description: PORT of a",
  );
});
