/**
 * Conditions between several fields of a request. The handler checks them, because a JSON Schema that refuses a request
 * could not say which field is wrong. Programs that generate clients ignore these conditions.
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
