import type { operations } from "../gen/openapi.ts";

type Id = keyof operations;
type Success = 200 | 201 | 202 | 204;

/** The argument of an operation that has no input: an empty object, or no argument. */
export type NoInput = Readonly<Record<string, never>>;

export type Query<I extends Id> = [NonNullable<operations[I]["parameters"]["query"]>] extends [
  never,
]
  ? NoInput
  : NonNullable<operations[I]["parameters"]["query"]>;

type RequestBody<I extends Id> = operations[I] extends { readonly requestBody?: infer B }
  ? NonNullable<B>
  : never;

export type Body<I extends Id> = [RequestBody<I>] extends [never]
  ? NoInput
  : RequestBody<I> extends { readonly content: { readonly "application/json": infer B } }
    ? B
    : NoInput;

type BodyOf<R> = R extends { readonly content: { readonly "application/json": infer B } }
  ? B
  : undefined;

/** Undefined for an answer without a body. */
export type Answer<I extends Id> = {
  [S in Success & keyof operations[I]["responses"]]: BodyOf<operations[I]["responses"][S]>;
}[Success & keyof operations[I]["responses"]];

export type Item<I extends Id, Field extends string> =
  Answer<I> extends Readonly<Record<Field, readonly (infer T)[]>> ? T : never;

export interface RequestOptions {
  /** Ends the request, and the wait before it is repeated. */
  readonly signal?: AbortSignal | undefined;
  /** Default: the client makes a key for each call that accepts one. */
  readonly idempotencyKey?: string | undefined;
  /** The `ETag` that the post must still have, for `updatePost`, `publishPost`, `deletePost`. */
  readonly ifMatch?: string | undefined;
  /** Needed if the API key belongs to several workspaces. */
  readonly workspaceId?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Maximum time until an answer; each repetition gets the same time. */
  readonly timeoutMs?: number | undefined;
  readonly maxRetries?: number | undefined;
  /** For example to read the `ETag`, because the result of the call has only the body. */
  readonly onResponse?: ((response: Response) => void) | undefined;
}
