import { JSON_TYPE } from "./document.ts";
import { ODD_IDS, ODD_TEXTS } from "./hostile-texts.ts";
import { mutate } from "./mutations.ts";
import { pathKind, type PathValues } from "./pools.ts";
import { rawBody } from "./raw-bodies.ts";
import { jsonBytes, LIMITED_SCOPE, parametersIn, type Change } from "./request.ts";

const changeBody: Change = (draft, operation, { document, judge, random }) => {
  if (operation.body === undefined || draft.body === undefined) return false;
  const { schema } = operation.body;
  const value: unknown = JSON.parse(draft.body.toString());
  const mutant = mutate(document, schema, value, random);
  draft.body = jsonBytes(mutant.value);
  draft.label = mutant.label;
  if (draft.body === undefined) return false;
  // Writing a value as JSON changes numbers such as -0 and texts with unpaired surrogates.
  const isFitting =
    mutant.hasRefusedText !== true &&
    judge.faultsOf(schema, JSON.parse(draft.body.toString())).length === 0;
  // The API limits the size of a body, which no schema expresses.
  const valid = draft.body.length > 100_000 ? "open" : draft.expectation;
  draft.expectation = isFitting ? valid : "invalid";
  return true;
};

const breakBody: Change = (draft, operation, { random }) => {
  if (operation.body === undefined || draft.body === undefined) return false;
  const { label, bytes, headers, isRefused } = rawBody(draft.body.toString(), random);
  const { "content-type": _replaced, ...others } = draft.headers;
  Object.assign(draft, { label, body: bytes, headers: { ...others, ...headers } });
  draft.expectation = isRefused ? "invalid" : draft.expectation;
  return true;
};

const changeQuery: Change = (draft, operation, { judge, random }) => {
  const parameters = parametersIn(operation, "query");
  if (parameters.length === 0 || random.chance(0.1)) {
    draft.query = [...draft.query, [random.pick(["unknown", "limit[]", "__proto__"]), "1"]];
    draft.label = "an unknown query parameter";
    draft.expectation = "invalid";
    return true;
  }
  const { name, schema } = random.pick(parameters);
  if (random.chance(0.15)) {
    draft.query = [...draft.query.filter(([key]) => key !== name), [name, "1"], [name, "1"]];
    draft.label = `the query parameter ${name} twice`;
    draft.expectation = "invalid";
    return true;
  }
  const text = random.pick([...ODD_TEXTS, "1e2", "1.0", "101", "2147483648", "２", "+1", "true"]);
  const isInteger = schema.type === "integer" && /^(0|-?[1-9]\d{0,14})$/.test(text);
  const isFitting = judge.faultsOf(schema, isInteger ? Number(text) : text).length === 0;
  draft.query = [...draft.query.filter(([key]) => key !== name), [name, text]];
  draft.label = `the query parameter ${name}=${JSON.stringify(text.slice(0, 30))}`;
  // A text that fits the schema can still be a cursor or id that does not exist.
  draft.expectation = isFitting ? "open" : "invalid";
  return true;
};

/** Unusual values, most of them invalid, for the request headers that the API describes. */
const HEADER_VALUES: Readonly<Record<string, readonly string[]>> = {
  "Idempotency-Key": ["", "a b", "x".repeat(255), "x".repeat(256), "\u00e9", '"quoted"', "a, b"],
  "If-Match": [
    '"1"',
    '"0"',
    'W/"1"',
    '"1", "2"',
    "1",
    "",
    "*, *",
    '"',
    '"999999999999999999999"',
    "\u00e9",
  ],
  "If-None-Match": ["", '"', "1", '"1"', "\u00e9", `"${"x".repeat(5_000)}"`],
  "X-Workspace-Id": ["", "x", "01936a5e-0000-7000-8000-000000000000", "\u00e9"],
};

const changeHeader: Change = (draft, operation, { judge, random }) => {
  const parameters = parametersIn(operation, "header");
  if (parameters.length === 0) return false;
  const { name, schema } = random.pick(parameters);
  const value = random.pick(HEADER_VALUES[name] ?? [""]);
  draft.headers = { ...draft.headers, [name.toLowerCase()]: value };
  draft.label = `the header ${name}: ${JSON.stringify(value.slice(0, 30))}`;
  const isFitting = judge.faultsOf(schema, value).length === 0;
  draft.expectation = isFitting ? "open" : "invalid";
  return true;
};

const changeId: Change = (draft, _, { random }) => {
  const names = Object.keys(draft.path);
  if (names.length === 0) return false;
  const id = random.pick(ODD_IDS);
  draft.path = { ...draft.path, [random.pick(names)]: id };
  draft.label = `the id ${JSON.stringify(id.slice(0, 40))} in the path`;
  // Some operations check the id last, so an earlier check may decide the answer.
  draft.expectation = "open";
  return true;
};

const useForeignId: Change = (draft, operation, { foreign, random }) => {
  const kind = pathKind(operation.path, operation.id);
  const path = kind === undefined ? undefined : foreign.pick(kind, random);
  if (path === undefined) return false;
  draft.path = path as PathValues;
  draft.label = "ids of another workspace in the path";
  draft.expectation = draft.expectation === "valid" ? "not found" : "open";
  return true;
};

const changeKey: Change = (draft, operation, { keys, random }) => {
  if (operation.scope === undefined || operation.scope === LIMITED_SCOPE) return false;
  const { authorization: _replaced, ...others } = draft.headers;
  const isLimited = random.chance(0.8);
  const wrong = random.pick([
    {},
    { authorization: "Bearer pr_live_x" },
    { authorization: "Basic a" },
  ]);
  draft.headers = {
    ...others,
    ...(isLimited ? { authorization: `Bearer ${keys.limited}` } : wrong),
  };
  draft.label = isLimited ? "a key without scopes for it" : "no valid key";
  draft.expectation = isLimited ? "forbidden" : "unauthenticated";
  return true;
};

const addBody: Change = (draft, operation, { random }) => {
  if (operation.body !== undefined || operation.id === "uploadFile") return false;
  const [text, isRefused] = random.pick([
    ["{}", false],
    ['{"a":1}', true],
    ["[]", true],
    ["null", false],
    ["{", true],
  ] as const);
  const isRead = operation.method !== "GET";
  draft.headers = { ...draft.headers, "content-type": JSON_TYPE };
  Object.assign(draft, { body: Buffer.from(text), label: `the body ${text}` });
  draft.expectation = isRead && isRefused ? "invalid" : "open";
  return true;
};

/** The changes of generated requests, each with the percentage of requests that get it. The other requests stay valid. */
export const CHANGES: readonly (readonly [Change, number])[] = [
  [changeBody, 32],
  [breakBody, 7],
  [changeQuery, 6],
  [changeHeader, 6],
  [changeId, 3],
  [useForeignId, 5],
  [changeKey, 1],
  [addBody, 2],
];
