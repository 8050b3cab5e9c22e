import { isDeepStrictEqual } from "node:util";
import type { Operation } from "./places.ts";

export interface MatrixRequest {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

export interface MatrixAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/**
 * Test requests of one API operation, and ids of another workspace for each place of a request that
 * takes an id.
 */
export interface Fixture {
  /** Valid requests of the calling workspace, one for each branch of the API handler. */
  readonly requests: readonly MatrixRequest[];
  /**
   * For each place of a request that takes an id: real ids of another workspace, and the error that
   * the API must answer. The answer may list more errors.
   */
  readonly foreign: Readonly<
    Record<string, { readonly ids: readonly string[]; readonly refusal: string }>
  >;
}

export type Fixtures = Readonly<Record<string, Fixture>>;

export interface MatrixOptions {
  readonly operations: readonly Operation[];
  readonly fixtures: Fixtures;
  /** Sends a request with the API key of the calling workspace. */
  readonly call: (
    method: string,
    path: string,
    options: Pick<MatrixRequest, "headers" | "body">,
  ) => Promise<MatrixAnswer>;
  /** Returns a hash of the rows of each table in the database. */
  readonly digest: () => Promise<ReadonlyMap<string, string>>;
  /** Texts of the other workspace that no answer to the calling workspace may contain. */
  readonly secrets: readonly string[];
  readonly otherWorkspaceId: string;
}

/**
 * Lists API operations and places of ids for which no test request exists, and test requests whose
 * operation or place is not in the OpenAPI document.
 */
export function findGaps(operations: readonly Operation[], fixtures: Fixtures): readonly string[] {
  const known = new Map(operations.map((operation) => [operation.operationId, operation]));
  const untested = operations.flatMap(({ operationId, places }) => {
    const fixture = fixtures[operationId];
    if (fixture === undefined) return [`${operationId} has no fixture`];
    return places
      .filter((place) => place !== WORKSPACE && fixture.foreign[place] === undefined)
      .map((place) => `${operationId} ${place} has no fixture`);
  });
  const unused = Object.entries(fixtures).flatMap(([operationId, { foreign }]) => {
    const places = known.get(operationId)?.places;
    if (places === undefined) return [`${operationId} is not described`];
    return Object.keys(foreign)
      .filter((place) => !places.includes(place))
      .map((place) => `${operationId} ${place} is not described`);
  });
  return [...untested, ...unused];
}

const WORKSPACE = "header:X-Workspace-Id";

interface Attack {
  readonly operation: Operation;
  readonly request: MatrixRequest;
  readonly place: string;
  readonly id: string;
  readonly refusal: string;
}

/**
 * Calls every API operation with every id of another workspace in every place that takes an id.
 * Returns one text for each problem: an answer is not the expected error, differs from the answer
 * to an invented id, or has data of the other workspace; or a call changed the database.
 */
export async function runMatrix(options: MatrixOptions): Promise<readonly string[]> {
  const problems: string[] = [];
  let before = await options.digest();
  for (const attack of options.operations.flatMap((each) => attacksOn(each, options))) {
    const { faults, after } = await run(options, attack, before);
    problems.push(...faults);
    before = after;
  }
  return problems;
}

function attacksOn(operation: Operation, options: MatrixOptions): readonly Attack[] {
  const { requests, foreign } = options.fixtures[operation.operationId] ?? {
    requests: [],
    foreign: {},
  };
  const workspace = { ids: [options.otherWorkspaceId], refusal: "403 workspace_forbidden" };
  const all = { ...foreign, [WORKSPACE]: workspace };
  return requests.flatMap((request) =>
    Object.entries(all).flatMap(([place, { ids, refusal }]) =>
      ids.flatMap((id) =>
        putInto(request, place, id).map((changed) => ({
          operation,
          request: changed,
          place,
          id,
          refusal,
        })),
      ),
    ),
  );
}

/**
 * Returns the test request with the id in the given place. If the place is in a list, it returns
 * two requests: one with the id alone, and one with the id beside the original items.
 */
function putInto(request: MatrixRequest, place: string, id: string): readonly MatrixRequest[] {
  const [where = "", name = ""] = place.split(":");
  if (where === "path") return [{ ...request, path: { ...request.path, [name]: id } }];
  if (where === "query") return [{ ...request, query: { ...request.query, [name]: id } }];
  if (where === "header") return [{ ...request, headers: { ...request.headers, [name]: id } }];
  const keys = name.slice(1).split("/");
  return putInBody(request.body ?? {}, keys, id).map((body) => ({ ...request, body }));
}

type Members = Readonly<Record<string, unknown>>;

function putInBody(
  members: Members,
  [key = "", ...rest]: readonly string[],
  id: string,
): Members[] {
  const { [key]: before } = members;
  if (key === "*") return [{ ...members, [id]: Object.values(members)[0] ?? {} }];
  if (rest.length > 0)
    return putInBody((before ?? {}) as Members, rest, id).map((inner) => ({
      ...members,
      [key]: inner,
    }));
  if (!Array.isArray(before)) return [{ ...members, [key]: id }];
  return [
    { ...members, [key]: [id] },
    { ...members, [key]: [...(before as unknown[]), id] },
  ];
}

/**
 * Sends a request with an id of another workspace, and one with an invented id, neither of which
 * may change the database.
 *
 * @param before Hash of the rows of each table before the requests.
 */
async function run(
  options: MatrixOptions,
  attack: Attack,
  before: ReadonlyMap<string, string>,
): Promise<{ readonly faults: readonly string[]; readonly after: ReadonlyMap<string, string> }> {
  const { operation, place, id, refusal } = attack;
  const answer = await send(options, operation, attack.request);
  const invented = inventedLike(id);
  const other = await send(options, operation, replaced(attack.request, id, invented));
  const after = await options.digest();
  const faults = [
    ...(`${refusalOf(answer)} `.startsWith(`${refusal} `)
      ? []
      : [`was answered ${refusalOf(answer)}, not ${refusal}`]),
    ...(isDeepStrictEqual(shown(answer, id), shown(other, invented))
      ? []
      : ["was answered differently from an invented id"]),
    ...leaksIn(answer, id, options.secrets),
    ...changedTables(before, after).map((table) => `changed ${table}`),
  ];
  const name = `${operation.operationId} ${place} ${id.slice(0, 36)}`;
  return { faults: faults.map((fault) => `${name}: ${fault}`), after };
}

async function send(
  { call }: MatrixOptions,
  { method, path }: Operation,
  { path: ids = {}, query = {}, headers = {}, body }: MatrixRequest,
): Promise<MatrixAnswer> {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(ids[name] ?? ""),
  );
  const search = new URLSearchParams(query).toString();
  return await call(method, search === "" ? filled : `${filled}?${search}`, {
    headers,
    ...(body === undefined ? {} : { body }),
  });
}

