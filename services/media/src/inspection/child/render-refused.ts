import type { Refusal } from "#src/domain/rendition-plan.ts";

export class RenderRefused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal, options?: ErrorOptions) {
    super(refusal, options);
    this.name = "RenderRefused";
    this.refusal = refusal;
  }
}
