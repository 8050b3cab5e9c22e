import { jsonToLex, lexicons } from "@atproto/api";
import { isObject } from "@postrider/shared/is-object";
import { describeRequest, type RecordedRequest } from "./recorded-request.ts";

/**
 * One definition in a Bluesky lexicon (a schema of the API), with the properties that the check of
 * recorded requests reads.
 */
interface Definition {
  readonly type: string;
  readonly ref?: string;
  readonly refs?: readonly string[];
  readonly items?: Definition;
  readonly record?: Definition;
  readonly parameters?: Definition;
  readonly input?: { readonly schema?: Definition };
  readonly properties?: Readonly<Record<string, Definition>>;
}

const findDefinition = (name: string) => lexicons.getDef(name) as unknown as Definition | undefined;

/**
 * The definition in a Bluesky lexicon that a value must satisfy: references are followed, and the
 * value's `$type` selects one type of a union.
 */
function resolve(definition: Definition | undefined, value: unknown): Definition | undefined {
  switch (definition?.type ?? "") {
    case "ref":
      return resolve(findDefinition(definition?.ref ?? ""), value);
    case "union":
      return isObject(value) ? resolve(findDefinition(String(value["$type"])), value) : undefined;
    case "record":
      return definition?.record;
    default:
      return definition;
  }
}

/**
 * Lists the paths of properties, at any depth, that the lexicon does not have. Validation alone
 * accepts them, because lexicons are open: a misspelt property would silently have no effect.
 */
function listUnknown(given: Definition | undefined, value: unknown, path: string): string[] {
  const definition = resolve(given, value);
  if (Array.isArray(value))
    return value.flatMap((item, at) => listUnknown(definition?.items, item, `${path}[${at}]`));
  if (!isObject(value) || definition === undefined || definition.type === "blob") return [];
  return Object.entries(value).flatMap(([name, part]) => {
    if (name === "$type" || definition.type === "unknown") return [];
    const known = definition.properties?.[name];
    return known === undefined ? [`${path}.${name}`] : listUnknown(known, part, `${path}.${name}`);
  });
}

/** Reads the parameters of a query as the types of the lexicon; unknown names stay text. */
function readParameters(method: string, query: RecordedRequest["query"]): Record<string, unknown> {
  const properties = findDefinition(method)?.parameters?.properties ?? {};
  const read = (type: string | undefined, text: string) => {
    if (type === "integer") return Number(text);
    return type === "boolean" ? text === "true" : text;
  };
  const names = new Set(query.map(([name]) => name));
  const entries = [...names].map((name) => {
    const values = query.filter(([other]) => other === name).map(([, value]) => value);
    return properties[name]?.type === "array"
      ? [name, values]
      : [name, read(properties[name]?.type, values.at(-1) ?? "")];
  });
  return Object.fromEntries(entries) as Record<string, unknown>;
}

/** Runs a check of the client library and returns its message if it fails. */
function messageOf(check: () => unknown): string[] {
  try {
    check();
    return [];
  } catch (error) {
    return [String(error)];
  }
}

function judgeRecord(record: unknown): string[] {
  const type = isObject(record) ? String(record["$type"]) : "";
  return [
    ...messageOf(() => lexicons.assertValidRecord(type, jsonToLex(record))),
    ...listUnknown(findDefinition(type), record, type).map((path) => `unknown property ${path}`),
  ];
}

function judge(request: RecordedRequest): string[] {
  const method = request.path.split("/").at(-1) ?? "";
  const definition = findDefinition(method);
  if (definition === undefined) return [`${method} is not a method of a lexicon`];
  const parameters = readParameters(method, request.query);
  const { body } = request;
  const isJson = body !== undefined;
  return [
    ...messageOf(() => lexicons.assertValidXrpcParams(method, parameters)),
    ...listUnknown(definition.parameters, parameters, "query").map((path) => `unknown ${path}`),
    ...(isJson ? messageOf(() => lexicons.assertValidXrpcInput(method, jsonToLex(body))) : []),
    ...listUnknown(definition.input?.schema, body, "body").map((path) => `unknown ${path}`),
    ...(isObject(body) && "record" in body ? judgeRecord(body["record"]) : []),
  ];
}

/** Checks requests to Bluesky against the lexicons of Bluesky's own client library. */
export function judgeBluesky(requests: readonly RecordedRequest[]): string[] {
  const calls = requests.filter(({ path }) => path.includes("/xrpc/"));
  return calls.flatMap((request) =>
    judge(request).map((message) => `${describeRequest(request)}: ${message}`),
  );
}
