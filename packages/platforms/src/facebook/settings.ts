import { imageFit } from "#src/settings/image-fit.ts";

/** The settings of a Facebook Page. */
export const SETTINGS = { imageFit };
