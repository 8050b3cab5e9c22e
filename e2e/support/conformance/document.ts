/** A JSON Schema, with the keywords that the generator of conformance requests reads. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly minProperties?: number;
  readonly anyOf?: readonly Schema[];
}

/** A parameter of an API operation, as the API description describes it. */
export interface Parameter {
  readonly in: "path" | "query" | "header";
  readonly name: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

interface DescribedContent {
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<
    Record<string, { readonly $ref?: string; readonly value?: unknown }>
  >;
}
type Contents = Readonly<Record<string, DescribedContent>>;

interface DescribedHeader {
  readonly $ref?: string;
  readonly required?: boolean;
  readonly schema?: Schema;
}

export interface DescribedAnswer {
  readonly headers?: Readonly<Record<string, DescribedHeader>>;
  readonly content?: Contents;
}

interface DescribedOperation {
  readonly operationId: string;
  readonly "x-postrider-scope"?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Contents };
  readonly responses: Readonly<Record<string, DescribedAnswer>>;
}

/** The parts of the OpenAPI document that the conformance test uses to generate requests and to check answers. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly headers: Readonly<Record<string, DescribedHeader>>;
    readonly examples: Readonly<Record<string, { readonly value?: unknown }>>;
  };
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  /** The path from the root of the server, with its parameters in braces. */
  readonly path: string;
  /** The scope that the API key needs; absent for an operation without an API key. */
  readonly scope?: string;
  readonly parameters: readonly Parameter[];
  /** The schema of the JSON body; absent for an operation without a JSON body. */
  readonly body?: { readonly schema: Schema; readonly isRequired: boolean };
  readonly answers: Readonly<Record<string, DescribedAnswer>>;
}

export const JSON_TYPE = "application/json";

/** Lists the operations of the document. */
export function listOperations({ paths }: ApiDocument): readonly Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => {
      const { operationId: id, parameters = [], requestBody, responses } = described;
      const schema = requestBody?.content[JSON_TYPE]?.schema;
      const isRequired = requestBody?.required === true;
      const body = schema === undefined ? {} : { body: { schema, isRequired } };
      const scope = described["x-postrider-scope"];
      return {
        id,
        method: method.toUpperCase(),
        path,
        ...(scope === undefined ? {} : { scope }),
        parameters,
        ...body,
        answers: responses,
      };
    }),
  );
}

function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf("/") + 1);
}

/** Returns the schema that a `$ref` refers to, and the name of that schema. */
export function resolve(
  { components }: ApiDocument,
  schema: Schema,
): { readonly schema: Schema; readonly name?: string } {
  if (schema.$ref === undefined) return { schema };
  const name = nameOf(schema.$ref);
  const found = components.schemas[name];
  if (found === undefined) throw new Error(`${schema.$ref} is not described`);
  return { schema: found, name };
}

/** Returns the described headers of an answer by their names in lower case. */
export function headersOf(
  { components }: ApiDocument,
  { headers = {} }: DescribedAnswer,
): ReadonlyMap<string, DescribedHeader> {
  return new Map(
    Object.entries(headers).map(([name, header]) => {
      const found = header.$ref === undefined ? header : components.headers[nameOf(header.$ref)];
      if (found === undefined) throw new Error(`${header.$ref} is not described`);
      return [name.toLowerCase(), found];
    }),
  );
}

/** Returns the error codes in the examples of an answer. */
export function codesOf(
  { components }: ApiDocument,
  { content }: DescribedAnswer,
): ReadonlySet<string> {
  const examples = Object.values(content?.[JSON_TYPE]?.examples ?? {});
  const values = examples.map(
    ({ $ref, value }) => value ?? components.examples[nameOf($ref ?? "")]?.value,
  );
  const codes = values.map((value) => (value as { error?: { code?: string } }).error?.code);
  return new Set(codes.filter((code) => code !== undefined));
}
