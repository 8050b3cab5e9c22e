import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { toPageDocument } from "#src/routes/docs/document.ts";

interface Operation {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly example?: string;
  }[];
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly examples?: Readonly<Record<string, { readonly value: object }>> }>
    >;
  };
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}
interface Document {
  readonly info: { readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const description = JSON.parse(
  readFileSync(new URL("../openapi.json", import.meta.url), "utf8"),
) as object;
const documentAt = (now: string) => toPageDocument(description, new Date(now)) as Document;

test("the docs page has an example for each required parameter of the operations that need an API key", () => {
  const without = Object.entries(documentAt("2026-11-23T12:00:00Z").paths).flatMap(
    ([path, operations]) =>
      Object.values(operations).flatMap(({ parameters = [] }) =>
        parameters
          .filter(({ required, example }) => required === true && example === undefined)
          .map(({ name }) => `${path} ${name}`),
      ),
  );
  expect(without).toEqual(["/uploads/{uploadPath} uploadPath"]);
});

test.each([
  ["2026-11-20T12:00:00Z", "2026-11-24T18:00:00+09:00"],
  ["2026-11-23T23:59:59Z", "2026-11-24T18:00:00+09:00"],
  ["2027-02-28T00:00:00Z", "2027-03-01T18:00:00+09:00"],
  ["2027-02-28T23:59:59Z", "2027-03-01T18:00:00+09:00"],
])(
  "at the time %s, the example of a scheduled post on the docs page has the time %s, which is later",
  (now, scheduledAt) => {
    const create = documentAt(now).paths["/api/v1/posts"]?.["post"];
    const value = create?.requestBody?.content["application/json"]?.examples?.["schedule"]?.value;
    expect(value).toMatchObject({ scheduledAt });
  },
);

test("the error codes of each operation link to the list of errors on the docs page", () => {
  const { info, paths } = documentAt("2026-11-23T12:00:00Z");
  expect(info.description).toContain("\n## Codes of errors\n");
  expect(info.description).not.toContain("services/gateway");
  expect(paths["/api/v1/posts"]?.["post"]?.responses["415"]?.description).toBe(
    "Error code [`unsupported_media_type`](#description/codes-of-errors).",
  );
});

test("making the document of the docs page does not change the API description", () => {
  const before = structuredClone(description);
  documentAt("2027-02-28T00:00:00Z");
  expect(description).toEqual(before);
});
