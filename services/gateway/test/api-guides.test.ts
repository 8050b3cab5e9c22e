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

/**
 * Returns the path in the API description that belongs to a path in a guide. A shell variable in
 * the guide's path stands for a parameter.
 */
function templateOf(path: string): string | undefined {
  const parts = path.split("/");
  const fits = (expected: string, part = "") =>
    part.startsWith("$") ? expected.startsWith("{") : part === expected;
  return Object.keys(document.paths).find((template) => {
    const expected = template.split("/");
    return (
      expected.length === parts.length && expected.every((each, index) => fits(each, parts[index]))
    );
  });
}

/**
 * Returns the requests that a guide sends to the API with curl. If the shell computes a number in a
 * request, it is replaced by 1.
 */
function requestsIn(text: string) {
  const commands = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = ""]) =>
    block.replaceAll("\\\n", " ").split("\n"),
  );
  return commands.flatMap((command) => {
    const [, path] = /curl .*?\$URL(\/api\/v1[^\s"?]*)/.exec(command) ?? [];
    if (path === undefined) return [];
    const [, json] = /-d '(\{.*\})'/.exec(command) ?? [];
    const [, method = "GET"] = /curl -X (\w+)/.exec(command) ?? [];
    return [{ method, path, json: json?.replaceAll(/'"[^']*"'/g, "1") }];
  });
}

test.each(names)("every JSON example of docs/api/%s fits its schema", (name) => {
  for (const { name: schema, json } of examplesIn(read(name)))
    expect(faultsOf({ $ref: `#/components/schemas/${schema}` }, JSON.parse(json)), json).toEqual(
      [],
    );
});

test.each(names)("the API accepts every request in docs/api/%s", (name) => {
  for (const { method, path, json } of requestsIn(read(name))) {
    const operation = document.paths[templateOf(path) ?? ""]?.[method.toLowerCase()];
    expect(operation, `${method} ${path}`).toBeDefined();
    const schema = operation?.requestBody?.content["application/json"]?.schema;
    if (json === undefined) continue;
    expect(schema, path).toBeDefined();
    expect(faultsOf(schema ?? {}, JSON.parse(json)), path).toEqual([]);
  }
});

test.each(names)("every path, scope and error code that docs/api/%s names exists", (name) => {
  const text = read(name);
  for (const [, method = "", path = ""] of text.matchAll(
    /`(GET|POST|PATCH|DELETE) (\/api\/[^`?]+)/g,
  ))
    expect(document.paths[path]?.[method.toLowerCase()], `${method} ${path}`).toBeDefined();
  const codes = new Set(components.schemas["DetailCode"]?.enum);
  for (const [, scope = ""] of text.matchAll(/`([a-z]+:(?:read|write))`/g))
    expect(codes).toContain(scope);
  for (const [, code = ""] of text.matchAll(/\| \d{3} \| `(\w+)`/g)) expect(codes).toContain(code);
});

test("the overview of docs/api links every guide, and each guide is shorter than 120 lines", () => {
  const guides = names.filter((name) => name !== "README.md");
  for (const name of guides) expect(read("README.md")).toContain(`(${name})`);
  // These two pages may be longer: the list of errors is generated from the error catalogue, and
  // the page about generated clients contains three whole programs.
  const longer = ["errors.md", "generated-clients.md"];
  for (const name of names.filter((each) => !longer.includes(each)))
    expect(read(name).split("\n").length, name).toBeLessThan(120);
});
