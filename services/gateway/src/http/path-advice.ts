/**
 * Maximum length, in characters, of an unknown path that is compared with the known paths. For a
 * longer path, no similar one is proposed.
 */
const MAX_LENGTH = 80;
/**
 * Maximum number of characters in which an unknown path may differ from a known path that is
 * proposed instead.
 */
const MAX_DISTANCE = 4;

/**
 * Returns how many characters must be added, removed or replaced to turn one text into another;
 * Infinity if they are more than `max`. Only the part of the table in which the distance can be
 * `max` or less is computed.
 */
export function distance(a: string, b: string, max: number): number {
  if (Math.abs(a.length - b.length) > max) return Infinity;
  let row = Array.from({ length: b.length + 1 }, (_, index) => (index <= max ? index : Infinity));
  for (let index = 0; index < a.length; index += 1) {
    row = nextRow(row, { character: a.charAt(index), index, b, max });
    if (row.every((each) => each > max)) return Infinity;
  }
  const found = row[b.length] ?? Infinity;
  return found <= max ? found : Infinity;
}

interface Step {
  readonly character: string;
  readonly index: number;
  readonly b: string;
  readonly max: number;
}

function nextRow(row: readonly number[], { character, index, b, max }: Step): number[] {
  const next = Array.from({ length: b.length + 1 }, () => Infinity);
  if (index < max) next[0] = index + 1;
  const last = Math.min(b.length, index + 1 + max);
  for (let column = Math.max(1, index + 1 - max); column <= last; column += 1) {
    const replaced = (row[column - 1] ?? Infinity) + (b.charAt(column - 1) === character ? 0 : 1);
    const removed = (row[column] ?? Infinity) + 1;
    next[column] = Math.min(replaced, removed, (next[column - 1] ?? Infinity) + 1);
  }
  return next;
}

/** Returns the known path that is most similar to a path; undefined if none is similar. */
export function findSimilarPath(path: string, known: Iterable<string>): string | undefined {
  if (path.length > MAX_LENGTH) return undefined;
  let best: string | undefined;
  let max = MAX_DISTANCE;
  for (const candidate of known) {
    const found = distance(path, candidate, max);
    if (found > max) continue;
    best = candidate;
    // A later path must be more similar.
    max = found - 1;
    if (max < 0) break;
  }
  return best;
}

/** A path of the API with the methods that it supports. */
export interface KnownPath {
  /** The path as routes write it, with `:id` for an id. */
  readonly url: string;
  readonly pattern: RegExp;
  readonly methods: ReadonlySet<string>;
}

/**
 * For a method that the path does not support: the methods to propose instead, the most similar
 * first. DELETE is never proposed for another method.
 */
const SIMILAR: Readonly<Partial<Record<string, readonly string[]>>> = {
  GET: ["POST"],
  HEAD: ["GET"],
  PUT: ["PATCH", "POST", "GET"],
  PATCH: ["PUT", "POST", "GET"],
  POST: ["PATCH", "PUT", "GET"],
  DELETE: ["GET"],
};
/**
 * Methods that a client sends to the path of a list although it probably means one resource of the
 * list.
 */
const OF_RESOURCES: ReadonlySet<string> = new Set(["PUT", "PATCH", "DELETE"]);

function parentsOf(path: string): string[] {
  const parts = path.split("/");
  return parts.map((_, index) => parts.slice(0, -index).join("/")).slice(1, -1);
}

/**
 * Returns the methods of the resources of a list, from the path of the list; undefined if the path
 * is not that of a list.
 */
function methodsOfResource(
  path: string,
  known: readonly KnownPath[],
): ReadonlySet<string> | undefined {
  return known.find(({ url, pattern }) => /\/:\w+$/.test(url) && pattern.test(`${path}/id`))
    ?.methods;
}

/**
 * For a method that a path does not support: returns the operation that the client probably means,
 * or undefined if none is similar. For example, `PATCH` on a list means `PATCH` on one resource of
 * the list.
 */
export function findSimilarOperation(
  method: string,
  path: string,
  known: readonly KnownPath[],
): string | undefined {
  const methodsOf = (each: string) => known.find(({ pattern }) => pattern.test(each))?.methods;
  const own = methodsOf(path);
  if (OF_RESOURCES.has(method)) {
    const wanted = method === "PUT" ? ["PUT", "PATCH"] : [method];
    const found = wanted.find((each) => methodsOfResource(path, known)?.has(each));
    if (found !== undefined) return `${found} ${path}/{id}`;
  }
  if (method === "GET" || method === "HEAD") {
    const parent = parentsOf(path).find((each) => methodsOf(each)?.has("GET"));
    if (parent !== undefined) return `GET ${parent}`;
  }
  const similar = SIMILAR[method]?.find((each) => own?.has(each));
  return similar === undefined ? undefined : `${similar} ${path}`;
}
