/** The parts of the OpenAPI document that say where requests take ids. */
export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface DescribedOperation {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly in: string;
    readonly name: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
}

interface Schema {
  readonly $ref?: string;
  readonly format?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

export interface Operation {
  readonly operationId: string;
  readonly method: string;
  /** The path of the API operation below its prefix, with its parameters in braces. */
  readonly path: string;
  /**
   * The places of a request that take an id, or another value that belongs to a workspace: for
   * example `path:id`, `query:cursor`, `header:X-Workspace-Id`, `body:/accountIds`, and
   * `body:/options/*` for the keys of a JSON object.
   */
  readonly places: readonly string[];
}

const API_PREFIX = "/api/v1";

/**
 * Names of request fields that take a value of a workspace and are not described as UUIDs: list
 * cursors and ids from platforms.
 */
const NAMED_LIKE_AN_ID = /(^|[a-z-])(Id|Ids|id|ids|cursor)$/;

/**
 * Lists every operation of the OpenAPI document below a prefix with every place where its requests
 * take ids.
 */
export function listOperations(
  description: Description,
  prefix = API_PREFIX,
): readonly Operation[] {
  // Upload paths lie outside of the prefix, because they take the token of one upload instead of an
  // API key.
  const paths = Object.entries(description.paths).filter(([path]) => path.startsWith(prefix));
  return paths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      operationId: operation.operationId,
      method: method.toUpperCase(),
      path: path.slice(prefix.length),
      places: placesOf(description, operation),
    })),
  );
}

function placesOf(description: Description, operation: DescribedOperation): readonly string[] {
  const parameters = (operation.parameters ?? [])
    .filter(({ in: where, name, schema }) => where === "path" || isId(name, schema))
    .map(({ in: where, name }) => `${where}:${name}`);
  const bodies = Object.values(operation.requestBody?.content ?? {});
  const inBody = bodies.flatMap(({ schema }) => placesIn(description, schema, "", ""));
  return [...new Set([...parameters, ...inBody.map((pointer) => `body:${pointer}`)])];
}

function isId(name: string, { format }: Schema): boolean {
  return format === "uuid" || NAMED_LIKE_AN_ID.test(name);
}

function placesIn(
  description: Description,
  schema: Schema,
  name: string,
  pointer: string,
): readonly string[] {
  const resolved = resolve(description, schema);
  if (resolved.items !== undefined) return placesIn(description, resolved.items, name, pointer);
  const choices = [resolved.anyOf, resolved.oneOf, resolved.allOf].flatMap((some) => some ?? []);
  const members = Object.entries(resolved.properties ?? {}).flatMap(([key, member]) =>
    placesIn(description, member, key, `${pointer}/${key}`),
  );
  // A schema with `additionalProperties` describes an object whose keys the client chooses; the
  // keys may be ids.
  const keys = typeof resolved.additionalProperties === "object" ? [`${pointer}/*`] : [];
  const own = isId(name, resolved) ? [pointer] : [];
  return [
    ...own,
    ...members,
    ...keys,
    ...choices.flatMap((choice) => placesIn(description, choice, name, pointer)),
  ];
}

function resolve({ components }: Description, schema: Schema): Schema {
  const name = schema.$ref?.split("/").at(-1);
  return name === undefined ? schema : (components.schemas[name] ?? {});
}
