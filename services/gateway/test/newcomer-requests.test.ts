import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import type { Admission } from "#src/admission/admission.ts";
import { SCOPES } from "#src/routes/dependencies.ts";
import type { ErrorBody } from "./error-body.ts";
import { admitted, createTestServer, type Peers } from "./fixture.ts";
import { NEWCOMER_CASES, type NewcomerCase } from "./newcomer-cases.ts";

let current: NewcomerCase;
/**
 * A simulated service that refuses every call with the error of the wrong request that is being
 * tested.
 */
const refusing = new Proxy(
  {},
  {
    get: (_, method) => () => {
      throw current.refusal ?? new Error(`"${current.mistake}" called ${String(method)}`);
    },
  },
);
const PEERS: Peers = Object.fromEntries(
  [
    "posts",
    "quota",
    "queueSlots",
    "accounts",
    "accountSettings",
    "platforms",
    "media",
    "webhooks",
    "comments",
    "automations",
    "metrics",
  ].map((name) => [name, refusing]),
);

const admit: Admission["admit"] = () => current.admission ?? admitted({ scopes: new Set(SCOPES) });
const app = await createTestServer(PEERS, admit);
afterAll(() => app.close());

async function answerTo(request: NewcomerCase): Promise<{ status: number } & ErrorBody> {
  current = request;
  const { method, path, headers = {}, body } = request;
  const type = body === undefined ? {} : { "content-type": "application/json" };
  const answer = await app.inject({
    method,
    url: path.startsWith("//") ? path.slice(1) : `/api/v1${path}`,
    headers: { authorization: "Bearer pr_live_x", ...type, ...headers },
    ...(body === undefined
      ? {}
      : { payload: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return { status: answer.statusCode, ...answer.json<ErrorBody>() };
}

function shorten(text: string): string {
  return text.length > 160 ? `${text.slice(0, 120)}… (${text.length} characters)` : text;
}

function describe({ method, path, headers = {}, body }: NewcomerCase): string {
  const lines = Object.entries(headers).map(
    ([name, value]) => `${name}: ${value === "" ? "(none)" : value}`,
  );
  const content =
    body === undefined ? [] : [typeof body === "string" ? body : JSON.stringify(body)];
  return [`${method} ${path.replace(/^\/\//, "/")}`, ...lines, ...content.map(shorten)]
    .map((line) => `\`${line}\``)
    .join("<br>");
}

type Detail = NonNullable<ErrorBody["error"]["details"]>[number];

/**
 * Returns an error detail as JSON for a cell of the table in newcomer-requests.md. The message is
 * left out, because the cell contains it already.
 */
function describeDetail({ message: _message, ...fields }: Detail): string {
  return shorten(JSON.stringify(fields));
}

async function toRows(cases: readonly NewcomerCase[], first: number): Promise<string[]> {
  const rows: string[] = [];
  for (const [index, request] of cases.entries()) {
    const { status, error } = await answerTo(request);
    const { code, message, details = [] } = error;
    const cells = [
      String(first + index),
      request.mistake,
      describe(request),
      `${status} \`${code}\``,
      [message, ...details.map((detail) => `\`${describeDetail(detail)}\``)].join("<br>"),
    ];
    rows.push(`| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`);
  }
  return rows;
}

test("newcomer-requests.md, the table of wrong requests and their answers, is up to date", async () => {
  const sections: string[] = [];
  let count = 0;
  for (const [title, cases] of Object.entries(NEWCOMER_CASES)) {
    const rows = await toRows(cases, count + 1);
    count += rows.length;
    const head = "| | mistake | request | answer | what the answer says |\n|---|---|---|---|---|";
    sections.push(`## ${title}\n\n${head}\n${rows.join("\n")}\n`);
  }
  const path = new URL("newcomer-requests.md", import.meta.url);
  const intro =
    "# Wrong requests of newcomers\n\nThis table is written by `newcomer-requests.test.ts` (`vitest -u`). Each answer must say what to send instead. Paths are below `/api/v1`.\n";
  await expect([intro, ...sections].join("\n")).toMatchFileSnapshot(fileURLToPath(path));
  expect(count).toBeGreaterThanOrEqual(100);
});

/** Matches the verb of a sentence that says what to do, such as "Send". */
const IMPERATIVE =
  /(?:^|[.;:,] |and |or )(?:[Aa]dd|[Aa]sk|[Cc]hange|[Cc]hoose|[Cc]omplete|[Cc]orrect|[Cc]reate|[Cc]ut|[Dd]elete|[Ll]eave|[Ll]ook|[Nn]ame|[Rr]ead|[Rr]emove|[Ss]end|[Ss]et|[Ss]horten|[Ss]tart|[Ss]wap|[Tt]ake|[Uu]se|[Ww]ait)\b/;
/**
 * Matches the words that a text of the error catalogue shows in place of a parameter that is
 * missing.
 */
const UNKNOWN = /API description names|one that the Allow header/;

const ALL = Object.values(NEWCOMER_CASES).flat();

test("there are 100 wrong requests, each with a different mistake", () => {
  expect(ALL).toHaveLength(100);
  expect(new Set(ALL.map(({ mistake }) => mistake)).size).toBe(100);
});

test("each answer to a wrong request, and each of its details, says what to send instead", async () => {
  const unhelpful: string[] = [];
  for (const request of ALL) {
    const { status, error } = await answerTo(request);
    const texts = [error.message, ...(error.details ?? []).map(({ message }) => String(message))];
    const faulty = texts.filter((text) => !IMPERATIVE.test(text) || UNKNOWN.test(text));
    if (status < 400 || status >= 500 || faulty.length > 0)
      unhelpful.push(`${request.mistake}: ${status} ${faulty.join(" / ")}`);
  }
  expect(unhelpful).toEqual([]);
});

/**
 * Error details with these codes are about a wrong value. Besides their message, they have a field
 * that describes a valid value.
 */
const ABOUT_VALUES = new Set([
  "type",
  "format",
  "required",
  "not_allowed",
  "additional_property",
  "invalid",
  "too_large",
  "too_small",
  "too_long",
  "min_items",
  "min_properties",
  "invalid_header",
]);
const VALUES = ["expected", "allowed", "limit", "minimum", "maximum"];

test("each error detail about a wrong value has, besides its message, a field that describes a valid value for programs", async () => {
  const bare: string[] = [];
  for (const request of ALL) {
    const { error } = await answerTo(request);
    for (const detail of error.details ?? []) {
      const isFixed = !ABOUT_VALUES.has(detail.code) || VALUES.some((name) => name in detail);
      if (!isFixed) bare.push(`${request.mistake}: ${JSON.stringify(detail)}`);
    }
  }
  expect(bare).toEqual([]);
});
