import { keysEn } from "./words-en.ts";
import { keysKo } from "./words-ko.ts";

export const keysWords = { en: keysEn, ko: keysKo };
