import type { ImageFit } from "./image-plan.ts";

/** Returns how images outside a platform's ratios are treated, from the unchecked settings of an account. */
export function readImageFit(settings: Readonly<Record<string, unknown>>): ImageFit {
  const { imageFit } = settings;
  return imageFit === "pad" || imageFit === "crop" ? imageFit : "refuse";
}
