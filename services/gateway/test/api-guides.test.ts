import { readFileSync, readdirSync } from "node:fs";
import * as Schema from "typebox/schema";
import { expect, test } from "vitest";

interface Document {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly requestBody?: {
              readonly content: Readonly<Record<string, { readonly schema: object }>>;
            };
          }
        >
      >
    >
  >;
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly enum?: readonly string[] }>>;
  };
}

const GUIDES = new URL("../../../docs/api/", import.meta.url);
const document = JSON.parse(
  readFileSync(new URL("../openapi.json", import.meta.url), "utf8"),
) as Document;
const { components } = document;
const names = readdirSync(GUIDES).filter((name) => name.endsWith(".md"));
const read = (name: string) => readFileSync(new URL(name, GUIDES), "utf8");

function faultsOf(schema: object, value: unknown): unknown {
  const [isValid, faults] = Schema.Compile({ ...schema, components }).Errors(value);
  return isValid ? [] : faults;
}

/** The JSON examples of a guide, with the name of the schema that stands before each of them. */
function examplesIn(text: string) {
  const blocks = text.matchAll(/(?:<!-- schema: (\w+) -->\n)?```json\n([\s\S]*?)```/g);
  return [...blocks].map(([, name = "ApiError", json = ""]) => ({ name, json }));
}

/** The requests with a JSON body that a guide sends with curl. */
function requestsIn(text: string) {
  const commands = text.matchAll(/curl -X (\w+) \$URL(\S+)[\s\S]*?-d '([^']+)'/g);
  return [...commands].map(([, method = "", path = "", json = ""]) => ({ method, path, json }));
}

test.each(names)("every JSON example of docs/api/%s fits its schema", (name) => {
  for (const { name: schema, json } of examplesIn(read(name)))
    expect(faultsOf({ $ref: `#/components/schemas/${schema}` }, JSON.parse(json)), json).toEqual(
      [],
    );
});

test("every request of the quick start is one that the API accepts", () => {
  const requests = requestsIn(read("quick-start.md"));
  expect(requests.map(({ path }) => path)).toEqual([
    "/api/v1/posts/validate",
    "/api/v1/posts",
    "/api/v1/media/from-url",
  ]);
  for (const { method, path, json } of requests) {
    const { requestBody } = document.paths[path]?.[method.toLowerCase()] ?? {};
    const schema = requestBody?.content["application/json"]?.schema;
    expect(schema, path).toBeDefined();
    expect(faultsOf(schema ?? {}, JSON.parse(json)), path).toEqual([]);
  }
});

test.each(names)("every path, scope and error code that docs/api/%s names exists", (name) => {
  const text = read(name);
  const paths = new Set(Object.keys(document.paths));
  for (const [, method = "", path = ""] of text.matchAll(
    /`(GET|POST|PATCH|DELETE) (\/api\/[^`?]+)/g,
  ))
    expect(document.paths[path]?.[method.toLowerCase()], `${method} ${path}`).toBeDefined();
  for (const [, path = ""] of text.matchAll(/\$URL(\/api\/v1\/[a-z/-]+)(?=[ "])/g))
    expect(paths).toContain(path);
  const codes = new Set(components.schemas["DetailCode"]?.enum);
  for (const [, scope = ""] of text.matchAll(/`([a-z]+:(?:read|write))`/g))
    expect(codes).toContain(scope);
  for (const [, code = ""] of text.matchAll(/\| \d{3} \| `(\w+)`/g)) expect(codes).toContain(code);
});

test("the overview of docs/api links every guide, and each guide is under two pages", () => {
  const guides = names.filter((name) => name !== "README.md");
  for (const name of guides) expect(read("README.md")).toContain(`(${name})`);
  // The list of errors is made from the catalogue and as long as that.
  for (const name of names.filter((each) => each !== "errors.md"))
    expect(read(name).split("\n").length, name).toBeLessThan(120);
});
