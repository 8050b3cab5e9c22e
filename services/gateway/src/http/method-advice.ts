/** A path of the API with the methods that it supports. */
export interface KnownPath {
  /** The path as routes write it, with `:id` for an id. */
  readonly url: string;
  readonly pattern: RegExp;
  readonly methods: ReadonlySet<string>;
}

/**
 * For a method that the path does not support: the methods to propose instead, the most similar first. DELETE is never
 * proposed for another method.
 */
const SIMILAR: Readonly<Partial<Record<string, readonly string[]>>> = {
  GET: ["POST"],
  HEAD: ["GET"],
  PUT: ["PATCH", "POST", "GET"],
  PATCH: ["PUT", "POST", "GET"],
  POST: ["PATCH", "PUT", "GET"],
  DELETE: ["GET"],
};
/** Methods that a client sends to the path of a list although it probably means one resource of the list. */
const OF_RESOURCES: ReadonlySet<string> = new Set(["PUT", "PATCH", "DELETE"]);

/** Returns the parent paths of a path, the nearest first. */
function parentsOf(path: string): string[] {
  const parts = path.split("/");
  return parts.map((_, index) => parts.slice(0, -index).join("/")).slice(1, -1);
}

/**
 * Returns the methods of the resources of a list, from the path of the list; undefined if the path is not that of a
 * list.
 */
function methodsOfResource(
  path: string,
  known: readonly KnownPath[],
): ReadonlySet<string> | undefined {
  return known.find(({ url, pattern }) => /\/:\w+$/.test(url) && pattern.test(`${path}/id`))
    ?.methods;
}

/**
 * For a method that a path does not support: returns the operation that the client probably means, or undefined if none
 * is similar. For example, `PATCH` on a list means `PATCH` on one resource of the list.
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
