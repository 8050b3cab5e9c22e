import type { Refusal } from "#src/domain/rendition-plan.ts";

/** Thrown when a rendition cannot be made from an image. */
export class RenderRefused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal, options?: ErrorOptions) {
    super(refusal, options);
    this.name = "RenderRefused";
    this.refusal = refusal;
  }
}
