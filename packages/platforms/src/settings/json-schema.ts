import type { ListField, SettingField, SettingFields } from "#src/settings/field.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Returns the JSON Schema of all settings of an account of a platform, as the REST API returns
 * them.
 */
export function settingsSchemaOf(fields: SettingFields): JsonSchema {
  return {
    type: "object",
    properties: mapFields(fields, (field) => ({ ...toSchema(field), default: field.default })),
    required: Object.keys(fields),
  };
}

/** It has the settings of all platforms, because the platform follows from the account. */
export function patchSchema(platforms: readonly SettingFields[]): JsonSchema {
  const all: SettingFields = Object.assign({}, ...platforms);
  return {
    type: "object",
    properties: mapFields(all, (field) => toNullable(toSchema(field))),
    additionalProperties: false,
    minProperties: 1,
  };
}

function mapFields(
  fields: SettingFields,
  toValue: (field: SettingField) => JsonSchema,
): JsonSchema {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, toValue(field)]));
}

function toSchema(field: SettingField): JsonSchema {
  const { description } = field;
  switch (field.kind) {
    case "choice":
      return { type: "string", enum: field.values, description };
    case "flag":
      return { type: "boolean", description };
    case "text": {
      const schema = { ...toTextSchema(field), description };
      return field.default === null ? toNullable(schema) : schema;
    }
    case "list": {
      const { item, maxItems } = field;
      const items = toTextSchema(item);
      return { type: "array", items, maxItems, uniqueItems: true, description };
    }
  }
}

function toTextSchema({ pattern, maxLength }: ListField["item"]): JsonSchema {
  return { type: "string", pattern, maxLength };
}

function toNullable(schema: JsonSchema): JsonSchema {
  if (Array.isArray(schema.type)) return schema;
  const values = Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {};
  return { ...schema, ...values, type: [schema.type, "null"] };
}
