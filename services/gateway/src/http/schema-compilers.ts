import AjvCompiler from "@fastify/ajv-compiler";
import SerializerSelector from "@fastify/fast-json-stringify-compiler";

type Schemas = Readonly<Record<string, object>>;
type Compile<R, F> = (route: R) => F;
interface RequestPart {
  readonly httpPart?: string;
  readonly schema?: unknown;
}
/** Checks a part of a request, or writes an answer. Fastify reads the errors of a check from it. */
type Compiled = ((data: unknown) => unknown) & { errors?: unknown };
type ValidatorBuild = (shared: Schemas, options: unknown) => Compile<RequestPart, Compiled>;

/** Most processes use few of the routes, and compiling all takes a fifth of the gateway's start. */
function compileAtFirstUse(compile: () => Compiled): Compiled {
  let compiled: Compiled | undefined;
  const use: Compiled = (data) => {
    compiled ??= compile();
    const result = compiled(data);
    use.errors = compiled.errors;
    return result;
  };
  return use;
}

/**
 * Lets a factory of compilers, which fastify's `schemaController` calls with the shared schemas of
 * a server, compile each schema once per process: many routes have equal schemas, and tests start
 * hundreds of servers with the same routes.
 */
function compileOnce<O, R extends { readonly schema?: unknown }, F extends Compiled>(
  build: (shared: Schemas, options: O) => Compile<R, F>,
): (shared: unknown, options: O) => Compile<R, F> {
  const compilers = new Map<string, Compile<R, F>>();
  const remember = (compile: Compile<R, F>): Compile<R, F> => {
    const compiled = new Map<string, F>();
    return (route) => {
      const text = JSON.stringify(route.schema);
      const known = compiled.get(text) ?? (compileAtFirstUse(() => compile(route)) as F);
      compiled.set(text, known);
      return known;
    };
  };
  return (shared, options) => {
    const schemas = (shared ?? {}) as Schemas;
    const key = JSON.stringify([schemas, options]);
    const known = compilers.get(key) ?? remember(build(schemas, options));
    compilers.set(key, known);
    return known;
  };
}

const buildOnce = compileOnce(AjvCompiler() as ValidatorBuild);

/** Builds the functions that check requests. */
export const buildValidators = ((shared: unknown, options: unknown) => {
  const compile = buildOnce(shared, options);
  return (part: RequestPart) => compile(part.httpPart === "headers" ? inLowerCase(part) : part);
}) as AjvCompiler.ValidatorFactory;

/** Node passes on the names of headers in lower case. */
function inLowerCase({ schema, ...part }: RequestPart): RequestPart {
  const { properties, ...rest } = schema as { readonly properties: object };
  const lower = Object.entries(properties).map(([name, each]) => [name.toLowerCase(), each]);
  return { ...part, schema: { ...rest, properties: Object.fromEntries(lower) } };
}

/**
 * Builds the functions that write answers as JSON. Fastify's own factory checks all shared schemas
 * again for each status code of each route, which took half of the gateway's start. This factory
 * gives each function only the shared schemas to which its schema refers.
 */
export const buildSerializers: SerializerSelector.SerializerFactory = compileOnce(
  (shared, options: SerializerSelector.Options | undefined) => {
    const build = SerializerSelector();
    return (route: SerializerSelector.RouteDefinition) =>
      build(referredSchemas(JSON.stringify(route.schema), shared), options)(route);
  },
);

const REFERENCE = /"\$ref":"([^"#]+)#?[^"]*"/g;

function referredSchemas(text: string, shared: Schemas): Schemas {
  const needed: Record<string, object> = {};
  const open = [text];
  for (let next = open.pop(); next !== undefined; next = open.pop())
    for (const [, id = ""] of next.matchAll(REFERENCE)) {
      const schema = shared[id];
      if (id in needed || schema === undefined) continue;
      needed[id] = schema;
      open.push(JSON.stringify(schema));
    }

  return needed;
}
