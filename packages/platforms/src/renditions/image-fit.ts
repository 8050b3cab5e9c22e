import type { ImageFit } from "./image-plan.ts";

/**
 * Returns what is done with images whose aspect ratio a platform does not take, from the stored settings of an account.
 */
export function readImageFit(settings: Readonly<Record<string, unknown>>): ImageFit {
  const { imageFit } = settings;
  return imageFit === "pad" || imageFit === "crop" ? imageFit : "refuse";
}
