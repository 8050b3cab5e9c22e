import { named } from "@postrider/rest/schemas";
import { type TProperties, type TSchema, Type } from "typebox";

export const optional = <T extends TSchema>(schema: T) => Type.Optional(schema);
export const count = (description?: string) =>
  Type.Integer(description === undefined ? {} : { description });
export const number = (description?: string) =>
  Type.Number(description === undefined ? {} : { description });
export const flag = (description?: string) =>
  Type.Boolean(description === undefined ? {} : { description });
export const text = (description?: string) =>
  Type.String(description === undefined ? {} : { description });
export const texts = (description?: string) =>
  Type.Array(Type.String(), description === undefined ? {} : { description });

/** Returns a schema with every property of T, so that a new rule does not compile until the API describes it. */
export function rules<T>(
  name: string,
  properties: Record<keyof Required<T>, TSchema> & TProperties,
  description: string,
) {
  return named(name, Type.Object(properties, { additionalProperties: true, description }));
}
