import { MediaRejected } from "#src/domain/media-rejected.ts";
import type { Refusal } from "#src/domain/rendition-plan.ts";

export class RenderRefused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal, options?: ErrorOptions) {
    super(refusal, options);
    this.name = "RenderRefused";
    this.refusal = refusal;
  }
}

type Attempt<T> =
  | { readonly kind: "ok"; readonly value: T }
  | { readonly kind: "refused"; readonly refusal: Refusal };

export async function refusing<T>(work: () => Promise<T>): Promise<Attempt<T>> {
  try {
    return { kind: "ok", value: await work() };
  } catch (error) {
    if (error instanceof RenderRefused) return { kind: "refused", refusal: error.refusal };
    if (error instanceof MediaRejected) return { kind: "refused", refusal: "unreadable" };
    throw error;
  }
}
