import type { Description, DescribedOperation, Schema } from "./description.ts";

const API_PATH = "/api/v1";
const METHODS = new Set(["get", "post", "patch", "delete"]);

interface ClientOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly comment: string;
  readonly pathParameters: readonly string[];
  readonly inputIsRequired: boolean;
  readonly takesKey: boolean;
  readonly queryIsRequired: boolean;
  readonly queryNames: ReadonlySet<string>;
  /** With the items of a page; undefined for an operation without a cursor. */
  readonly itemsField: string | undefined;
}

function namesIn(operation: DescribedOperation, place: string): readonly string[] {
  return (operation.parameters ?? []).filter((each) => each.in === place).map(({ name }) => name);
}

function answerSchema(
  operation: DescribedOperation,
  schemas: Description["components"]["schemas"],
) {
  const answer = Object.entries(operation.responses).find(([status]) =>
    status.startsWith("2"),
  )?.[1];
  const schema = answer?.content?.["application/json"]?.schema;
  return schema?.$ref === undefined ? schema : schemas[schema.$ref.split("/").at(-1) ?? ""];
}

function findItemsField(id: string, schema: Schema | undefined): string | undefined {
  const fields = schema?.properties ?? {};
  const lists = Object.keys(fields).filter((name) => fields[name]?.type === "array");
  if (lists.length === 1) return lists[0];
  throw new Error(`${id} takes a cursor and answers with ${lists.length} lists instead of one`);
}

function toClientOperation(
  path: string,
  method: string,
  operation: DescribedOperation,
  { schemas }: Description["components"],
): ClientOperation {
  const { operationId: id, requestBody, summary = "", description = "" } = operation;
  if (!METHODS.has(method)) throw new Error(`the client has no ${method.toUpperCase()}: ${id}`);
  const query = (operation.parameters ?? []).filter((each) => each.in === "query");
  if (requestBody !== undefined && query.length > 0)
    throw new Error(`${id} takes a body and a query: the client offers one input only`);
  const queryIsRequired = query.some(({ required }) => required === true);
  return {
    id,
    method: method.toUpperCase(),
    path: path.replace(API_PATH, ""),
    comment: `${summary}. ${description}`.replaceAll("*/", "*\\/"),
    pathParameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name),
    inputIsRequired: requestBody?.required === true || queryIsRequired,
    takesKey: namesIn(operation, "header").includes("Idempotency-Key"),
    queryIsRequired,
    queryNames: new Set(query.map(({ name }) => name)),
    itemsField: query.some(({ name }) => name === "cursor")
      ? findItemsField(id, answerSchema(operation, schemas))
      : undefined,
  };
}

function toParameters({ id, method, pathParameters, inputIsRequired }: ClientOperation): string {
  const input = method === "GET" || method === "DELETE" ? "query" : "body";
  const type = input === "query" ? "Query" : "Body";
  return [
    ...pathParameters.map((name) => `${name}: string`),
    `${input}${inputIsRequired ? "" : "?"}: ${type}<"${id}">`,
    "options?: RequestOptions",
  ].join(", ");
}

function toMethod(operation: ClientOperation): string {
  const { id, comment } = operation;
  return `  /** ${comment} */\n  readonly ${id}: (${toParameters(operation)}) => Promise<Answer<"${id}">>;`;
}

/** `listPosts` becomes `iteratePosts`, `getBackfill` `iterateBackfillResults`. */
function iteratorName(id: string, itemsField: string): string {
  const noun = id.replace(/^[a-z]+/, "");
  const items = itemsField.slice(0, 1).toUpperCase() + itemsField.slice(1);
  return id.startsWith("list") ? `iterate${noun}` : `iterate${noun}${items}`;
}

function toIterator(operation: ClientOperation, itemsField: string): string {
  const { id, pathParameters, queryIsRequired } = operation;
  const parameters = [
    ...pathParameters.map((name) => `${name}: string`),
    `query${queryIsRequired ? "" : "?"}: Omit<Query<"${id}">, "cursor">`,
    "options?: RequestOptions",
  ].join(", ");
  const name = iteratorName(id, itemsField);
  return `  /** Yields each item of \`${id}\`, page after page. */\n  readonly ${name}: (${parameters}) => AsyncGenerator<Item<"${id}", "${itemsField}">, void>;`;
}

function toIteratorEntry({ id, itemsField = "" }: ClientOperation): string {
  return `  ${iteratorName(id, itemsField)}: ["${id}", "${itemsField}"],`;
}

/** Types, and the table from which the client's methods are created at run time. */
export function toOperationsFile({ paths, components }: Description): string {
  const operations = Object.entries(paths)
    .filter(([path]) => path.startsWith(`${API_PATH}/`))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, each]) =>
        toClientOperation(path, method, each, components),
      ),
    );
  const paged = operations.filter(({ itemsField }) => itemsField !== undefined);
  const waits = operations.some(
    ({ id, queryNames }) => id === "getPost" && queryNames.has("waitFor"),
  );
  return `import type { Answer, Body, Item, Query, RequestOptions } from "../src/operation-types.ts";

/** The operations of the API. The arguments are the ids of the path, the query or body, and options. */
export interface Operations {
${operations.map(toMethod).join("\n")}
}

/** Iterators over the lists of the API. */
export interface Iterators {
${paged.map((operation) => toIterator(operation, operation.itemsField ?? "")).join("\n")}
}

/** Method and path of each operation. */
export const OPERATIONS: Readonly<Record<keyof Operations, string>> = {
${operations.map(({ id, method, path }) => `  ${id}: "${method} ${path}",`).join("\n")}
};

/** The operations that accept the header \`Idempotency-Key\`. */
export const KEYED: readonly (keyof Operations)[] = [
${operations.flatMap(({ id, takesKey }) => (takesKey ? [`  "${id}",`] : [])).join("\n")}
];

/** For each iterator, its operation and the field of the answer with the items. */
export const ITERATORS: Readonly<Record<keyof Iterators, readonly [keyof Operations, string]>> = {
${paged.map(toIteratorEntry).join("\n")}
};

/** Whether \`getPost\` can wait on the server until publishing has ended. */
export const GET_POST_WAITS: boolean = ${waits};
`;
}
