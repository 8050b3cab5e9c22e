import { expect, test } from "vitest";
import { nameSchemas } from "./named-schemas.ts";

const Color = { title: "Color", type: "string", enum: ["red", "blue"], description: "A color." };

test("nameSchemas lists a schema with a title under this title, and puts a reference in its place", () => {
  const schemas = {};
  const part = { properties: { a: Color, b: { ...Color, description: "Of the sky." } } };
  expect(nameSchemas(part, schemas)).toEqual({
    properties: {
      a: { $ref: "#/components/schemas/Color" },
      b: { $ref: "#/components/schemas/Color", description: "Of the sky." },
    },
  });
  const { title: _, ...schema } = Color;
  expect(schemas).toEqual({ Color: schema });
});

test("nameSchemas turns a named schema that also allows null into a choice between a reference to it and null", () => {
  const schemas = {};
  const nullable = { ...Color, type: ["string", "null"], enum: [...Color.enum, null] };
  expect(nameSchemas(nullable, schemas)).toEqual({
    anyOf: [{ $ref: "#/components/schemas/Color" }, { type: "null" }],
  });
  expect(schemas).toMatchObject({ Color: { type: "string", enum: ["red", "blue"] } });
});

test("a field that is an extension is marked, also if its schema has a name", () => {
  const mark = { "x-postrider-extension": true };
  const extension = { ...Color, ...mark, type: ["string", "null"], enum: [...Color.enum, null] };
  expect(nameSchemas(extension, {})).toEqual({
    anyOf: [{ $ref: "#/components/schemas/Color" }, { type: "null" }],
    ...mark,
  });
});

test("a field that is called title, and a title in an example, are not names of schemas", () => {
  const part = {
    properties: { title: { type: "string" } },
    examples: [{ title: "Color", type: "string" }],
  };
  const schemas = {};
  expect(nameSchemas(part, schemas)).toEqual(part);
  expect(schemas).toEqual({});
});

test("nameSchemas refuses two different schemas with the same name", () => {
  const schemas = {};
  nameSchemas(Color, schemas);
  expect(() => nameSchemas({ ...Color, enum: ["red"] }, schemas)).toThrow(
    "two schemas have the name Color",
  );
});
