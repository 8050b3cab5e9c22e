/**
 * Conditions between the fields of a request that its handler checks, because a JSON Schema could not say in an error
 * which field is wrong. Generators of clients ignore them.
 */
const CONDITIONS: Readonly<Record<string, object>> = {
  CreatePost: {
    not: {
      properties: { queueSlot: { const: true } },
      required: ["queueSlot"],
      anyOf: [
        { properties: { scheduledAt: {} }, required: ["scheduledAt"] },
        { properties: { isDraft: { const: true } }, required: ["isDraft"] },
      ],
    },
  },
  RequestCommentAction: {
    not: {
      anyOf: [
        {
          properties: { type: { const: "reply" } },
          not: { properties: { text: {} }, required: ["text"] },
        },
        {
          properties: { type: { enum: ["hide", "unhide"] }, text: {} },
          required: ["text"],
        },
      ],
    },
  },
};

/** Adds to named schemas of requests the conditions between their fields. */
export function describeExclusiveFields(schemas: Record<string, object>): void {
  for (const [name, conditions] of Object.entries(CONDITIONS)) {
    const schema = schemas[name];
    if (schema !== undefined) schemas[name] = { ...schema, ...conditions };
  }
}
