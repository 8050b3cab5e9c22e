import SerializerSelector from "@fastify/fast-json-stringify-compiler";

type Schemas = Readonly<Record<string, unknown>>;

const REFERENCE = /"\$ref":"([^"#]+)#?[^"]*"/g;

/**
 * Builds the functions that write answers as JSON, for the `schemaController` of fastify. Fastify's
 * own factory checks all shared schemas again for each status code of each route, which took half
 * of the gateway's start. This factory gives each function only the shared schemas to which its
 * schema refers. It builds one function per schema, because most status codes of errors share a
 * schema.
 */
export function buildSerializers(
  shared: unknown,
  options: Parameters<SerializerSelector.SerializerFactory>[1],
): SerializerSelector.SerializerCompiler {
  const build = SerializerSelector();
  const built = new Map<string, SerializerSelector.Serializer>();
  return (route) => {
    const text = JSON.stringify(route.schema);
    const known = built.get(text);
    if (known !== undefined) return known;
    const serializer = build(referredSchemas(text, (shared ?? {}) as Schemas), options)(route);
    built.set(text, serializer);
    return serializer;
  };
}

function referredSchemas(text: string, shared: Schemas): Schemas {
  const needed: Record<string, unknown> = {};
  const open = [text];
  for (let next = open.pop(); next !== undefined; next = open.pop())
    for (const [, id = ""] of next.matchAll(REFERENCE)) {
      if (id in needed || shared[id] === undefined) continue;
      needed[id] = shared[id];
      open.push(JSON.stringify(shared[id]));
    }

  return needed;
}