/**
 * Sends the valid requests of the calling workspace. If they fail, requests with ids of the other
 * workspace may also fail, for a reason that has nothing to do with these ids.
 */
export async function runControls(options: MatrixOptions): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const operation of options.operations)
    for (const request of options.fixtures[operation.operationId]?.requests ?? []) {
      const answer = await send(options, operation, request);
      if (answer.status >= 300) problems.push(`${operation.operationId}: ${refusalOf(answer)}`);
      problems.push(
        ...leaksIn(answer, "", options.secrets).map((leak) => `${operation.operationId}: ${leak}`),
      );
    }

  return problems;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7/;
const LAST_LETTERS = "6f";

/** Returns an invented id of the same format as the given id. */
function inventedLike(id: string): string {
  if (UUID.test(id)) return `01936a5e${id.slice(8)}`;
  return `${id.slice(0, -LAST_LETTERS.length)}${LAST_LETTERS}`;
}

function replaced(request: MatrixRequest, id: string, by: string): MatrixRequest {
  return JSON.parse(JSON.stringify(request).replaceAll(id, by)) as MatrixRequest;
}

/**
 * Returns the parts of an answer by which a caller could tell an existing id of another workspace
 * from an invented id.
 */
function shown({ status, body }: MatrixAnswer, id: string) {
  return [status, JSON.stringify(body ?? null).replaceAll(id, "the id")];
}

function leaksIn({ body, headers }: MatrixAnswer, sent: string, secrets: readonly string[]) {
  const text = JSON.stringify([body ?? null, [...headers]]);
  return secrets
    .filter((secret) => secret !== sent && text.includes(secret))
    .map((secret) => `showed ${secret}`);
}

interface Refusal {
  readonly error?: {
    readonly code?: string;
    readonly details?: readonly { readonly code: string }[];
  };
}

function refusalOf({ status, body }: MatrixAnswer): string {
  const { error } = (body ?? {}) as Refusal;
  const codes = error?.details?.map(({ code }) => code) ?? [];
  return [status, error?.code, ...new Set(codes)].filter((part) => part !== undefined).join(" ");
}

function changedTables(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => before.get(name) !== after.get(name));
}
