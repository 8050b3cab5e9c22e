import { mediaEn } from "./words-en.ts";
import { mediaKo } from "./words-ko.ts";

export const mediaWords = { en: mediaEn, ko: mediaKo };
