import { imageFit } from "#src/settings/image-fit.ts";

export const SETTINGS = { imageFit };
