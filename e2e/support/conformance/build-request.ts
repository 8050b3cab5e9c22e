import { CHANGES } from "./changes.ts";
import { JSON_TYPE, type Operation } from "./document.ts";
import { pathKind, type PathValues } from "./pools.ts";
import { randomId, type Random } from "./random.ts";
import {
  jsonBytes,
  parametersIn,
  type Change,
  type Draft,
  type GeneratedRequest,
  type Workbench,
} from "./request.ts";
import { valueFor, type ValueOptions } from "./schema-values.ts";

function optionsOf({ document, random, chooser, nowMs }: Workbench): ValueOptions {
  return { document, random, nowMs, choose: (field) => chooser.choose(field) };
}

/** Returns a JSON body that fits its schema, including the conditions that the schema has between fields. */
function validBody(operation: Operation, bench: Workbench): unknown {
  if (operation.body === undefined) return undefined;
  const { schema } = operation.body;
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const value = valueFor(schema, optionsOf(bench));
    if (bench.judge.faultsOf(schema, value).length === 0) return value;
  }
  throw new Error(`no valid body of ${operation.id} was found`);
}

function validQuery(operation: Operation, bench: Workbench): Draft["query"] {
  const { random, chooser } = bench;
  const chosen = parametersIn(operation, "query").filter(
    ({ required }) => required === true || random.chance(0.3),
  );
  const query = chosen.flatMap(({ name, schema }): Draft["query"] => {
    const field = `${operation.id}.${name}`;
    const value = chooser.choose(field);
    if (value === undefined && name === "cursor") return [];
    return [[name, String(value ?? valueFor(schema, optionsOf(bench), field))]];
  });
  // The API description allows `timeoutSeconds` only together with `waitFor`.
  const waits = query.some(([name]) => name === "waitFor");
  return query.filter(([name]) => name !== "timeoutSeconds" || waits);
}

function validHeaders({ id, parameters }: Operation, { random, pools }: Workbench) {
  const has = (name: string) => parameters.some((parameter) => parameter.name === name);
  const headers: Record<string, string> = {};
  if (has("Idempotency-Key") && random.chance(0.5)) headers["idempotency-key"] = randomId(random);
  const etag = pools.pick(`etag ${id}`, random) as string | undefined;
  if (has("If-None-Match") && random.chance(0.3))
    headers["if-none-match"] = random.pick(["*", '"a"', 'W/"b", "c"', etag ?? '"d"']);
  if (has("If-Match") && random.chance(0.2)) headers["if-match"] = "*";
  if (random.chance(0.2))
    headers["accept-language"] = random.pick(["ko", "en", "ko-KR,en;q=0.5", "*", "xx"]);
  if (random.chance(0.2))
    headers["accept-encoding"] = random.pick(["gzip", "br, gzip", "identity"]);
  return headers;
}

function pickChange(random: Random): Change | undefined {
  let left = random.int(0, 99);
  for (const [change, weight] of CHANGES) {
    left -= weight;
    if (left < 0) return change;
  }
  return undefined;
}

/** Builds a request of the operation: a valid one, or one with a change from `CHANGES`, which makes most requests invalid. */
export function buildRequest(operation: Operation, bench: Workbench): GeneratedRequest {
  const { random, pools, keys } = bench;
  const kind = pathKind(operation.path, operation.id);
  const names = parametersIn(operation, "path").map(({ name }) => name);
  const unknown = Object.fromEntries(names.map((name) => [name, randomId(random)]));
  const known = kind === undefined ? {} : (pools.pick(kind, random) as PathValues | undefined);
  const value = validBody(operation, bench);
  const isLeftOut = operation.body?.isRequired === false && random.chance(0.5);
  const body = isLeftOut ? undefined : jsonBytes(value);
  const draft: Draft = {
    path: known === undefined || random.chance(0.03) ? unknown : known,
    query: validQuery(operation, bench),
    headers: {
      authorization: `Bearer ${keys.full}`,
      ...(body === undefined ? {} : { "content-type": JSON_TYPE }),
      ...validHeaders(operation, bench),
    },
    body,
    expectation: "valid",
    label: "valid",
  };
  pickChange(random)?.(draft, operation, bench);
  return { operation, ...finish(draft, operation) };
}

function finish(draft: Draft, operation: Operation) {
  const { path, query, headers, body, expectation, label } = draft;
  const filled = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    name === "uploadPath" ? encodeURI(path[name] ?? "") : encodeURIComponent(path[name] ?? ""),
  );
  const search = new URLSearchParams(
    query.map(([name, value]): [string, string] => [name, value]),
  ).toString();
  const target = search === "" ? filled : `${filled}?${search}`;
  return { path, target, headers, expectation, label, ...(body === undefined ? {} : { body }) };
}
